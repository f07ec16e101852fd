"""Which hints the main screen shows: what makes sense next, at most six. Pure."""

from widgets.key_hints import Hint
from workbench.tui.desk import Desk, cannot_run, run_is_off

PANES = ("models", "bytes", "prediction", "run", "power")


def tabs(current: str) -> list[Hint]:
    """The panes with their keys, the one in front marked."""
    labels = {"prediction": "predict"}
    return [
        Hint(str(i), labels.get(pane, pane), f"show_pane('{pane}')", marked=pane == current)
        for i, pane in enumerate(PANES, 1)
    ]


def hint_ids(desk: Desk) -> list[str]:
    """The ids of the hinted actions, quit always last."""
    if desk.running or desk.probing:
        ids = ["stop", "text"] if desk.running else ["stop"]
    elif desk.record is not None:
        ids = ["card", "again", "ledger", "choose"]
    elif desk.count is None:
        ids = ["choose", "filter", "mark_rung", "ledger"]
    elif cannot_run(desk):
        ids = ["choose", "filter", "order"]
    elif desk.locked:
        ids = ["run", "say_number", "text", "ledger"]
    elif not desk.figures:
        ids = ["bandwidth", "probe", "run", "order"]
    else:
        differs = desk.looked is not None and desk.looked.agreement.bytes_in_force is not None
        ids = ["say_number", "run", "bandwidth", "witness" if differs else "order"]
    return [*ids, "help", "leave_program"]


def off_ids(desk: Desk) -> list[str]:
    """The ids of actions that would only say why they do nothing."""
    return ["run"] if run_is_off(desk) else []
