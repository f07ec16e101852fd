"""Check a ledger: every line's form, its seal, the prediction before the load, ids and corrections.

Nothing is repaired; each problem names its line.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbench.ledger.lines import Line
from workbench.ledger.moments import moment_of
from workbench.ledger.record import SCHEMA_VERSION, Record, digest_of_fields
from workbench.ledger.status import STATUSES
from workbench.ledger.store import each

EXPERIMENTS = frozenset({"single", "ladder", "energy", "bandwidth", "demo", "external"})
PREDICTED_EXPERIMENTS = EXPERIMENTS - {"bandwidth", "external"}
"""Runs that a person's number must precede."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: its line (from 1), the record's id if any, a stable code, a sentence."""

    line: int
    record_id: str | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result: how many records are in the file, and everything that is wrong."""

    records: int
    problems: tuple[Problem, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(path: Path) -> Verification:
    """Read a whole ledger and list its problems in file order. Raises `LedgerError` if it cannot be read."""
    problems: list[Problem] = []
    first_line: dict[str, int] = {}
    count = 0
    for line, record in each(path):
        if isinstance(record, str):
            problems.append(Problem(line.number, None, "damaged", record))
            continue
        count += 1
        found = [*_form(record), *_seal(line, record), *_order(record), *_correction(record, first_line)]
        if record.record_id in first_line:
            found.append(("duplicate", f"the id stands already in line {first_line[record.record_id]}"))
        first_line.setdefault(record.record_id, line.number)
        problems += [Problem(line.number, record.record_id, code, message) for code, message in found]
    return Verification(count, tuple(problems))


def _form(record: Record) -> list[tuple[str, str]]:
    found = []
    if record.schema_version > SCHEMA_VERSION:
        found.append(
            (
                "newer_schema",
                f"schema {record.schema_version} is newer than {SCHEMA_VERSION}: update this program",
            )
        )
    if record.status not in STATUSES:
        found.append(("status", f"there is no status {record.status[:40]!r}"))
    if record.experiment not in EXPERIMENTS:
        found.append(("experiment", f"there is no experiment {record.experiment[:40]!r}"))
    if record.date is not None and moment_of(record.date) is None:
        found.append(("date", "the date is no ISO 8601 date"))
    if record.status == "measured" and record.experiment in PREDICTED_EXPERIMENTS:
        if record.generation_tps is None:
            found.append(("no_rate", "it says measured and holds no rate"))
        elif not record.generation_tps > 0:
            found.append(("rate", f"{record.generation_tps:g} tok/s is no rate"))
    return found


def _seal(line: Line, record: Record) -> list[tuple[str, str]]:
    if record.sha256 is None:
        return [("unsealed", "the record has no seal (sha256)")]
    fields: dict[str, Any] = msgspec.json.decode(line.raw or b"")
    if digest_of_fields(fields) != record.sha256:
        return [("seal", "the seal does not fit: the line was changed after it was written")]
    return []


def _order(record: Record) -> list[tuple[str, str]]:
    """The protocol's order: a prediction, then the load."""
    if record.experiment not in PREDICTED_EXPERIMENTS or record.status != "measured":
        return []
    if record.predicted_tps_human is None and not record.predictions:
        return [("no_prediction", "it was measured and nobody had predicted it")]
    predicted = moment_of(record.predicted_at)
    loaded = moment_of(record.loaded_at)
    if predicted is None or loaded is None:
        return [("no_order", "it does not say when it was predicted and when the model was loaded")]
    if predicted >= loaded:
        return [("late_prediction", "the prediction was locked after the model began to load")]
    late = [lock for lock in record.locks if (at := moment_of(lock.at)) is None or at >= loaded]
    if late:
        return [("late_prediction", "a prediction was changed after the model began to load")]
    return []


def _correction(record: Record, known: dict[str, int]) -> list[tuple[str, str]]:
    if record.status != "discarding":
        return []
    if record.discards is None:
        return [("discards_nothing", "it discards, but names no record")]
    if record.discards not in known:
        return [("discards_unknown", "it discards a record that does not stand before it")]
    return [] if record.reason else [("no_reason", "it discards without a reason")]
