"""Chooses one of the checkpoints that the picker has found already."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from widgets.ledger_table import LedgerTable
from widgets.line_list import LineList
from workbench.shelf.entries import Entry
from workbench.tui.panes.models_pane import COLUMNS, cells, matches


class ChooseScreen(ModalScreen[Entry | None]):
    """A filter and a table; enter gives the entry, escape None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "None of them", show=False)]

    def __init__(self, entries: Sequence[Entry], title: str) -> None:
        super().__init__()
        self._entries = list(entries)
        self._title = title

    def compose(self) -> ComposeResult:
        """Filter, table."""
        with Vertical(id="choosing") as box:
            box.border_title = self._title
            box.border_subtitle = "enter chooses, esc leaves"
            yield Input(placeholder="filter", compact=True, id="choose-filter", max_length=200)
            yield LedgerTable(COLUMNS, id="choices")

    def on_mount(self) -> None:
        """All of them; type to have fewer."""
        self.query_one(LedgerTable).empty_text = "nothing else was found"
        self.query_one(LedgerTable).show(self._entries, cells)
        self.query_one(LedgerTable).focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        words = event.value.lower().split()
        kept = [one for one in self._entries if matches(one, words)]
        self.query_one(LedgerTable).show(kept, cells, cursor=0)

    @on(Input.Submitted)
    def _done(self) -> None:
        self.query_one(LedgerTable).focus()

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        row = self.query_one(LedgerTable).row_at(event.index)
        if isinstance(row, Entry):
            self.dismiss(row)

    def action_give_up(self) -> None:
        """Escape: none of them."""
        self.dismiss(None)
