"""The papers of one run: what came before it, its locked predictions, its draft and its lock on disk.

A lock file holds the draft until the ledger has the record. Which step the run is at is `steps`' business.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from msgspec.structs import replace

from workbench.checkpoint.checkpoint import Checkpoint
from workbench.errors import LedgerError, PredictionMissingError, UsageError
from workbench.ledger import store
from workbench.ledger.parts import LockedPrediction, NamedPrediction
from workbench.ledger.record import Record
from workbench.ledger.store import UnwrittenRecordError
from workbench.ledger.table import load
from workbench.machine.stamp import Facts, MachineStamp, compose
from workbench.protocol.drafting import Locked, draft
from workbench.protocol.lock import PredictionLock
from workbench.protocol.past import Past, past_of
from workbench.protocol.recording import loaded_at
from workbench.protocol.run import Run


class Dossier:
    """One run's papers: `learn` what is known, `predict`, `write` the draft anew, `append` the record."""

    def __init__(self, ledger: Path, locks_dir: Path) -> None:
        self._ledger = ledger
        self._locks_dir = locks_dir
        self._facts = Facts()
        self._learned_for: tuple[Checkpoint, int] | None = None
        self._lock: PredictionLock | None = None
        self.past = Past()
        self.locked: Locked | None = None
        self.drafted: Record | None = None

    def learn(self, facts: Facts, run: Run) -> None:
        """Take in the machine's facts, and from the ledger what came before. Raises LedgerError.

        It may run in a thread: reading a long ledger takes seconds.
        """
        self._facts = facts
        records = store.records(self._ledger, token_times=False)
        self.past = past_of(records, run.plan, self._stamp(run), load(self._ledger).discarded)
        self._learned_for = _subject(run)

    def predict(
        self, predictions: Sequence[tuple[str, float]], by: str | None, run: Run, conditions: dict[str, Any]
    ) -> Locked:
        """Lock predictions, or correct them: on disk when this returns; errors as for `Measurement.lock`."""
        require_predictions(predictions)
        if self._learned_for not in (None, _subject(run)):  # replanned since: another one's past
            self.past = Past()
            with suppress(LedgerError):  # `look` has said that it cannot be read
                self.learn(self._facts, run)
        named = tuple(NamedPrediction(name or by or "you", tps) for name, tps in predictions)
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        before = self.locked
        self.locked = Locked(
            lock_id=before.lock_id if before else str(uuid4()),
            locks=(*(before.locks if before else ()), LockedPrediction(at, named[0].tps)),
            predictions=named,
            by=by or named[0].name,
        )
        try:
            self.write(run, conditions)
        except LedgerError:
            self.locked = before
            raise
        return self.locked

    def write(self, run: Run, conditions: dict[str, Any]) -> None:
        """Bring the draft on disk up to date with the run: its stamp, its conditions, when it loaded."""
        assert self.locked is not None
        drafted = draft(run.plan, self._stamp(run), conditions, self.past, self.locked)
        if self.drafted is not None:  # the same run: its identity and its date stay
            drafted = replace(drafted, record_id=self.drafted.record_id, date=self.drafted.date)
        drafted = replace(drafted, loaded_at=loaded_at(run))
        if self._lock is None:
            self._lock = PredictionLock.create(self._locks_dir, drafted)
        else:
            self._lock.write(drafted)
        self.drafted = drafted

    def append(self, record: Record) -> Record:
        """Append the run's record to the ledger and end the lock; the lock file is the safer copy until then.

        Raises LedgerError when the ledger does not take it; it is then in the file that the error names, or
        still in the lock file, from where the next start appends it.
        """
        assert self._lock is not None
        with suppress(LedgerError):
            self._lock.write(record)
        try:
            written = store.append(self._ledger, record)
        except UnwrittenRecordError as error:
            if error.rescued_to is None:
                self._lock.abandon()
            else:
                self._lock.release()
            raise
        self._lock.release()
        return written

    def _stamp(self, run: Run) -> MachineStamp:
        return compose(self._facts, run.stamp, alias=run.plan.alias, command=run.plan.command)


def _subject(run: Run) -> tuple[Checkpoint, int]:
    """What the past is about: a checkpoint, and the bytes of it that a token reads."""
    return run.plan.checkpoint, run.plan.weight_bytes


def require_predictions(predictions: Sequence[tuple[str, float]]) -> None:
    """Raise PredictionMissingError without any, UsageError for a number that predicts nothing."""
    if not predictions:
        raise PredictionMissingError(
            "Nobody has predicted this run: it is not measured.", "Say a number, for example --predict 143."
        )
    for name, tps in predictions:
        if not math.isfinite(tps) or tps <= 0:
            whose = f" of {name}" if name else ""
            raise UsageError(
                f"The prediction{whose} is {tps:g} tok/s, which predicts nothing.", "Say a number above 0."
            )
