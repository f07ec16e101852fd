"""A one-row gauge for a fraction: a bar to 100 %, the figure, words. Over 100 % shows in characters too."""

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from widgets.line_list import fit
from widgets.visible import visible

_EIGHTHS = " ▏▎▍▌▋▊▉█"


class Gauge(Widget):
    """`fraction` of `label`; None draws nothing but the label."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"gauge--bar", "gauge--rest", "gauge--over"}
    DEFAULT_CSS = """
    Gauge {
        height: 1;
        &> .gauge--bar { color: $text-accent; }
        &> .gauge--rest { color: $text-muted; }
        &> .gauge--over { color: $text-error; text-style: bold; }
    }
    """

    fraction: reactive[float | None] = reactive(None)
    label: reactive[str] = reactive("")

    def __init__(self, label: str = "", fraction: float | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(Gauge.label, label)
        self.set_reactive(Gauge.fraction, fraction)

    def render_line(self, y: int) -> Strip:
        """The bar, the per cent, the words."""
        width, base = self.size.width, self.rich_style
        label = visible(self.label) if self.label else ""
        if y or self.fraction is None:
            return Strip([Segment(fit(label if not y else "", width), base)])
        over = self.fraction > 1
        figure = f" {self.fraction * 100:.0f} % "
        cells = max(4, min(20, width // 4, width - len(figure) - cell_len(label)))  # words before bar
        bar, rest = bar_text(self.fraction, cells)
        part = self._style("over" if over else "bar")
        segments = [
            Segment(bar, part),
            Segment(rest, self._style("rest")),
            Segment(figure, part if over else base),
            Segment(fit(label, max(0, width - cells - len(figure))), base),
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"gauge--{part}")


def bar_text(fraction: float, cells: int) -> tuple[str, str]:
    """The filled and the empty part of a bar; over 100 % its end is `▶▶`."""
    if fraction > 1:
        return "█" * (cells - 2) + "▶▶", ""
    eighths = round(max(0.0, fraction) * cells * 8)
    full, part = divmod(eighths, 8)
    bar = "█" * full + (_EIGHTHS[part] if part else "")
    return bar, "·" * (cells - len(bar))
