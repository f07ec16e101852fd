"""The ladder: several checkpoints, one prediction each before anything loads, one go, a table at the end."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Static

from widgets.fact_list import FactList
from widgets.key_hints import Hint, KeyHints
from widgets.ledger_table import Cell, LedgerTable
from widgets.line_list import LineList
from widgets.prediction_input import PredictionInput
from workbench.errors import WorkbenchError
from workbench.tui.bindings import TYPING, bindings, hints
from workbench.tui.climb import Climb
from workbench.tui.messages import Notice
from workbench.tui.panes import say
from workbench.tui.panes.prediction_pane import NUMBER_HINT, check_number
from workbench.tui.rungs import COLUMNS, Rung, all_locked, cells, facts, ladder_line


class LadderScreen(Screen[None]):
    """Paints a `Climb`; the box takes the number of the rung under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("ladder")]

    def __init__(self, climb: Climb, *, hz: float, blind: bool) -> None:
        super().__init__()
        self.climb = climb
        self._hz, self._blind = hz, blind
        self._painted: tuple[object, ...] = ()
        self._laying: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        """The rungs, the one under the cursor, its box, what is waited for."""
        with Vertical(id="ladder") as box:
            box.border_title = f"ladder: {len(self.climb.rungs)} checkpoints"
            yield LedgerTable(COLUMNS, id="rungs")
            yield FactList(id="rung-facts")
            yield Static(id="rung-label", classes="label", markup=False)
            yield PredictionInput(check_number, placeholder="e.g. 143", hint=NUMBER_HINT, id="rung-number")
            yield Static(id="ladder-line", markup=False)
        yield KeyHints(typing=TYPING, id="ladder-hints")

    def on_mount(self) -> None:
        """Lay the rungs in the background; paint at the options' rate."""
        self.table.focus()
        self._laying = asyncio.create_task(self.climb.lay())
        self.set_interval(1 / self._hz, self.paint)
        self.call_after_refresh(self.paint)

    @property
    def table(self) -> LedgerTable:
        """The rungs."""
        return self.query_one("#rungs", LedgerTable)

    @property
    def number(self) -> PredictionInput:
        """The box."""
        return self.query_one("#rung-number", PredictionInput)

    def paint(self) -> None:
        """Show the climb as it stands; what did not change is not painted."""
        climb = self.climb
        now = (climb.rungs, climb.climbing, climb.ended, climb.problem)
        if now == self._painted:
            return
        self._painted = now
        self.table.show(climb.rungs, self._cells, cursor=self.table.cursor)
        line = ladder_line(climb.rungs, climbing=climb.climbing, ended=climb.ended, problem=climb.problem)
        static = self.query_one("#ladder-line", Static)
        static.set_class(climb.is_ready, "-on")
        say(static, line)
        for part in ("#rung-label", "#rung-number"):
            self.query_one(part).display = not climb.climbing and not climb.ended
        box = self.query_one("#ladder", Vertical)
        figures = ", ".join(figure.name for figure in climb.figures) or "no bandwidth figure yet"
        box.border_subtitle = figures
        self.query_one("#ladder-hints", KeyHints).show(self._hints())

    def _cells(self, row: object) -> list[Cell]:
        assert isinstance(row, Rung)
        return cells(row, all_locked(self.climb.rungs), self._blind)

    def _hints(self) -> list[Hint]:
        climb = self.climb
        if climb.climbing:
            return hints(["stop_climb", "help", "leave_program"])
        if climb.ended:
            return hints(["show_rung", "leave_ladder", "help", "leave_program"])
        off = [] if climb.is_ready else ["climb"]
        return hints(["say_rung", "climb", "leave_ladder", "help", "leave_program"], off)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        rung = self.table.row_at(event.index)
        if isinstance(rung, Rung):
            self.query_one(FactList).show(facts(rung, all_locked(self.climb.rungs)))
            say(self.query_one("#rung-label", Static), f"your number for {rung.name}")

    @on(LineList.Chosen)
    def _chosen(self) -> None:
        self.action_show_rung() if self.climb.ended else self.action_say_rung()

    @on(PredictionInput.Locked)
    def _said(self, event: PredictionInput.Locked) -> None:
        try:
            self.climb.say(self.table.cursor, event.text)
        except WorkbenchError as error:
            self.number.show_wrong(error.words)
            return
        self.number.reset()
        self.paint()
        following = next((i for i, rung in enumerate(self.climb.rungs) if rung.is_open), None)
        if following is None:
            self.table.focus()
        else:
            self.table.cursor = following

    # --- the keys, see `actions` ---

    def action_say_rung(self) -> None:
        """Into the box, for the rung under the cursor."""
        rung = self.table.row_at(self.table.cursor)
        if isinstance(rung, Rung) and rung.problem:
            self._refuse(f"{rung.name} is left out: {rung.problem}")
        elif not self.climb.climbing and not self.climb.ended:
            self.number.focus()

    def action_climb(self) -> None:
        """One go, or why not."""
        climb = self.climb
        if climb.is_ready:
            self.table.focus()
            self.run_worker(climb.climb(), group="climb", exit_on_error=False)
        elif not climb.climbing:
            line = ladder_line(climb.rungs, climbing=False, ended=climb.ended, problem=climb.problem)
            self._refuse(f"not yet: {line}" if not climb.ended else line)

    def action_stop_climb(self) -> None:
        """End it, every rung leaves its record; before it, do without a decode graph."""
        if not self.climb.ended:
            self.run_worker(self.climb.stop(), group="stop", exclusive=True, exit_on_error=False)

    def action_show_rung(self) -> None:
        """The record of the rung under the cursor."""
        rung = self.table.row_at(self.table.cursor)
        if isinstance(rung, Rung) and rung.record is not None:
            from workbench.tui.screens.card import CardScreen

            self.app.push_screen(CardScreen(rung.record))

    async def action_leave_ladder(self) -> None:
        """Back to the main screen; locked numbers leave their records."""
        if self.climb.climbing:
            self._refuse("the ladder is being climbed: s stops it")
            return
        await self.shut_down()
        self.dismiss(None)

    @property
    def keeps_shut(self) -> str:
        """Why earlier results may not be seen from here; empty once every number is locked."""
        if self.climb.ended or all_locked(self.climb.rungs):
            return ""
        return "Lock every number of the ladder first: earlier results would give them away."

    @property
    def is_going(self) -> bool:
        """Whether ctrl+c has something to stop here."""
        return self.climb.climbing

    async def stop_going(self) -> None:
        """Stop it."""
        self.action_stop_climb()

    async def shut_down(self, reason: str = "") -> None:
        """Leave no process and no lock without its record behind."""
        if self._laying is not None:
            self._laying.cancel()
        await self.climb.close(reason)

    def _refuse(self, why: str) -> None:
        self.post_message(Notice(why, problem=True))
