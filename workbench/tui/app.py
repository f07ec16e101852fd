"""The app around the screens: themes, signals, notifications, the way out. The screens do the rest."""

import asyncio
import signal
import time
from collections.abc import Iterable
from functools import partial
from typing import ClassVar, Protocol, runtime_checkable

from textual import on, work
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.notifications import SeverityLevel
from textual.screen import Screen

from widgets.key_hints import KeyHints
from widgets.visible import visible
from workbench.tui import lost_terminal, messages, threads
from workbench.tui.actions import ACTIONS
from workbench.tui.bindings import bindings
from workbench.tui.conductor import Make, protocol_measurement
from workbench.tui.options import Options
from workbench.tui.screens.main import MainScreen
from workbench.tui.themes import DARK, THEMES, theme_name

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The ctrl+c key is none of them: the terminal hands it over as a key. SIGINT comes from other programs."""
WIDTHS = [(0, "-narrow"), (120, "-wide")]
HEIGHTS = [(0, "-tiny"), (16, "-low"), (30, "-tall")]
LOOK_AFTER_S = 0.3
"""Recovery and the search for power sources wait until the first screen stands."""
LAST_WORDS_S = 5.0
"""How long a way out may wait for a run's record."""


@runtime_checkable
class Running(Protocol):
    """A screen on which something may run."""

    @property
    def is_going(self) -> bool:
        """Whether something does."""

    async def stop_going(self) -> None:
        """Stop it, keep its record."""

    async def shut_down(self, reason: str = "") -> None:
        """Leave no process and no lock without its record behind; `reason`: what ended it, if no key."""


class WorkbenchApp(App[None]):
    """The decode workbench in a terminal."""

    TITLE = "decode workbench"
    CSS_PATH = "workbench.tcss"
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("everywhere")]

    def __init__(self, options: Options, make: Make = protocol_measurement) -> None:
        super().__init__()
        self.options = options
        self._make = make
        self._interrupted_at = 0.0
        self._leaving = False
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = theme_name(options.theme or options.settings.theme)
        self.animation_level = "none"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Textual's own themes, chosen in the palette, know nothing of roles and ceilings."""
        return dict(DARK.variables)

    def refresh_css(self, animate: bool = True) -> None:
        """Before the first screen only the app itself is styled: its rules would be parsed twice."""
        if self._screen_stacks.get(self.current_mode):
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())
            self.stylesheet.update(self, animate=False)

    def get_default_screen(self) -> Screen[None]:
        """The main screen is the first one; nothing is painted before it."""
        self.main_screen = MainScreen(self.options, self._make)
        # As Textual will find them at the first resize: set beforehand, they cost no second pass of styles.
        width, height = self.size
        for extent, breakpoints in ((width, WIDTHS), (height, HEIGHTS)):
            self.main_screen.add_class(next(name for at, name in reversed(breakpoints) if extent >= at))
        return self.main_screen

    def on_mount(self) -> None:
        """Keys and signals; then look around in a thread."""
        self.set_keymap(dict(self.options.settings.keys))
        loop = asyncio.get_running_loop()
        for number in ENDING_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup asked for it
                loop.add_signal_handler(number, partial(self._on_signal, number))
        for warning in self.options.settings.warnings:
            self.notify(warning, severity="warning", markup=False)
        self.set_timer(LOOK_AFTER_S, self._look_around)

    @work(thread=True, group="look", exit_on_error=False)
    def _look_around(self) -> None:
        threads.recover(self.options.ledger, self.main_screen.post_message)
        threads.look_for_power(self.main_screen.post_message)

    @on(messages.Notice)
    def _notice(self, event: messages.Notice) -> None:
        severity: SeverityLevel = "warning" if event.problem else "information"
        self.notify(visible(event.text, 1000), severity=severity, markup=False, timeout=8)

    @on(KeyHints.Pressed)
    async def _hint_pressed(self, event: KeyHints.Pressed) -> None:
        """A click on a hint is its key: the action of the screen on top, else the app's."""
        if not await self.run_action(event.action, self.screen):
            await self.run_action(event.action)

    # --- the ways out ---

    def _on_signal(self, number: signal.Signals) -> None:
        leaving = self.leave(128 + number, f"Ended by {number.name}.")
        self.run_worker(leaving, group="leave", exit_on_error=False)

    async def leave(self, code: int = 0, reason: str = "") -> None:
        """End a run and keep its record, which says `reason`; restore the terminal, exit with `code`."""
        if self._leaving:
            return
        self._leaving = True
        try:
            await asyncio.wait_for(self._shut_down(reason), LAST_WORDS_S)
        finally:
            self.exit(return_code=code)

    async def _shut_down(self, reason: str) -> None:
        """Whatever screens run something end it, and keep its records."""
        running = [one for one in self.screen_stack if isinstance(one, Running)]
        await asyncio.gather(*(one.shut_down(reason) for one in running))

    async def action_leave_program(self) -> None:
        """`q`."""
        await self.leave()

    async def action_interrupt(self) -> None:
        """ctrl+c: stop what runs; twice within two seconds: quit."""
        now = time.monotonic()
        on_top = self.screen if isinstance(self.screen, Running) else self.main_screen
        if on_top.is_going and now - self._interrupted_at > 2:
            await on_top.stop_going()
            self.notify("stopping; ctrl+c again quits", markup=False)
        elif now - self._interrupted_at < 2:
            await self.leave()
        else:
            self.notify("ctrl+c again quits", markup=False, timeout=2)
        self._interrupted_at = now

    # --- what is the same on every screen ---

    def action_help(self) -> None:
        """Every action."""
        from workbench.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen())

    def action_ledger(self) -> None:
        """From the main screen the ledger knows what to hide; elsewhere go there through it."""
        from workbench.tui.screens.ledger import LedgerScreen

        if not isinstance(self.screen, LedgerScreen) and self._may_be_seen():
            self.main_screen.action_ledger()

    def action_fit(self) -> None:
        """Every group's fit, but those that give away the number that is still to be said."""
        from workbench.tui.hidden import hidden_on
        from workbench.tui.screens.fit import FitScreen

        if not isinstance(self.screen, FitScreen) and self._may_be_seen():
            self.push_screen(FitScreen(self.options, hidden_on(self.main_screen.desk)))

    def action_people(self) -> None:
        """How far off people's predictions are."""
        from workbench.tui.hidden import hidden_on
        from workbench.tui.screens.people import PeopleScreen

        if not isinstance(self.screen, PeopleScreen) and self._may_be_seen():
            self.push_screen(PeopleScreen(self.options, hidden_on(self.main_screen.desk)))

    def _may_be_seen(self) -> bool:
        """Whether earlier results may be looked at from the screen on top; it says why not."""
        why_not = getattr(self.screen, "keeps_shut", "")
        if why_not:
            self.notify(why_not, severity="warning", markup=False)
        return not why_not

    def action_next_theme(self) -> None:
        """Dark, light, high contrast, dark."""
        names = [theme.name for theme in THEMES]
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]

    def action_picture(self) -> None:
        """An SVG of the screen in the current directory."""
        try:
            path = self.save_screenshot()
        except OSError as error:
            self.notify(f"The picture could not be saved: {error}", severity="warning", markup=False)
        else:
            self.notify(f"Saved {path}", markup=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: the actions that this screen has."""
        for one in ACTIONS:
            method = f"action_{one.call.split('(')[0]}"
            owner = next((node for node in (screen, self) if hasattr(node, method)), None)
            if owner is not None and one.id != "interrupt":
                where = "app" if owner is self else "screen"
                yield SystemCommand(one.label, one.help, partial(self.run_action, f"{where}.{one.call}"))


def run(options: Options) -> int:
    """Run the screens; returns the exit code, 128 + n after a signal."""
    return on_terminal(WorkbenchApp(options))


def on_terminal(app: WorkbenchApp) -> int:
    """Run an app for as long as its terminal lasts; returns the exit code, 128 + n after a signal."""
    lost_terminal.watch()
    try:
        app.run(mouse=app.options.mouse)
    finally:
        lost_terminal.leave_if_gone(app.return_code)
    return app.return_code or 0
