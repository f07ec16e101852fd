"""Prediction and verdict: the pieces before the lock, the ceilings after it, the judgement at the end.

What may be shown before the lock is decided in `desk` and `words`; this pane only places it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from widgets.fact_list import FactList
from widgets.prediction_input import PredictionInput
from workbench.errors import UsageError
from workbench.ledger.record import Record
from workbench.ledger.words import rate
from workbench.prediction.parse import parse_predictions
from workbench.tui.desk import Desk, run_is_off
from workbench.tui.panes import say
from workbench.tui.panes.figure_box import FigureBox
from workbench.tui.seal import seal_words, state_of
from workbench.tui.words import (
    beside_facts,
    ceiling_facts,
    facts,
    locked_words,
    predictions_text,
)

if TYPE_CHECKING:
    from workbench.tui.panes.verdict import Verdict

NUMBER_HINT = "tok/s (143), or 25 ms, or a class: ana=120 bo=300"


class PredictionPane(VerticalScroll):
    """Two boxes and what surrounds them."""

    BORDER_TITLE = "3 prediction"
    DEFAULT_CLASSES = "pane"

    def __init__(self, prediction: str | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._prediction = prediction
        self._verdict: Verdict | None = None

    def compose(self) -> ComposeResult:
        """Boxes and facts; the verdict is mounted above them when there is one."""
        yield FigureBox(id="figure-box")
        yield Static("your number", id="number-label", classes="label", markup=False)
        yield PredictionInput(check_number, placeholder="e.g. 143", hint=NUMBER_HINT, id="number")
        yield FactList(id="ceilings")
        yield Static(id="run-state", markup=False)
        yield Static(id="seal", markup=False)
        yield FactList(id="facts")

    def on_mount(self) -> None:
        """A prediction from the command line stands in its box; only enter locks it."""
        if self._prediction:
            self.call_after_refresh(self.query_one("#number", PredictionInput).reset, self._prediction)

    def paint(self, desk: Desk, before: Desk | None) -> None:
        """Show this desk; parts that did not change since `before` are left alone."""
        record = desk.record
        self.set_class(record is not None, "-judged")
        title = "3 verdict" if record is not None else "3 prediction"
        if self.border_title != title:  # setting it repaints the whole pane, even to the same text
            self.border_title = title
        self.query_one(FigureBox).paint(desk, before)
        number = self.query_one("#number", PredictionInput)
        self._paint_number(number, desk, before)
        self.query_one("#ceilings", FactList).show(ceiling_facts(desk) if record is None else [])
        self.query_one("#ceilings").display = bool(ceiling_facts(desk)) and record is None
        self.query_one("#facts", FactList).show(facts(desk))
        off = "" if desk.running else run_is_off(desk)
        state = self.query_one("#run-state", Static)
        state.set_class(not off, "-on")
        ready = "running: s stops it" if desk.running else "r runs: load, warm up, measure, record"
        say(state, f"run is off: {off}" if off else ready)
        self._paint_seal(desk)
        self._paint_verdict(record, desk)

    def _paint_seal(self, desk: Desk) -> None:
        seal = self.query_one("#seal", Static)
        seal.display = desk.count is not None
        seal.set_classes(f"-{state_of(desk.looked)}")
        more = " (w lists the tensors)" if state_of(desk.looked) == "differs" else ""
        overridden = desk.count is not None and desk.count.is_overridden
        say(seal, seal_words(desk.looked, desk.rule, overridden=overridden) + more)

    def _paint_number(self, number: PredictionInput, desk: Desk, before: Desk | None) -> None:
        if desk.said and (before is None or desk.said != before.said):
            number.show_words(f"{desk.said} is locked once the decode graph has been read")
        if desk.run is None or not desk.run.locked:
            if before is not None and before.locked:
                number.reset()
            return
        words = locked_words(desk.run)
        if before is None or before.run is None or words != locked_words(before.run):
            final = desk.run.load_begun or desk.record is not None
            number.show_locked(words, final=final, text=predictions_text(desk.run.predictions))

    def _paint_verdict(self, record: Record | None, desk: Desk) -> None:
        if record is None:
            if self._verdict is not None:
                self._verdict.remove()
                self._verdict = None
        elif self._verdict is None or self._verdict.record is not record:
            if self._verdict is not None:
                self._verdict.remove()
            from workbench.tui.panes.verdict import Verdict  # the first screen does not owe it

            self._verdict = Verdict(record, beside_facts(desk.beside), synthetic=desk.synthetic)
            self.mount(self._verdict, before=0)
            self.scroll_home(animate=False)
        else:
            self._verdict.show_beside(beside_facts(desk.beside))


def check_number(text: str) -> str:
    """What was said, in words; ValueError says what is wrong with it."""
    try:
        said = parse_predictions(text)
    except UsageError as error:
        raise ValueError(error.words) from error
    return ", ".join(f"{name} {rate(tps)} tok/s" if name else f"{rate(tps)} tok/s" for name, tps in said)
