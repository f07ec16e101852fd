"""What the last start left open: a lock without its process becomes an `interrupted` record, once.

The lock file holds the whole drafted record, so nothing is worked out here.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from workbench.errors import LedgerError
from workbench.ledger import store
from workbench.ledger.lines import Line
from workbench.ledger.moments import utc_text
from workbench.ledger.record import Record
from workbench.ledger.store import UnwrittenRecordError
from workbench.ledger.table import load
from workbench.locations import ledger_path, locks_dir, shown
from workbench.protocol.lock import claim

_DAMAGED = ".damaged"


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was done: `records` were appended now, `problems` are sentences for the user."""

    records: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()


def recover(ledger: Path | None = None, folder: Path | None = None) -> Recovery:
    """Append the record of every lock whose process is gone, and remove its file.

    A lock that a living process holds is left alone, so any number of workbenches may start at once. A file
    that holds no record is set aside beside the others and reported. A ledger that cannot be written leaves
    the lock where it is, for the next start. Raises nothing.
    """
    ledger, folder = ledger or ledger_path(), folder or locks_dir()
    records, problems = [], []
    for path, descriptor in _orphans(folder):
        try:
            recovered = _close(path, ledger)
            if recovered is not None:
                records.append(recovered)
        except LedgerError as error:
            problems.append(error.message)
        except OSError as error:
            problems.append(f"The lock {shown(path)} could not be closed: {error.strerror or error}.")
        finally:
            os.close(descriptor)
    return Recovery(tuple(records), tuple(problems))


def _orphans(folder: Path) -> Iterator[tuple[Path, int]]:
    for path in sorted(folder.glob("*.json")):
        descriptor = claim(path)
        if descriptor is not None:
            yield path, descriptor


def _close(path: Path, ledger: Path) -> Record | None:
    """Append the lock's record unless the ledger has it already, then remove the lock."""
    try:
        drafted = store.decode(Line(0, 0, path.read_bytes(), True))
    except LedgerError as error:
        aside = path.with_name(path.name + _DAMAGED)
        path.rename(aside)
        raise LedgerError(
            f"A lock file held no record ({error.message}); it was set aside as {shown(aside)}.",
            code="damaged_lock",
        ) from error
    recovered = None
    # The run may have died between its append and the removal of its lock.
    if all(row.record_id != drafted.record_id for row in load(ledger).rows):
        recovered = _append(ledger, _dated(drafted))
    path.unlink()
    return recovered


def _append(ledger: Path, record: Record) -> Record:
    try:
        return store.append(ledger, record)
    except UnwrittenRecordError as error:
        if error.rescued_to is not None:  # the lock file stays and is the safer copy
            with suppress(OSError):
                error.rescued_to.unlink()
        raise LedgerError(
            f"{error.message.split(' The record is kept')[0]} An interrupted run is still to be recorded; "
            "the next start will try again."
        ) from error


def _dated(record: Record) -> Record:
    if record.status != "interrupted":  # the run had ended and only its append was missing
        return record
    return replace(record, reason=f"{record.reason} Found at {utc_text()}.")
