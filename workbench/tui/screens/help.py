"""Help: every action with its keys and its command, made from the actions."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from widgets.fact_list import Fact, FactList
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
    ("tab", "Next pane or box"),
    ("esc", "Out of a box; back from every screen"),
)
LAST_WORDS = (
    "Letters in the tree: V vision, A audio, P projector, E embedding, H head, X expert, D draft.\n"
    "Every screen has its command: the headless form is also what a screen reader can read."
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
            for title, facts in help_facts().items():
                yield Static(title, classes="help-title", markup=False)
                yield FactList(facts)
            yield Static(LAST_WORDS, id="help-last", markup=False)

    def on_mount(self) -> None:
        """Arrow keys scroll."""
        self.query_one("#help").focus()


def help_facts() -> dict[str, list[Fact]]:
    """What the help says, by its titles: keys, what they do, the command that does the same."""
    found = {}
    for where, title in TITLES.items():
        actions = [one for one in ACTIONS if one.where == where and one.keys != ("escape",)]
        if actions:
            found[title] = [_fact(one) for one in actions]
    return found | {"In lists and trees": [Fact(keys, text) for keys, text in LISTS]}


def _fact(one: Action) -> Fact:
    return Fact(one.shown_keys, one.help, f"(workbench {one.twin})" if one.twin else "")
