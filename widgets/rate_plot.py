"""The live plot of a rate on fixed axes. Only rows that changed are sent to the terminal.

Two drawings of the same chart: plotext's where its bytes fit the link, braille rows in few pieces where they
do not. `tests/bench/terminal_bytes.py` measures them.
"""

from collections.abc import Callable
from typing import ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from widgets.chart import Chart, Row, draw_braille

PLOTEXT_CELLS = 80 * 24
"""Up to this many cells plotext's drawing keeps the byte budget."""


class RatePlot(Widget):
    """Draws a `Chart`. Without one it says what would appear here."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rate-plot--axis",
        "rate-plot--now",
        "rate-plot--mean",
        "rate-plot--ceiling",
        "rate-plot--prediction",
        "rate-plot--empty",
    }
    DEFAULT_CSS = """
    RatePlot {
        width: 1fr;
        height: 1fr;
        &> .rate-plot--axis { color: $text-muted; }
        &> .rate-plot--now { color: $text; }
        &> .rate-plot--mean { color: $text-accent; }
        &> .rate-plot--ceiling { color: #e69f00; }
        &> .rate-plot--prediction { color: #56b4e9; }
        &> .rate-plot--empty { color: $text-muted; }
    }
    """

    drawing: reactive[Literal["auto", "plotext", "braille"]] = reactive("auto")
    empty_text: reactive[str] = reactive("nothing to plot yet")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._chart: Chart | None = None
        self._rows: list[Row] = []

    @property
    def chart(self) -> Chart | None:
        """What is drawn."""
        return self._chart

    def show(self, chart: Chart | None) -> None:
        """Draw this chart; rows that look as before are not repainted."""
        if chart == self._chart:
            return
        self._chart = chart
        before, self._rows = self._rows, self._draw()
        if len(before) != len(self._rows):
            self.refresh()
            return
        changed = [y for y, row in enumerate(self._rows) if row != before[y]]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def on_resize(self) -> None:
        """The drawing depends on the size."""
        self._rows = self._draw()
        self.refresh()

    def watch_drawing(self) -> None:
        """Draw anew in the other manner."""
        self._rows = self._draw()

    def _draw(self) -> list[Row]:
        width, height = self.size
        if self._chart is None or not width or not height:
            return []
        return self._drawer(width, height)(self._chart, width, height)

    def _drawer(self, width: int, height: int) -> Callable[[Chart, int, int], list[Row]]:
        wanted = self.drawing
        if wanted == "auto":
            wanted = "plotext" if width * height <= PLOTEXT_CELLS else "braille"
        if wanted == "braille" or width < 24 or height < 10:
            return draw_braille
        from widgets.plotext_chart import draw_plotext  # plotext: not before a plot is drawn

        return draw_plotext

    def render_line(self, y: int) -> Strip:
        """One row of the drawing."""
        width, base = self.size.width, self.rich_style
        if y >= len(self._rows):
            if self._chart is None and y == self.size.height // 2:
                style = self._style("empty")
                return Strip([Segment(self.empty_text.center(width)[:width], style)]).adjust_cell_length(
                    width, base
                )
            return Strip.blank(width, base)
        segments = [Segment(text, self._style(ink)) for text, ink in self._rows[y]]
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, ink: str) -> Style:
        return self.get_component_rich_style(f"rate-plot--{ink}", default=self.rich_style)
