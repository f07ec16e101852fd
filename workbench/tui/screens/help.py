"""Help: every action with its keys and its command, made from the actions."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from workbench.tui.actions import ACTIONS, Action, Where

TITLES: dict[Where, str] = {
    "main": "The protocol: stamp, count, predict, warm up, measure, record",
    "ledger": "In the ledger",
    "witness": "At the graph witness",
    "ladder": "On a ladder",
    "card": "On a record's card",
    "difference": "Two records side by side",
    "fit": "In the fit",
    "people": "In the calibration",
    "round": "In a class round's ranking",
    "compare": "Two checkpoints side by side",
    "replay": "In a replay",
    "everywhere": "Everywhere",
}
LISTS = (
    ("enter", "Choose a checkpoint, open a module, show a record"),
    ("j k, arrows", "Move; g and G to the ends, page up and down"),
    ("h l, left right", "Close and open a module; * opens all below"),
    ("tab", "Next pane or box; esc leaves a box"),
)


class HelpScreen(ModalScreen[None]):
    """A scrollable list; any of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "dismiss", "Close", show=False),
    ]

    def compose(self) -> ComposeResult:
        """All actions by place."""
        with VerticalScroll(id="help") as box:
            box.border_title = "help"
            box.border_subtitle = "esc closes"
            yield Static(help_content())

    def on_mount(self) -> None:
        """Arrow keys scroll."""
        self.query_one("#help").focus()


def help_content() -> Content:
    """The help text."""
    parts: list[Content] = []
    for where, title in TITLES.items():
        parts.append(Content.styled(title, "bold $accent"))
        parts += [_line(one) for one in ACTIONS if one.where == where]
        parts.append(Content(""))
    parts.append(Content.styled("In lists and trees", "bold $accent"))
    parts += [Content.assemble((f"  {keys:<17}", "bold"), text) for keys, text in LISTS]
    parts.append(Content(""))
    parts.append(
        Content(
            "Letters in the tree: V vision, A audio, P projector, E embedding, H head, X expert, D draft.\n"
            "Every screen has its command: the headless form is also what a screen reader can read."
        )
    )
    return Content("\n").join(parts)


def _line(one: Action) -> Content:
    line = [(f"  {one.shown_keys:<10}", "bold"), (one.help, "")]
    if one.twin:
        line.append((f"   workbench {one.twin}", "$quiet"))
    return Content.assemble(*line)
