"""The energy pass is asked for here: how long, after how much idle, and with which meter."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from widgets.fact_list import FactList
from workbench.errors import UsageError
from workbench.power.choice import Choice
from workbench.tui.energy_wish import IDLE_S, EnergyWish, parse_wish
from workbench.tui.panes import say
from workbench.tui.power_words import source_facts

BOXES = ("window", "idle", "watts", "method")


class EnergyScreen(ModalScreen[tuple[EnergyWish | None] | None]):
    """Four boxes; enter takes what they say, escape leaves everything as it was (None)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Leave", show=False),
        Binding("down", "app.focus_next", "Next box", show=False),
        Binding("up", "app.focus_previous", "Box before", show=False),
    ]

    def __init__(self, choice: Choice, wish: EnergyWish | None) -> None:
        super().__init__()
        self._choice, self._wish = choice, wish

    def compose(self) -> ComposeResult:
        """Boxes, what is wrong with them, what measures here."""
        window, idle, watts, method = _said(self._wish)
        needed = f"{self._choice.window_for_all_s:g}, what the sources here need"
        with VerticalScroll(id="energy") as box:
            box.border_title = "energy pass"
            box.border_subtitle = "enter takes it, esc leaves"
            yield Static("seconds of steady decode after the repeats; 0: no energy pass", classes="label")
            yield _box("window", needed, window)
            yield Static("seconds of idle before it, the model loaded", classes="label")
            yield _box("idle", f"{IDLE_S:g}", idle)
            yield Static("a meter of your own: its watts, or a command that prints them", classes="label")
            yield _box("watts", "none", watts)
            yield Static("which meter, and what stands behind it", classes="label")
            yield _box("method", "e.g. Shelly plug, the Mac without its monitor", method)
            yield Static(id="energy-wrong", markup=False)
            yield FactList(source_facts(self._choice))

    def on_mount(self) -> None:
        """Into the first box."""
        self.query_one("#window", Input).focus()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        said = [self.query_one(f"#{name}", Input).value for name in BOXES]
        try:
            wish = parse_wish(said[0], said[1], said[2], said[3], self._choice)
        except UsageError as error:
            say(self.query_one("#energy-wrong", Static), error.words)
            self.app.bell()
        else:
            self.dismiss((wish,))


def _said(wish: EnergyWish | None) -> tuple[str, str, str, str]:
    """What the boxes hold for a wish that was said before."""
    if wish is None:
        return "", "", "", ""
    meter = wish.meter
    watts = "" if meter is None else meter.command or f"{meter.watts:g}"
    return f"{wish.window_s:g}", f"{wish.idle_s:g}", watts, meter.method if meter is not None else ""


def _box(name: str, placeholder: str, value: str) -> Input:
    return Input(value, placeholder=placeholder, compact=True, max_length=200, id=name)
