"""The desk at work: what comes in (picked, counted, seen, said, ended) changes it, and the protocol follows.

Widgets know no rooms, workers know no widgets: here they meet. The protocol itself is `protocol.steps`; the
keys are the main screen's.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.events import DescendantFocus
from textual.worker import Worker, WorkerState

from widgets.prediction_input import PredictionInput
from workbench.errors import WorkbenchError
from workbench.ledger.record import Record
from workbench.prediction.ceiling import BandwidthFigure
from workbench.prediction.parse import parse_predictions
from workbench.tui import messages, threads
from workbench.tui.conductor import Conductor, Make, protocol_measurement
from workbench.tui.desk import Desk, cannot_run, plan_of
from workbench.tui.graph_look import GraphLook
from workbench.tui.options import Options
from workbench.tui.pair import Pair
from workbench.tui.panes.figure_box import FigureBox
from workbench.tui.panes.models_pane import ModelsPane
from workbench.tui.panes.power_pane import PowerPane
from workbench.tui.probing import Probe
from workbench.tui.screens.five_panes import FivePanes

if TYPE_CHECKING:
    from workbench.tui.energy_wish import EnergyWish


class WorkingDesk(FivePanes):
    """What comes in is put on the desk, and the protocol follows: counted, planned, locked, run, recorded."""

    def __init__(self, options: Options, make: Make = protocol_measurement) -> None:
        super().__init__(options)
        self.make = make
        self.conductor = Conductor(self.post_message, options, make)
        self.graph_look = GraphLook(self.post_message)
        self.probe = Probe(self.post_message, options)
        self.pair = Pair()

    def tick(self) -> None:
        """The run, a probe's seconds and the power of an energy pass go on without a message."""
        if self.conductor.run is not self.desk.run:
            self.change(run=self.conductor.run)
        if self.probe.words != self.desk.probing:
            self.change(probing=self.probe.words)
        if self.desk.running and self.conductor.meter is not None:
            self._paint_power()

    def paint(self) -> None:
        """The panes, and power, which also needs the meter."""
        super().paint()
        self._paint_power()

    def _paint_power(self) -> None:
        for pane in self.query(PowerPane):
            pane.paint(self.desk, self.conductor.meter, blind=self.options.blind)

    # --- the checkpoint: find, choose, count ---

    @on(ModelsPane.Picked)
    async def _picked(self, event: ModelsPane.Picked) -> None:
        if self.desk.running:
            self.refuse("a run is going: s stops it")
            return
        if self.probe.words:
            self.refuse("the memory bandwidth is being probed: s stops it")
            return
        self.graph_look.give_up()
        await self.conductor.close()
        entry = event.entry
        kept = self.desk
        self.desk = Desk(figures=kept.figures, rule=kept.rule, show_text=kept.show_text, energy=kept.energy)
        self.change(
            name=entry.name, path=entry.path, busy=f"reading the headers of {entry.name} ...", run=None
        )
        self.show_pane("bytes")
        self._count(entry.name, entry.path, entry.synthetic)

    @work(exclusive=True, group="count", exit_on_error=False)
    async def _count(self, name: str, path: Path, synthetic: bool) -> None:
        if synthetic and not path.exists():
            self.post_message(messages.Busy(f"building {name}: once, in this machine's cache ..."))
            if not await threads.build(name, path, self.post_message):
                return
        await asyncio.to_thread(threads.count, path, self.options.overrides, self.post_message)

    @on(messages.Busy)
    def _busy(self, event: messages.Busy) -> None:
        self.change(busy=event.words)

    @on(messages.Counted)
    def _counted(self, event: messages.Counted) -> None:
        if event.path != self.desk.path:
            return
        self.change(busy="", checkpoint=event.checkpoint, count=event.count, problem=event.problem)
        if event.problem is not None:
            self.refuse(event.problem.words)
        elif event.checkpoint is not None and event.count is not None:
            self._plan()
            self.put_said()
            self.graph_look.begin(event.path, event.checkpoint, event.count)

    def put_said(self) -> None:
        """A number that was said of this checkpoint beside another waits in its box; enter locks it there."""
        text = self.pair.said.get(self.desk.name)
        if text and not self.desk.locked:
            self.query_one("#number", PredictionInput).reset(text)

    @on(messages.Seen)
    def _seen(self, event: messages.Seen) -> None:
        """The graph has spoken: the plan takes its word, and then a number that waited for it."""
        if event.path != self.desk.path or not self.desk.looking:
            return
        said = self.desk.said
        self.change(looked=event.looked, said="")
        from workbench.tui.screens.witness import WitnessScreen

        if isinstance(self.app.screen, WitnessScreen):
            self.app.screen.show(event.looked)
        self._plan()
        if said:
            self._lock(said)

    # --- the protocol ---

    def _plan(self) -> None:
        """Lay the plan of what is on the desk; before a lock it may change."""
        plan = plan_of(self.desk, self.options)
        if plan is None:
            return
        self.conductor.plan(plan)
        self.change(plan=plan, run=self.conductor.run)

    def plan_again(self) -> None:
        """Lay a new plan of what is on the desk, for a measurement that was given up or is over."""
        self.change(run=None, plan=None, beside=())
        self._plan()

    @on(DescendantFocus)
    def _focused(self, event: DescendantFocus) -> None:
        box = event.widget.parent
        if isinstance(box, PredictionInput) and self.desk.plan is not None:
            self.run_worker(self.conductor.prepare(), group="prepare", exit_on_error=False)

    @on(FigureBox.Used)
    def _figure_said(self, event: FigureBox.Used) -> None:
        if self.desk.locked:
            self.refuse("the bandwidth figure is locked with your number: start over (a) for another one")
            return
        self._use(*event.figures)
        if self.desk.plan is not None:
            self.query_one("#number", PredictionInput).focus()
        else:  # nothing to predict yet: back to the keys
            self.set_focus(self.query_one("#prediction"))

    def _use(self, *figures: BandwidthFigure) -> None:
        """Make the first figure the principal one; figures of other kinds stay as further ceilings."""
        kinds = {figure.kind for figure in figures}
        self.change(figures=(*figures, *(one for one in self.desk.figures if one.kind not in kinds)))
        self._plan()

    @on(messages.Offered)
    def _figures_offered(self, event: messages.Offered) -> None:
        self.query_one(FigureBox).offer(event.known)

    @on(PredictionInput.Locked, "#number")
    def _number_said(self, event: PredictionInput.Locked) -> None:
        off = cannot_run(self.desk)
        if self.desk.count is None or off:
            self.refuse(off or "choose a checkpoint first (1, then enter)")
        elif not self.desk.figures:
            self.query_one("#figure", PredictionInput).focus()
            self.refuse("say the memory bandwidth first, or probe it: esc, then p")
        else:
            self.set_focus(self.query_one("#prediction"))
            if self.desk.looking:
                self.change(said=event.text)
            else:
                self._lock(event.text)

    def _lock(self, text: str) -> None:
        try:
            self.conductor.lock([(said.name, said.tps) for said in parse_predictions(text)])
        except WorkbenchError as error:
            self.refuse(error.words)
            return
        self.change(run=self.conductor.run)
        self.run_worker(self.conductor.prepare(), group="prepare", exit_on_error=False)

    @on(messages.RunEnded)
    def _ended(self, event: messages.RunEnded) -> None:
        if event.problem is not None:
            self.refuse(event.problem.words)
        self.change(measuring=False, run=self.conductor.run)
        if event.record is not None:
            self.show_pane("prediction")
            if event.record.generation_tps is not None:
                self._compare(event.record)
        elif self.conductor.run is None:
            self._plan()

    @work(thread=True, group="beside", exit_on_error=False)
    def _compare(self, record: Record) -> None:
        threads.beside(record, self.options.ledger, self.post_message)

    @on(messages.Compared)
    def _compared(self, event: messages.Compared) -> None:
        if self.desk.record is not None and self.desk.record.record_id == event.record_id:
            self.change(beside=event.rows)

    @on(messages.Probed)
    def _probed(self, event: messages.Probed) -> None:
        self.change(probing="")
        if event.problem is not None:
            self.refuse(event.problem.words)
        elif event.figure is not None and not self.desk.locked:
            self._use(event.figure)

    @on(messages.PowerFound)
    def _power_found(self, event: messages.PowerFound) -> None:
        self.conductor.found = event.choice
        self._use_power()

    def _use_power(self) -> None:
        from workbench.tui.energy_wish import used

        if self.conductor.found is not None:
            choice = used(self.conductor.found, self.desk.energy)
            self.conductor.use_power(choice)
            self.query_one(PowerPane).use(choice)
            self._paint_power()

    def wish_energy(self, answer: tuple[EnergyWish | None] | None) -> None:
        """The answer of the energy dialogue: a wish, none, or nothing said."""
        if answer is None:
            return
        self.change(energy=answer[0])
        self._use_power()
        if self.desk.plan is not None and self.desk.record is None:
            self._plan()

    @on(Worker.StateChanged)
    def _worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.refuse(f"{event.worker.group}: {type(event.worker.error).__name__}: {event.worker.error}")
            self.change(measuring=False, busy="")
