"""Asks why a record is to be discarded. Nothing is changed here: the reason goes back to who asked."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from widgets.visible import visible

HINT = "A later record takes it back and gives this reason; the line itself stays as it is."
NO_REASON = "A record is discarded with a reason: what was wrong with it?"


class DiscardScreen(ModalScreen[str | None]):
    """One box; enter gives the reason, escape gives None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "keep", "Keep it", show=False)]

    def __init__(self, record: str) -> None:
        """`record` says in words which one is meant."""
        super().__init__()
        self._record = record

    def compose(self) -> ComposeResult:
        """Which record, the box, what will happen."""
        with Vertical(id="asking") as box:
            box.border_title = "discard this record?"
            box.border_subtitle = "enter discards, esc keeps it"
            yield Static(visible(self._record, 200), markup=False, id="asked-of")
            yield Input(placeholder="the reason", compact=True, max_length=400, id="reason")
            yield Static(HINT, markup=False, id="asked-words")

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _said(self, event: Input.Submitted) -> None:
        event.stop()
        reason = " ".join(event.value.split())
        if reason:
            self.dismiss(reason)
            return
        words = self.query_one("#asked-words", Static)
        words.update(NO_REASON)
        words.add_class("-wrong")
        self.app.bell()

    def action_keep(self) -> None:
        """Escape: nothing happens."""
        self.dismiss(None)
