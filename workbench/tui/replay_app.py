"""The app around a replay: no look around this machine, no lock is closed, nothing is appended."""

from textual import work
from textual.screen import Screen

from workbench.ledger.record import Record
from workbench.protocol.playback import Tempo
from workbench.tui.app import WorkbenchApp, on_terminal
from workbench.tui.options import Options
from workbench.tui.screens.replay import ReplayScreen


class ReplayApp(WorkbenchApp):
    """Plays one record; the others of its ledger can be chosen."""

    TITLE = "decode workbench: replay"

    def __init__(self, options: Options, record: Record, because: str | None, tempo: Tempo) -> None:
        super().__init__(options)
        self._record, self._because, self._tempo = record, because, tempo

    def get_default_screen(self) -> Screen[None]:
        """The replay is the first screen."""
        self.main_screen = ReplayScreen(self.options, self._record, self._because, tempo=self._tempo)
        return self.main_screen

    @work(thread=True, group="look", exit_on_error=False)
    def _look_around(self) -> None:
        """Open runs and power sources are no business of a replay."""


def run(options: Options, record: Record, because: str | None = None, speed: float = 1.0) -> int:
    """Play a record on this terminal; returns the exit code, 128 + n after a signal."""
    return on_terminal(ReplayApp(options, record, because, Tempo(speed)))
