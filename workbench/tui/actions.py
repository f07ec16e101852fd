"""Every action of the screens, once: its keys, its label, its help, its twin on the command line.

Bindings, the hint row, the palette, the help screen and the README's table are made from this list.
"""

from dataclasses import dataclass
from typing import Literal

Where = Literal[
    "everywhere",
    "main",
    "ledger",
    "witness",
    "ladder",
    "card",
    "difference",
    "fit",
    "people",
    "round",
    "compare",
    "replay",
]


@dataclass(frozen=True, slots=True)
class Action:
    """One action. Its method is `action_` + `call`; `twin` is the command line that does the same.

    `opens` marks a door out of the main screen (`screens.doors`).

    `id` is also its name in the settings' `[keys]`, where a user gives it another key.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    where: Where = "main"
    twin: str = ""
    opens: bool = False

    @property
    def call(self) -> str:
        """What Textual calls: the id, `open_door('card')`, or `show_pane('models')` for `pane_models`."""
        if self.opens:
            return f"open_door('{self.id}')"
        kind, _, name = self.id.partition("_")
        return f"show_{kind}('{name}')" if kind in {"pane", "page"} else self.id

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
    Action("mark_rung", ("m",), "mark", "Mark the checkpoint under the cursor for a ladder"),
    Action(
        "ladder",
        ("M",),
        "ladder",
        "Predict and run the marked checkpoints in one go",
        twin="ladder CHECKPOINT CHECKPOINT",
        opens=True,
    ),
    Action("filter", ("slash",), "filter", "Filter the models, or the tensors when the tree has the focus"),
    Action("order", ("o",), "order", "Tree: largest first, or model order"),
    Action("bandwidth", ("b",), "bandwidth", "Say the memory bandwidth and where the figure is from"),
    Action(
        "probe",
        ("p",),
        "probe",
        "Measure the achieved bandwidth of this machine (about 15 s)",
        twin="bandwidth",
    ),
    Action("say_number", ("n",), "number", "Say your number; enter locks it, until the model loads"),
    Action(
        "run",
        ("r", "f5"),
        "run",
        "Load, warm up, measure, record",
        twin="measure CHECKPOINT --predict N",
    ),
    Action(
        "stop", ("s",), "stop", "Stop the run (its record is kept), the probe, the look at the decode graph"
    ),
    Action(
        "energy",
        ("E",),
        "energy",
        "Add an energy pass to the run: how long, after how much idle, which meter",
        twin="measure --energy",
        opens=True,
    ),
    Action("text", ("t",), "text", "Show the generated text during runs"),
    Action(
        "witness",
        ("w",),
        "witness",
        "Show what the decode graph says of the count",
        twin="audit CHECKPOINT --witness",
        opens=True,
    ),
    Action("again", ("a",), "again", "Start over with this checkpoint: a new prediction, a new run"),
    Action("card", ("c",), "card", "Show the last record as a card", twin="ledger card ID", opens=True),
    Action("copy", ("y",), "copy", "Copy the record's line (your terminal must allow it)"),
    Action("everybody", ("e",), "ranking", "Rank everybody's predictions, after the reveal", opens=True),
    Action(
        "compare",
        ("v",),
        "compare",
        "Set another checkpoint beside this one: bytes by role, two predictions",
        twin="compare LEFT RIGHT",
        opens=True,
    ),
    Action("ledger", ("L", "f2"), "ledger", "Show the ledger", "everywhere", twin="ledger"),
    Action("fit", ("F", "f3"), "fit", "Fit seconds a token over bytes a token", "everywhere", twin="fit"),
    Action(
        "people",
        ("P", "f4"),
        "people",
        "Show how far off people's predictions are, over time",
        "everywhere",
        twin="fit --calibration",
    ),
    Action("next_theme", ("T",), "theme", "Dark, light (projector), high contrast", "everywhere"),
    Action("picture", ("f12",), "picture", "Save the screen as an SVG file", "everywhere"),
    Action("help", ("question_mark", "f1"), "help", "Show every action", "everywhere"),
    Action(
        "show_card", ("enter",), "card", "Show the record under the cursor", "ledger", twin="ledger card ID"
    ),
    Action(
        "filter_records",
        ("slash",),
        "filter",
        "Filter: words, machine: model: status: verdict: since: until: rule: experiment: discarded:",
        "ledger",
        twin="ledger list WORDS",
    ),
    Action("mark", ("space",), "mark", "Mark the record under the cursor, two at most", "ledger"),
    Action(
        "compare_marked",
        ("equals_sign",),
        "compare",
        "Compare the two marked records field by field",
        "ledger",
        twin="ledger compare ID ID",
    ),
    Action(
        "discard",
        ("d",),
        "discard",
        "Discard the record under the cursor, with a reason",
        "ledger",
        twin="ledger discard ID --reason WORDS",
    ),
    Action("read_again", ("r",), "read again", "Read the file again", "ledger"),
    Action("leave_ledger", ("escape",), "back", "Back to the main screen", "ledger"),
    Action("say_rung", ("n",), "number", "Say your number for the checkpoint under the cursor", "ladder"),
    Action(
        "climb", ("r", "f5"), "climb", "Load and measure one after the other, once all are locked", "ladder"
    ),
    Action("stop_climb", ("s",), "stop", "Stop the ladder and keep every record", "ladder"),
    Action("show_rung", ("enter",), "card", "Show the record under the cursor as a card", "ladder"),
    Action("leave_ladder", ("escape",), "back", "Back to the main screen", "ladder"),
    Action("leave_witness", ("escape",), "back", "Back to the main screen", "witness"),
    Action(
        "report",
        ("r",),
        "report",
        "Show the record as a report, or as a card",
        "card",
        twin="ledger report ID",
    ),
    Action("rank_record", ("e",), "ranking", "Rank everybody's predictions", "card"),
    Action(
        "replay_record",
        ("R",),
        "replay",
        "Play the record through the screens",
        "card",
        twin="replay LEDGER --record ID",
    ),
    Action("leave_card", ("escape",), "back", "Back to the screen before", "card"),
    Action("copy_record", ("y",), "copy", "Copy the record's line (your terminal must allow it)", "card"),
    Action("leave_difference", ("escape",), "back", "Back to the ledger", "difference"),
    Action("page_time", ("1",), "time", "Show seconds a token against bytes", "fit"),
    Action("page_fraction", ("2",), "fraction", "Show the fraction of the ceiling against size", "fit"),
    Action("page_table", ("3",), "table", "Show every model's residual and leave-one-out", "fit"),
    Action("leave_fit", ("escape",), "back", "Back to the screen before", "fit"),
    Action("leave_people", ("escape",), "back", "Back to the screen before", "people"),
    Action("leave_round", ("escape",), "back", "Back to the screen before", "round"),
    Action("second", ("v",), "second", "Choose the checkpoint to compare with", "compare"),
    Action(
        "run_pair",
        ("r", "f5"),
        "run both",
        "Lock both numbers, then load and measure one after the other",
        "compare",
    ),
    Action(
        "take_second",
        ("x",),
        "take it",
        "Go on with the other checkpoint; its number waits in the box",
        "compare",
    ),
    Action("leave_compare", ("escape",), "back", "Back to the main screen", "compare"),
    Action("pause", ("space",), "pause", "Hold the replay, or go on", "replay"),
    Action("faster", ("plus",), "faster", "Play twice as fast", "replay"),
    Action("slower", ("minus",), "slower", "Play half as fast", "replay"),
    Action("leave_replay", ("escape",), "back", "Leave the replay", "replay"),
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
_KEY_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "escape": "esc",
    "equals_sign": "=",
    "plus": "+",
    "minus": "-",
}


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
