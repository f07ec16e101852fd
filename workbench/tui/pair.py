"""Two checkpoints side by side: what a token reads of each, what was said of each, what came of it.

A ceiling is there only for a checkpoint whose number is locked. Pure; the screens keep one Pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from widgets.sizes import sized
from workbench.ledger.words import percent, rate

if TYPE_CHECKING:  # the first screen owes none of these
    from workbench.accounting.count import Count
    from workbench.checkpoint.checkpoint import Checkpoint
    from workbench.ledger.record import Record
    from workbench.shelf.entries import Entry
    from workbench.tui.desk import Desk

HIDDEN = "after its lock"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: its row on the shelf, and its count once it was made."""

    entry: Entry
    checkpoint: Checkpoint | None = None
    count: Count | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of a checkpoint whose number was locked here: ceiling, and the rate after the run."""

    ceiling_tps: float
    measured_tps: float | None = None


@dataclass(slots=True)
class Pair:
    """The second checkpoint, and by name what people said of each and what came of it."""

    second: Side | None = None
    said: dict[str, str] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def note(self, desk: Desk) -> None:
        """Keep what the desk may show of its checkpoint now: nothing before the lock."""
        from workbench.tui.words import ceilings, predictions_text

        shown = ceilings(desk)
        if desk.run is None or not shown:
            return
        record = desk.record
        measured = record.generation_tps if record is not None else None
        self.outcomes[desk.name] = Outcome(shown[0].tps, measured)
        self.said[desk.name] = predictions_text(desk.run.predictions)

    def note_record(self, name: str, record: Record | None) -> None:
        """Keep what a ladder's rung left: its number, its principal ceiling, its rate."""
        from workbench.tui.words import predictions_text

        if record is None or not record.ceilings:
            return
        principal = record.ceilings[0]
        self.outcomes[name] = Outcome(principal.tps, record.generation_tps)
        if record.predictions:
            self.said[name] = predictions_text(record.predictions)


Line = tuple[str, str, str, str]
"""A row of the comparison: what, left, right, right / left."""


def lines(pair: Pair, desk: Desk) -> list[Line]:
    """The whole table: bytes by role, totals, then numbers, ceilings and rates as far as they may show."""
    from workbench.accounting.compare import compare

    left, second = desk.count, pair.second
    if left is None:
        return []
    right = second.count if second is not None else None
    if right is None:
        return [_line("a token reads", left.weight_bytes, None), _line("on disk", left.disk_bytes, None)]
    made = [
        _line(one.role.replace("_", " "), one.left_bytes, one.right_bytes) for one in compare(left, right)
    ]
    made += [
        _line("a token reads", left.weight_bytes, right.weight_bytes),
        _line("seed rule", left.seed.weight_bytes, right.seed.weight_bytes),
        _line("on disk", left.disk_bytes, right.disk_bytes),
        _line("resident", left.resident_bytes, right.resident_bytes),
    ]
    assert second is not None
    return [*made, *_said_and_done(pair, desk.name, second.entry.name)]


def _said_and_done(pair: Pair, left: str, right: str) -> list[Line]:
    one, other = pair.outcomes.get(left), pair.outcomes.get(right)
    ceilings = [outcome.ceiling_tps if outcome is not None else None for outcome in (one, other)]
    measured = [outcome.measured_tps if outcome is not None else None for outcome in (one, other)]
    fractions = [
        rate_tps / ceiling_tps if rate_tps and ceiling_tps else None
        for rate_tps, ceiling_tps in zip(measured, ceilings, strict=True)
    ]
    said = [pair.said.get(name, "") or "not said yet" for name in (left, right)]
    return [
        ("your number, tok/s", said[0], said[1], ""),
        ("ceiling, tok/s", *_texts(ceilings, HIDDEN), _ratio(*ceilings)),
        ("measured, tok/s", *_texts(measured, "–"), _ratio(*measured)),
        ("of the ceiling", *_texts(fractions, "–", percent), ""),
    ]


def _texts(
    values: Sequence[float | None], missing: str, written: Callable[[float], str] = rate
) -> tuple[str, str]:
    left, right = (written(value) if value is not None else missing for value in values)
    return left, right


def _line(label: str, left: int, right: int | None) -> Line:
    return (label, sized(left), sized(right) if right is not None else "", _ratio(left, right))


def _ratio(left: float | None, right: float | None) -> str:
    return f"{right / left:.3f}" if left and right is not None else ""
