"""A table of many rows: columns of text, drawn where they are in sight, the least important dropped first.

Rows may be any objects with a function that turns one into cells: a hundred thousand records cost nothing
until they are looked at.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from widgets.line_list import LineList, Piece, fit, fit_middle, fit_right
from widgets.visible import visible

LEAST_CELLS = 4
"""No stretching column is narrower: there the row is cut."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, its width in cells, its side, and how soon it goes when room is short.

    Columns with `stretch` share what is left, or bear what is missing. `rank` 0 always stays; higher ranks go
    first.
    """

    title: str
    width: int
    align: Literal["left", "right"] = "left"
    rank: int = 0
    stretch: bool = False


Cell = str | tuple[str, Literal["marked", "quiet"]]
"""A cell's text, alone or with how it stands out."""


class LedgerTable(LineList):
    """Rows of cells in columns."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"ledger-table--marked", "ledger-table--quiet"}
    DEFAULT_CSS = """
    LedgerTable {
        &> .ledger-table--marked { color: $text-error; text-style: bold; }
        &> .ledger-table--quiet { color: $text-muted; }
    }
    """

    def __init__(self, columns: Sequence[Column], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns = tuple(columns)
        self._rows: Sequence[object] = ()
        self._cells: Callable[[object], Sequence[Cell]] = _as_is

    def show(
        self,
        rows: Sequence[object],
        cells: Callable[[object], Sequence[Cell]] | None = None,
        *,
        cursor: int | None = None,
    ) -> None:
        """Show these rows; `cells` turns one row into its columns' texts when it is drawn."""
        self._rows = rows
        self._cells = cells or _as_is
        self.lines_changed(cursor)

    def row_at(self, index: int) -> object | None:
        """The row on a line, or None."""
        return self._rows[index] if 0 <= index < len(self._rows) else None

    @property
    def line_count(self) -> int:
        """Rows."""
        return len(self._rows)

    def draw_header(self, width: int) -> Sequence[Piece]:
        """Titles, aligned as their columns."""
        if not self._rows:
            return []
        return [(_aligned(column, column.title, cells), "") for _, column, cells in self._layout(width)]

    def draw_line(self, index: int, width: int) -> Sequence[Piece]:
        """One row."""
        row = self._cells(self._rows[index])
        pieces: list[Piece] = []
        for position, column, cells in self._layout(width):
            cell = row[position] if position < len(row) else ""
            text, style = (cell, "") if isinstance(cell, str) else (cell[0], f"ledger-table--{cell[1]}")
            pieces.append((_aligned(column, visible(text) if text else "", cells), style))
        return pieces

    def _layout(self, width: int) -> list[tuple[int, Column, int]]:
        kept = list(enumerate(self.columns))

        def needed() -> int:
            return sum(column.width + 1 for _, column in kept)

        while needed() > width and any(column.rank for _, column in kept):
            kept.remove(max(kept, key=lambda entry: entry[1].rank))
        stretching = [position for position, column in kept if column.stretch]
        spare, rest = divmod(width - needed(), len(stretching) or 1)
        more = {position: spare + (0 if i else rest) for i, position in enumerate(stretching)}
        cells = {position: column.width + 1 + more.get(position, 0) for position, column in kept}
        cells |= {position: max(LEAST_CELLS, cells[position]) for position in stretching}
        return [(position, column, cells[position]) for position, column in kept]


def _aligned(column: Column, text: str, cells: int) -> str:
    if column.align == "right":
        return fit_right(text, cells - 1) + " "
    return (fit_middle if column.stretch else fit)(text, cells - 1) + " "


def _as_is(row: object) -> Sequence[Cell]:
    return row if isinstance(row, Sequence) else (str(row),)
