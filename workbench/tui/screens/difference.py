"""Two records side by side, field by field: only what differs, numbers with their ratio."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Static

from widgets.key_hints import KeyHints
from widgets.ledger_table import Cell, Column, LedgerTable
from widgets.line_list import LineList
from widgets.visible import visible
from workbench.ledger.difference import Difference, compare, shown
from workbench.ledger.record import Record
from workbench.tui.bindings import bindings, hints
from workbench.tui.panes import say

COLUMNS = (
    Column("field", 24, stretch=True),
    Column("left", 16, stretch=True),
    Column("right", 16, stretch=True),
    Column("ratio", 8, "right"),
)


class DifferenceScreen(Screen[None]):
    """A table of differences; the row under the cursor in full."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("difference")]

    def __init__(self, left: Record, right: Record) -> None:
        super().__init__()
        self._sides = left, right
        self._differences = compare(left, right)

    def compose(self) -> ComposeResult:
        """Which two, the table, the row in full, the hints."""
        with Vertical(id="difference") as box:
            box.border_title = "two records"
            count = len(self._differences)
            box.border_subtitle = (
                f"{count} field{'' if count == 1 else 's'} differ{'s' if count == 1 else ''}"
            )
            yield Static(id="difference-sides", markup=False)
            yield LedgerTable(COLUMNS, id="differences")
            yield Static(id="difference-detail", markup=False)
        yield KeyHints(hints(["leave_difference", "ledger", "help", "leave_program"]))

    def on_mount(self) -> None:
        """Show the differences."""
        left, right = self._sides
        say(self.query_one("#difference-sides", Static), f"left   {_named(left)}\nright  {_named(right)}")
        table = self.query_one(LedgerTable)
        table.empty_text = "these two records say the same"
        table.show(self._differences, _cells, cursor=0)
        table.focus()

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """The row under the cursor in full: long values are cut in the table."""
        event.stop()
        row = self.query_one(LedgerTable).row_at(event.index)
        if isinstance(row, Difference):
            left, right = visible(shown(row.left), 600), visible(shown(row.right), 600)
            say(self.query_one("#difference-detail", Static), f"{row.field}\n  {left}\n  {right}")

    def action_leave_difference(self) -> None:
        """Back."""
        self.app.pop_screen()


def _named(record: Record) -> str:
    parts = (record.model or record.experiment, (record.date or "no date")[:16], record.status)
    return f"{', '.join(visible(part, 60) for part in parts)}  ({visible(record.record_id[:8])})"


def _cells(row: object) -> list[Cell]:
    assert isinstance(row, Difference)
    ratio = f"{row.ratio:,.3f}" if row.ratio is not None else ""
    return [row.field, _short(row.left), _short(row.right), ratio]


def _short(value: object) -> str:
    """A number as people read it; the row under the cursor has it in full."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return shown(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
