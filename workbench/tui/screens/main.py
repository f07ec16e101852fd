"""The main screen: the protocol around the five panes, and its keys. What comes in: see `working_desk`."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual.binding import BindingType

from widgets.prediction_input import PredictionInput
from workbench.tui import messages
from workbench.tui.bindings import bindings
from workbench.tui.desk import run_is_off
from workbench.tui.panes.bytes_pane import BytesPane
from workbench.tui.panes.models_pane import ModelsPane
from workbench.tui.screens.doors import DOORS
from workbench.tui.screens.working_desk import WorkingDesk
from workbench.tui.seal import given_up


class MainScreen(WorkingDesk):
    """The protocol on one screen. What each key does is said in `actions`."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("main")]

    def action_choose(self) -> None:
        """Enter outside the table: go there."""
        self.show_pane("models")

    def action_filter(self) -> None:
        """Filter the tree when it is in front, else the models."""
        tree_has_focus = self.focused is not None and self.focused.id == "tree"
        if tree_has_focus:
            self.query_one(BytesPane).start_filter()
        else:
            self.show_pane("models")
            self.query_one(ModelsPane).start_filter()

    def action_mark_rung(self) -> None:
        """Mark the checkpoint under the cursor for a ladder."""
        self.show_pane("models")
        why_not = self.query_one(ModelsPane).toggle_mark()
        if why_not:
            self.refuse(why_not)

    def action_order(self) -> None:
        """Largest first or model order."""
        self.query_one(BytesPane).toggle_order()

    def action_bandwidth(self) -> None:
        """Into the bandwidth box."""
        self.show_pane("prediction")
        self.query_one("#figure", PredictionInput).focus()

    def action_say_number(self) -> None:
        """Into the prediction box."""
        self.show_pane("prediction")
        self.query_one("#number", PredictionInput).focus()

    def action_probe(self) -> None:
        """Measure the achieved bandwidth, where nothing is running or locked."""
        if self.desk.running or self.desk.locked:
            self.refuse("the bandwidth figure stands until this run is over")
        elif self.desk.looking:
            self.refuse("the decode graph is being read: a moment, or s to do without it")
        else:
            self.show_pane("prediction")
            self.probe.begin()

    def action_run(self) -> None:
        """Load, warm up, measure, record; or say why not."""
        off = run_is_off(self.desk)
        if off:
            self.refuse(f"run is off: {off}")
            return
        self.change(measuring=True)
        self.show_pane("run")
        self.run_worker(self.conductor.measure(), group="run", exit_on_error=False)

    async def action_stop(self) -> None:
        """End the run, keep its record; before a run, do without the decode graph."""
        desk = self.desk
        if desk.running:
            self.run_worker(self.conductor.stop(), group="stop", exclusive=True, exit_on_error=False)
        elif desk.probing:
            await self.probe.stop()
        elif desk.looking and desk.count is not None and desk.path is not None:
            await self.graph_look.stop()
            self.post_message(messages.Seen(desk.path, given_up(desk.count)))

    def action_open_door(self, door: str) -> None:
        """Another screen, or why not; see `doors`."""
        DOORS[door](self)

    def action_text(self) -> None:
        """Generated text on or off; a run that has begun keeps what it was asked for."""
        self.change(show_text=not self.desk.show_text)
        if self.desk.plan is not None and not self.desk.running and self.desk.record is None:
            self._plan()

    async def action_again(self) -> None:
        """A new prediction for the same checkpoint."""
        if self.desk.running or self.desk.plan is None:
            return
        await self.conductor.close()
        self.plan_again()
        self.action_say_number()

    def action_copy(self) -> None:
        """The last record's line to the clipboard."""
        if self.desk.record is not None:
            from workbench.tui.screens.card import copy_record

            copy_record(self, self.desk.record)

    def action_ledger(self) -> None:
        """The ledger; before the lock without this checkpoint's results."""
        from workbench.tui.hidden import hidden_on

        hidden = hidden_on(self.desk)
        from workbench.tui.screens.ledger import LedgerScreen

        self.app.push_screen(LedgerScreen(self.options, hidden))

    # --- the end ---

    @property
    def is_going(self) -> bool:
        """Whether ctrl+c has something to stop here."""
        return self.desk.running

    async def stop_going(self) -> None:
        """Stop it."""
        await self.action_stop()

    async def shut_down(self, reason: str = "") -> None:
        """Leave no process and no lock without its record behind."""
        await asyncio.gather(self.graph_look.stop(), self.probe.stop(), self.conductor.close(reason))
