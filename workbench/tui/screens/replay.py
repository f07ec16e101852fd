"""A recorded run through the main screen: the same panes, steps and reveal, from its own token times.

No worker, no model, no power source; nothing is ever recorded, and every page says so.
"""

from collections.abc import Callable
from typing import ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from widgets.fact_list import Fact, FactList
from widgets.key_hints import Hint
from widgets.prediction_input import PredictionInput
from widgets.visible import visible
from workbench.errors import WorkbenchError
from workbench.ledger.record import Record
from workbench.locations import ledger_path
from workbench.power.choice import Choice
from workbench.power.meter import Meter
from workbench.protocol.plan import Plan
from workbench.protocol.playback import Playback, Tempo
from workbench.protocol.replaying import replay_of
from workbench.protocol.run import Run
from workbench.protocol.steps import Measurement
from workbench.tui.bindings import bindings, hints
from workbench.tui.conductor import Conductor
from workbench.tui.hidden import hidden_on
from workbench.tui.messages import Notice, RunEnded
from workbench.tui.options import Options
from workbench.tui.panes import say
from workbench.tui.panes.records_pane import RecordsPane
from workbench.tui.power_words import reading_facts
from workbench.tui.replay_desk import NOTE, banner, desk_of, offered
from workbench.tui.screens.ledger import LedgerScreen
from workbench.tui.screens.main import MainScreen

OPEN_DOORS = frozenset({"card", "everybody"})


class ReplayScreen(MainScreen):
    """The main screen around a playback; `tempo` stands in for the clock in tests."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("replay")]
    note: ClassVar[str] = NOTE

    def __init__(
        self, options: Options, record: Record, because: str | None = None, *, tempo: Tempo | None = None
    ) -> None:
        """`because`: why the record was discarded, if it was. Raises UsageError for one without a rate."""
        super().__init__(options)
        self._options = options
        self._because = because
        self.replay = replay_of(record)
        self.tempo = tempo or Tempo()
        self.conductor = ReplayConductor(self.post_message, options, self._playback)
        self.desk = desk_of(self.replay)

    # --- what is on the screen ---

    def compose(self) -> ComposeResult:
        """The banner, then the main screen."""
        yield Static(id="replay-banner", markup=False)
        yield from super().compose()

    def first_pane(self) -> Widget:
        """The ledger's runs."""
        ledger = self._options.ledger or ledger_path()
        return RecordsPane(ledger, self.replay.record.record_id, id="models", classes="pane -current")

    def last_pane(self) -> Widget:
        """Energy as it was recorded, after the reveal."""
        return RecordedPower(id="power")

    def hint_row(self) -> list[Hint]:
        """What makes sense next."""
        if self.desk.running:
            ids = ["pause", "faster", "slower", "stop"]
        elif self.desk.record is not None:
            ids = ["card", "everybody", "again", "choose"]
        elif self.desk.locked:
            ids = ["run", "say_number", "faster", "slower"]
        else:
            ids = ["run", "say_number", "choose", "order"]
        return hints([*ids, "leave_replay", "help"])

    def on_mount(self) -> None:
        """Lay the recorded plan; the number is still to be said."""
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        figure, number = self.query_one("#figure"), self.query_one("#number", PredictionInput)
        figure.disabled = True
        number.offer("", "")
        then = offered(self.replay.record)
        if then:
            number.offer(then, "enter or r takes what was said then; or say a number of your own")
        self._plan()
        self.run_worker(self.conductor.prepare(), group="prepare", exit_on_error=False)
        self.show_pane("prediction")

    def paint(self) -> None:
        """The main screen, the banner and the power that was recorded."""
        super().paint()
        say(
            self.query_one("#replay-banner", Static), visible(banner(self.replay, self.tempo, self.desk), 300)
        )
        self.query_one(RecordedPower).show(self.desk.record)

    # --- the playback in the measurement's place ---

    def _playback(
        self,
        plan: Plan,  # noqa: ARG002 - the record's own
        *,
        on_change: Callable[[Run], None],
        options: Options,  # noqa: ARG002
        power: Choice | None,  # noqa: ARG002
    ) -> Measurement:
        return cast(Measurement, Playback(self.replay, self.tempo, on_change=on_change))

    def _plan(self) -> None:
        """The recorded plan; nothing on the desk changes it."""
        self.conductor.plan(self.replay.plan)
        self.change(plan=self.replay.plan, run=self.conductor.run)

    def _lock(self, text: str) -> None:
        """Numbers that are said now; the ones of then keep their own time."""
        if text.strip() == offered(self.replay.record):
            self._lock_recorded()
        else:
            super()._lock(text)

    def _lock_recorded(self) -> None:
        try:
            cast(ReplayConductor, self.conductor).lock_recorded()
        except WorkbenchError as error:
            self.refuse(error.words)
            return
        self.change(run=self.conductor.run)

    @on(RecordsPane.Picked)
    async def _record_picked(self, event: RecordsPane.Picked) -> None:
        if self.desk.running:
            self.refuse("the replay is going: s stops it")
            return
        try:
            replay = replay_of(event.record)
        except WorkbenchError as error:
            self.refuse(error.words)
            return
        await self.conductor.close()
        self.replay, self._because = replay, event.because
        self.desk = desk_of(replay)
        self._begin()

    @on(RunEnded)
    def _revealed(self, event: RunEnded) -> None:
        if event.record is not None and self._because:
            words = f"This record was discarded later: {self._because}"
            self.post_message(Notice(words, problem=True))

    # --- the keys, see `actions` ---

    def action_run(self) -> None:
        """Without a number of today: lock what was said then. With one: play."""
        if not self.desk.locked and not self.desk.running:
            self._lock_recorded()
            return
        super().action_run()

    def action_pause(self) -> None:
        """Hold, or go on."""
        if self.desk.running:
            self.tempo.hold()
            self._repaint_banner()

    def action_faster(self) -> None:
        """Twice as fast."""
        self.tempo.change(2)
        self._repaint_banner()

    def action_slower(self) -> None:
        """Half as fast."""
        self.tempo.change(0.5)
        self._repaint_banner()

    def _repaint_banner(self) -> None:
        say(
            self.query_one("#replay-banner", Static), visible(banner(self.replay, self.tempo, self.desk), 300)
        )

    async def action_leave_replay(self) -> None:
        """Back to where it was opened; from the command line: quit."""
        await self.conductor.close()
        if len(self.app.screen_stack) > 1:
            self.app.pop_screen()
        else:
            await self.app.run_action("leave_program")

    def action_open_door(self, door: str) -> None:
        """Only what shows the record."""
        if door in OPEN_DOORS:
            super().action_open_door(door)
        else:
            self.refuse("a replay has only its record to show")

    def action_ledger(self) -> None:
        """The ledger that is played from, for reading."""
        self.app.push_screen(LedgerScreen(self._options, hidden_on(self.desk), read_only=True, note=NOTE))

    def action_filter(self) -> None:
        """The tree's filter."""
        self.show_pane("bytes")

    def action_bandwidth(self) -> None:
        """The figure is the recorded one."""
        self.refuse("a replay keeps the bandwidth figure of its record")

    def action_mark_rung(self) -> None:
        """No ladder is climbed here."""
        self.refuse("a replay measures nothing, so nothing is marked for a ladder")

    def action_probe(self) -> None:
        """Nothing is measured here."""
        self.refuse("a replay measures nothing")


class ReplayConductor(Conductor):
    """Conducts playbacks: nothing of this machine is asked, offered or metered."""

    @property
    def meter(self) -> Meter | None:
        """A playback has none."""
        return None

    async def _prepare(self, measurement: Measurement) -> None:
        await measurement.prepare()

    def lock_recorded(self) -> None:
        """Lock what was said then; errors as for `Playback.lock_recorded`."""
        if self._measurement is not None:
            cast(Playback, self._measurement).lock_recorded()


class RecordedPower(VerticalScroll):
    """The record's own words on energy, once its rate is out."""

    BORDER_TITLE = "5 power"
    DEFAULT_CLASSES = "pane"

    def compose(self) -> ComposeResult:
        """One list."""
        yield FactList()

    def show(self, record: Record | None) -> None:
        """Before the end there is no record, and nothing to show."""
        facts = [Fact("", "", "what was recorded of it, after the reveal")]
        self.query_one(FactList).show(facts if record is None else reading_facts(record))
