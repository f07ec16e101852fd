"""Every action of the screens, once: its keys, its label, its help, its twin on the command line.

Bindings, the hint row, the palette, the help screen and the README's table are made from this list.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Where = Literal["everywhere", "main", "ledger", "card"]


@dataclass(frozen=True, slots=True)
class Action:
    """One action. Its method is `action_` + `call`; `twin` is the command line that does the same.

    `id` is also its name in the settings' `[keys]`, where a user gives it another key.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    where: Where = "main"
    twin: str = ""

    @property
    def call(self) -> str:
        """What Textual calls: the id, or `show_pane('models')` for `pane_models`."""
        pane = self.id.removeprefix("pane_")
        return self.id if pane == self.id else f"show_pane('{pane}')"

    @property
    def shown_keys(self) -> str:
        """The keys as people write them: `r, F5`."""
        return ", ".join(key_name(key) for key in self.keys)


ACTIONS: tuple[Action, ...] = (
    Action("pane_models", ("1",), "models", "Show the checkpoints of this machine", twin="models"),
    Action("pane_bytes", ("2",), "bytes", "Show what a decode step reads", twin="bytes CHECKPOINT"),
    Action("pane_prediction", ("3",), "predict", "Show prediction and verdict"),
    Action("pane_run", ("4",), "run", "Show the live run"),
    Action("pane_power", ("5",), "power", "Show power and its source", twin="power"),
    Action(
        "choose", ("enter",), "choose", "Choose the checkpoint under the cursor; in the tree: open a module"
    ),
    Action("filter", ("slash",), "filter", "Filter the models, or the tensors when the tree has the focus"),
    Action("order", ("o",), "order", "Tree: largest first, or model order"),
    Action("bandwidth", ("b",), "bandwidth", "Say the memory bandwidth and where the figure is from"),
    Action("probe", ("p",), "probe", "Measure the achieved bandwidth of this machine", twin="bandwidth"),
    Action("say_number", ("n",), "number", "Say your number; enter locks it, until the model loads"),
    Action(
        "run",
        ("r", "f5"),
        "run",
        "Load, warm up, measure, record",
        twin="measure CHECKPOINT --predict N",
    ),
    Action("stop", ("s",), "stop", "Stop the run and keep a cancelled record"),
    Action("text", ("t",), "text", "Show the generated text during runs"),
    Action("again", ("a",), "again", "Start over with this checkpoint: a new prediction, a new run"),
    Action("card", ("c",), "card", "Show the last record as a card", twin="ledger --record ID"),
    Action("copy", ("y",), "copy", "Copy the record's line (your terminal must allow it)"),
    Action("ledger", ("L", "f2"), "ledger", "Show the ledger", "everywhere", twin="ledger"),
    Action("next_theme", ("T",), "theme", "Dark, light (projector), high contrast", "everywhere"),
    Action("picture", ("f12",), "picture", "Save the screen as an SVG file", "everywhere"),
    Action("help", ("question_mark", "f1"), "help", "Show every action", "everywhere"),
    Action("leave_ledger", ("escape",), "back", "Back to the main screen", "ledger"),
    Action("leave_card", ("escape",), "back", "Back to the screen before", "card"),
    Action("copy_record", ("y",), "copy", "Copy the record's line (your terminal must allow it)", "card"),
    Action("interrupt", ("ctrl+c",), "stop, quit", "Stop the run; twice: quit", "everywhere"),
    Action(
        "leave_program",
        ("q", "ctrl+q"),
        "quit",
        "Quit; a run that is going leaves a cancelled record",
        "everywhere",
    ),
)

MAX_HINTS = 6
_KEY_NAMES = {"slash": "/", "question_mark": "?", "escape": "esc", "enter": "enter"}


def action(action_id: str, where: Where | None = None) -> Action:
    """The action with this id; KeyError when there is none."""
    for one in ACTIONS:
        if one.id == action_id and where in (None, one.where):
            return one
    raise KeyError(action_id)


def actions_in(*places: Where) -> tuple[Action, ...]:
    """The actions of these places, in order."""
    return tuple(one for one in ACTIONS if one.where in places)


def key_name(key: str) -> str:
    """A key as it is written on screens: `?`, `^c`, `F5`."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    if len(key) > 1 and key[0] == "f" and key[1:].isdigit():
        return key.upper()
    return _KEY_NAMES.get(key, key)


def markdown_table(actions: Iterable[Action] = ACTIONS) -> str:
    """The keys as a Markdown table, for the README."""
    lines = ["| key | does | on the command line |", "|---|---|---|"]
    for one in actions:
        twin = f"`workbench {one.twin}`" if one.twin else ""
        lines.append(f"| `{one.shown_keys}` | {one.help} | {twin} |")
    return "\n".join(lines)
