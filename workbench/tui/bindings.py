"""Textual bindings and hints, made from the actions."""

from collections.abc import Iterable

from textual.binding import Binding

from widgets.key_hints import Hint
from workbench.tui.actions import MAX_HINTS, Where, action, actions_in, key_name

PRIORITY = frozenset({"interrupt", "leave_program"})
"""Actions whose control keys work inside a text box too."""

TYPING = (
    Hint("enter", "take it", "app.simulate_key('enter')"),
    Hint("esc", "leave the box", "app.simulate_key('escape')"),
    Hint("^q", "quit", "app.leave_program"),
)
"""The hints while a text box has the focus: every other key is text there."""


def bindings(*places: Where) -> list[Binding]:
    """The bindings of the actions of these places. Control keys of PRIORITY go before any box."""
    made = []
    for one in actions_in(*places):
        keys = [key for key in one.keys if not _first(one.id, key)]
        if keys:
            made.append(Binding(",".join(keys), one.call, one.label, show=False, tooltip=one.help, id=one.id))
        first = [key for key in one.keys if _first(one.id, key)]
        if first:
            made.append(Binding(",".join(first), one.call, one.label, show=False, priority=True))
    return made


def hints(ids: Iterable[str], off: Iterable[str] = (), keys: dict[str, str] | None = None) -> list[Hint]:
    """Hints for these actions, at most six; `off` ones are shown as not available now."""
    unavailable = set(off)
    made = []
    for name in list(ids)[:MAX_HINTS]:
        one = action(name)
        key = (keys or {}).get(name, one.keys[0]).split(",")[0]
        made.append(Hint(key_name(key), one.label, one.call, on=name not in unavailable))
    return made


def _first(action_id: str, key: str) -> bool:
    return action_id in PRIORITY and key.startswith("ctrl+")
