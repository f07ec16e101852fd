"""The live run: a row of words, the rate in large, the plot, the text if wanted."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from widgets.big_number import BigNumber
from widgets.rate_plot import RatePlot
from workbench.ledger.words import rate
from workbench.tui.desk import Desk
from workbench.tui.panes import say
from workbench.tui.words import chart_of, live_line


class RunPane(Vertical):
    """Paints the Run; blind, it paints only that a run is going."""

    BORDER_TITLE = "4 run"
    DEFAULT_CLASSES = "pane"

    def compose(self) -> ComposeResult:
        """Words, number, plot, text."""
        yield Static(id="live-line", markup=False)
        with Horizontal(id="live"):
            yield BigNumber("", "tok/s", id="live-number")
            yield RatePlot(id="plot")
        yield Static(id="live-text", markup=False)

    def paint(self, desk: Desk, *, blind: bool = False) -> None:
        """Show the run as it stands."""
        run, line = desk.run, self.query_one("#live-line", Static)
        plot = self.query_one(RatePlot)
        if run is None:
            say(line, "")
            plot.empty_text = "no run yet: lock a number (n), then r"
            plot.show(None)
            self._number("")
            self._text("", shown=False)
            return
        if blind and desk.running:
            say(line, "blind: nothing is shown until the run ends (s stops it)")
            plot.empty_text = "blind"
            plot.show(None)
            self._number("")
            return
        say(line, live_line(run), one_row=True)
        plot.empty_text = "no ceiling is shown before a number is locked (n)"
        plot.show(chart_of(desk))
        record = desk.record
        measured = record.generation_tps if record is not None else None
        shown = measured or (run.now.tps_mean if run.now is not None else None)
        self._number(rate(shown) if shown else "", "tok/s measured" if measured else "tok/s, mean so far")
        self._text(run.text, shown=desk.show_text)

    def _number(self, value: str, caption: str = "") -> None:
        number = self.query_one("#live-number", BigNumber)
        number.set_class(bool(value), "-shown")
        number.show(value, caption)

    def _text(self, text: str, *, shown: bool) -> None:
        static = self.query_one("#live-text", Static)
        static.set_class(shown, "-shown")
        if shown:
            say(static, "\n".join(text[-600:].split("\n")[-4:]))
