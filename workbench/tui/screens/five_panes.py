"""The five panes around one Desk: where they stand, which is in front, how they are painted. No protocol.

Handlers elsewhere own the state and put it on the desk; what did not change is not painted.
"""

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widget import Widget

from widgets.key_hints import Hint, KeyHints
from widgets.steps import Steps
from workbench.protocol.run import Step
from workbench.tui.bindings import TYPING, hints
from workbench.tui.desk import Desk, step_states
from workbench.tui.hinting import PANES, hint_ids, off_ids, tabs
from workbench.tui.messages import Notice
from workbench.tui.options import Options
from workbench.tui.panes.bytes_pane import BytesPane
from workbench.tui.panes.models_pane import ModelsPane
from workbench.tui.panes.power_pane import PowerPane
from workbench.tui.panes.prediction_pane import PredictionPane
from workbench.tui.panes.run_pane import RunPane


class FivePanes(Screen[None]):
    """Models, bytes, prediction, run, power: side by side where there is room, else one at a time."""

    note: ClassVar[str] = ""
    """Stands in the titles of the screens that open from here."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.desk = Desk(figures=options.figures, rule=options.rule)
        self._painted: Desk | None = None

    def compose(self) -> ComposeResult:
        """Steps, panes, hints."""
        yield Steps([str(step) for step in Step], id="steps")
        yield KeyHints(tabs("models"), tabs=True, id="tabs")
        with Container(id="panes"):
            yield self.first_pane()
            yield BytesPane(id="bytes")
            yield PredictionPane(self.options.prediction, id="prediction")
            yield RunPane(id="run")
            yield self.last_pane()
        yield KeyHints(typing=TYPING, id="hints")

    def first_pane(self) -> Widget:
        """What there is to choose from."""
        return ModelsPane(self.options, id="models", classes="pane -current")

    def last_pane(self) -> Widget:
        """Power."""
        return PowerPane(id="power")

    def hint_row(self) -> list[Hint]:
        """What makes sense next."""
        return hints(hint_ids(self.desk), off_ids(self.desk))

    def on_mount(self) -> None:
        """Start looking; paint at the options' rate."""
        self.call_after_refresh(self.paint)  # the panes' own children are not there yet
        self.set_interval(1 / self.options.paint_hz, self.tick)

    def tick(self) -> None:
        """What changes without a message: nothing here."""

    def change(self, **changes: object) -> None:
        """Put something else on the desk and paint it."""
        self.desk = replace(self.desk, **changes)  # type: ignore[arg-type]
        self.paint()

    def paint(self) -> None:
        """Show the desk; what did not change is not painted."""
        desk, before = self.desk, self._painted
        if desk is before:
            return
        self._painted = desk
        stamp = desk.run.stamp if desk.run is not None else None
        device = (stamp.device or "") if stamp is not None else ""
        self.query_one(Steps).show(step_states(desk), "synthetic weights" if desk.synthetic else device)
        self.query_one(BytesPane).paint(desk, before)
        self.query_one(PredictionPane).paint(desk, before)
        self.query_one(RunPane).paint(desk, blind=self.options.blind)
        self.query_one("#hints", KeyHints).show(self.hint_row())

    def show_pane(self, name: str) -> None:
        """Bring a pane to the front (narrow) and the focus into it."""
        for pane in PANES:
            self.query_one(f"#{pane}").set_class(pane == name, "-current")
        self.query_one("#tabs", KeyHints).show(tabs(name))
        targets = {"models": "#entries", "bytes": "#tree", "prediction": "#prediction", "power": "#power"}
        self.set_focus(self.query_one(targets[name]) if name in targets else None)

    def refuse(self, why: str) -> None:
        """Say why a key did nothing."""
        self.post_message(Notice(why, problem=True))

    def action_show_pane(self, name: str) -> None:
        """Keys 1 to 5."""
        self.show_pane(name)
