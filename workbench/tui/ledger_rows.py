"""Ledger rows as the screen's columns: what stands out, what gives way first; damaged lines in words."""

from collections.abc import Mapping, Sequence
from typing import Literal

from widgets.ledger_table import Cell, Column
from workbench.ledger.row import Row
from workbench.ledger.status import COMPLETE
from workbench.ledger.table import HEADERS, RIGHT_ALIGNED, cells

Style = Literal["marked", "quiet"]
_WIDTHS = {
    "date": (10, 2),
    "machine": (12, 7),
    "model": (16, 0),
    "bits": (4, 8),
    "GB/token": (8, 6),
    "said": (7, 1),
    "tok/s": (8, 0),
    "of ceiling": (10, 3),
    "verdict": (14, 0),
    "status": (9, 5),
}
"""Cells and rank of each of `ledger.table`'s columns."""
COLUMNS = (
    Column("", 1),
    *(
        Column(
            header,
            *(_WIDTHS[header][0], "right" if header in RIGHT_ALIGNED else "left", _WIDTHS[header][1]),
            stretch=header == "model",
        )
        for header in HEADERS
    ),
)
SHOWN_DAMAGED = 3
HIDDEN_HEADERS = frozenset({"tok/s", "of ceiling", "verdict"})


def cells_of(
    row: Row, discarded: Mapping[str, str], *, marked: bool = False, hidden: bool = False
) -> list[Cell]:
    """The cells under `COLUMNS`; the first is `●` for a marked row, else its sign."""
    is_discarded = row.record_id in discarded
    made: list[Cell] = ["●" if marked else sign_of(row, discarded)]
    texts = dict(zip(HEADERS, cells(row, discarded), strict=True))
    if not texts["verdict"] or is_discarded or row.status not in COMPLETE:
        # a narrow terminal has no room for the status beside it
        texts["verdict"] = texts["status"]
    for header, text in texts.items():
        shown = "hidden" if hidden and header in HIDDEN_HEADERS else text[:10] if header == "date" else text
        made.append(_styled(header, shown or "–", row, is_discarded, hidden))
    return made


def sign_of(row: Row, discarded: Mapping[str, str]) -> str:
    """`×` for a discarded row, `↓` for one that was not measured here."""
    return "×" if row.record_id in discarded else "↓" if row.status == "imported" else ""


def _styled(header: str, text: str, row: Row, is_discarded: bool, hidden: bool) -> Cell:
    if text == "–" or is_discarded or (hidden and header in HIDDEN_HEADERS):
        return (text, "quiet")
    bad = row.verdict == "counting error" or row.status in {"failed", "interrupted"}
    return (text, "marked") if header == "verdict" and bad else text


def damage_words(damaged: Sequence[tuple[int, str]]) -> list[str]:
    """The damaged lines with their numbers: the first few in words, the others counted."""
    if not damaged:
        return []
    lines = [f"line {number} is damaged and left alone: {why}" for number, why in damaged[:SHOWN_DAMAGED]]
    more = len(damaged) - SHOWN_DAMAGED
    if more > 0:
        lines.append(f"and {more:,} more damaged lines: `workbench ledger verify` lists them")
    return lines
