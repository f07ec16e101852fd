"""Take a record back: nothing is changed, a later record discards it by id and says why."""

from datetime import datetime
from pathlib import Path
from uuid import uuid4

from workbench.errors import LedgerError, UsageError
from workbench.escape import visible
from workbench.ledger.corrections import find
from workbench.ledger.moments import utc_text
from workbench.ledger.record import Record
from workbench.ledger.store import append
from workbench.ledger.table import load


def discard(path: Path, wanted: str, reason: str, now: datetime | None = None) -> Record:
    """Append the record that discards the one whose id begins with `wanted`, and return it.

    Raises `UsageError` without a reason, `LedgerError` when the record is not there or already discarded.
    """
    reason = " ".join(reason.split())
    if not reason:
        raise UsageError("A record is discarded with a reason.", 'Add --reason "every byte was counted".')
    table = load(path)
    target = find(table.rows, wanted)
    if target.record_id in table.discarded:
        raise LedgerError(
            f"That record is discarded already: {visible(table.discarded[target.record_id])}",
            "Nothing was changed.",
            code="already_discarded",
        )
    return append(
        path,
        Record(
            record_id=str(uuid4()),
            run_group_id=target.run_group_id or target.record_id,
            experiment=target.experiment,
            status="discarding",
            discards=target.record_id,
            reason=reason,
            alias=target.alias,
            device=target.device,
            model=target.model,
            date=utc_text(now),
        ),
    )
