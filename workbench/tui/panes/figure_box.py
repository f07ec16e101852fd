"""The memory bandwidth: a box for a figure with its source, and a list of those that are known here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import DescendantBlur, DescendantFocus
from textual.message import Message
from textual.widgets import Static

from widgets.ledger_table import Column, LedgerTable
from widgets.line_list import LineList
from widgets.prediction_input import PredictionInput
from workbench.errors import UsageError
from workbench.prediction.ceiling import BandwidthFigure
from workbench.prediction.figures import parse_figure
from workbench.tui.desk import Desk
from workbench.tui.words import figure_text

if TYPE_CHECKING:
    from workbench.protocol.bandwidths import KnownFigures
    from workbench.tui.offers import Offer

HINT = "GB/s, its kind and where it is from: 819 spec Apple.  p probes this machine (about 15 s)"
COLUMNS = (Column("known here", 24, stretch=True), Column("from", 26, rank=1))
SHORT_NAMES = (Column("known here", 24), Column("from", 26, rank=1, stretch=True))
"""Where no name needs more, the sources get the room."""
MOST_ROWS = 5


class FigureBox(Vertical):
    """Box and list. Posts `Used` with what was said or chosen."""

    class Used(Message):
        """These figures make the ceilings, the principal one first."""

        def __init__(self, figures: tuple[BandwidthFigure, ...]) -> None:
            super().__init__()
            self.figures = figures

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._offers: list[Offer] = []
        self._has_figure = self._is_locked = False

    def compose(self) -> ComposeResult:
        """The label, the box, the list."""
        yield Static("memory bandwidth", classes="label", markup=False)
        yield PredictionInput(
            check_figure, placeholder="e.g. 819 spec Apple", hint=HINT, enter="enter takes it", id="figure"
        )
        yield LedgerTable(COLUMNS, id="offers")

    @property
    def box(self) -> PredictionInput:
        """The box."""
        return self.query_one("#figure", PredictionInput)

    def paint(self, desk: Desk, before: Desk | None) -> None:
        """Show the desk's figures, or how far a probe is."""
        self._has_figure, self._is_locked = bool(desk.figures), desk.locked
        if desk.probing:
            if before is None or desk.probing != before.probing:
                self.box.show_words(f"probing the memory bandwidth: {desk.probing} (s stops it)")
            return
        changed = (
            before is None
            or bool(before.probing)
            or (desk.figures, desk.running) != (before.figures, before.running)
        )
        if changed and desk.figures:
            words = "\n".join(f"{one.name}: {one.source}" for one in desk.figures)
            self.box.show_locked(words, final=desk.running, text=figure_text(desk.figures[0]))
        elif changed and not self.box.value:
            self.box.reset()
        if changed:
            self._show_offers()

    def offer(self, known: KnownFigures) -> None:
        """These figures are known of this machine; or a question, and the candidates."""
        from workbench.tui.offers import offers_of

        self._offers = offers_of(known)
        if not self._has_figure:
            first = known.figures[0] if known.figures else None
            if known.question and not first:
                how = "tab: choose it below" if self._offers else "Here: esc, then p"
                self.box.offer("", f"{known.question} {how}.")
            elif first is not None:
                more = "; tab: another one" if len(self._offers) > 1 else ""
                words = f"enter takes {first.name}: {first.source}{more}"
                self.box.offer(figure_text(first), f"{known.question} {words}".strip())
        longest = max((len(offer.name) for offer in self._offers), default=0)
        table = self.query_one(LedgerTable)
        table.columns = COLUMNS if longest > SHORT_NAMES[0].width else SHORT_NAMES
        table.show(self._offers, _cells, cursor=0)
        self._show_offers()

    def _show_offers(self) -> None:
        table = self.query_one(LedgerTable)
        focused = self.screen.focused
        inside = focused is not None and self in focused.ancestors
        wanted = not self._is_locked and (inside or not self._has_figure)
        table.display = wanted and bool(self._offers)
        table.styles.height = min(len(self._offers), MOST_ROWS) + 1

    @on(DescendantFocus)
    @on(DescendantBlur)
    def _focus_moved(self) -> None:
        self._show_offers()

    @on(PredictionInput.Locked)
    def _said(self, event: PredictionInput.Locked) -> None:
        event.stop()
        for offer in self._offers:
            if event.text == figure_text(offer.figures[0]):
                self.post_message(self.Used(offer.figures))
                return
        self.post_message(self.Used((parse_figure(event.text),)))

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.box.reset(figure_text(self._offers[event.index].figures[0]))
        self.post_message(self.Used(self._offers[event.index].figures))

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()


def check_figure(text: str) -> str:
    """What is understood of a figure's words; ValueError with what is wrong."""
    try:
        figure = parse_figure(text)
    except UsageError as error:
        raise ValueError(error.words) from error
    return f"{figure.name}: {figure.source}"


def _cells(row: object) -> list[str]:
    return [row.name, row.source]  # type: ignore[attr-defined]
