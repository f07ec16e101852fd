"""A ranking on a number line: who said what, how far from the truth, the nearest first and marked by a sign.

The line is logarithmic: twice as much lies as far from the truth as half. Legible without colour.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from widgets.line_list import Piece, fit, fit_right
from widgets.visible import visible

WIDEST_FACTOR = 10.0
"""A guess that is more times off stands at the end of the line, as an arrow."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One row: a place, a name, the figure that was said, words for the error, and said / true."""

    place: int
    name: str
    value: str
    error: str
    ratio: float


class Ranking(Widget):
    """Rows of `Ranked`, best first, as tall as they need; every first place has a star.

    Rows stand apart where the container has room for that.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"ranking--{part}" for part in ("header", "first", "line", "truth")
    }
    DEFAULT_CSS = """
    Ranking {
        height: auto;
        &> .ranking--header { color: $text-muted; }
        &> .ranking--first { color: $text-success; text-style: bold; }
        &> .ranking--line { color: $text-muted; }
        &> .ranking--truth { color: $text-accent; text-style: bold; }
    }
    """

    def __init__(
        self, titles: tuple[str, str, str], ranked: Sequence[Ranked] = (), *, id: str | None = None
    ) -> None:
        """`titles` stand over names, figures and errors."""
        super().__init__(id=id)
        self._titles = titles
        self._ranked = tuple(ranked)
        self._pitch = 1

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """One row for each, or two."""
        self._pitch = 2 if 2 * len(self._ranked) + 1 <= container.height else 1
        return 1 + self._pitch * len(self._ranked)

    def render_line(self, y: int) -> Strip:
        """One row of the terminal."""
        width, base = self.size.width, self.rich_style
        index, between = divmod(y - 1, self._pitch)
        if y == 0:
            pieces = self.draw_header(width)
        elif between != self._pitch - 1 or index >= len(self._ranked):
            pieces = []
        else:
            pieces = self.draw_row(self._ranked[index], width)
        segments = [
            Segment(text, self.get_component_rich_style(f"ranking--{part}") if part else base)
            for text, part in pieces
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def draw_header(self, width: int) -> list[Piece]:
        """Titles, and which end of the line is which."""
        name, value, error, line = self._layout(width)
        first, second, third = self._titles
        half = line // 2
        scale = fit("too low", half) + fit_right("too high", line - half) if line > 16 else ""
        words = f"{'':{self._before}}{fit(first, name)} {fit_right(second, value)}  {fit(third, error)} "
        return [(words, "header"), (scale, "header")]

    def draw_row(self, one: Ranked, width: int) -> list[Piece]:
        """Place, name, figure, error, and where the figure lies on the line."""
        name, value, error, line = self._layout(width)
        star = "★" if one.place == 1 else " "
        words = (
            f"{fit(visible(one.name, name), name)} {fit_right(one.value, value)}  {fit(one.error, error)} "
        )
        row = f"{star} {one.place:>{self._before - 4}}. {words}"
        return [(row, "first" if one.place == 1 else ""), *_line(one.ratio, line)]

    @property
    def _before(self) -> int:
        """Cells of star and place."""
        return max(2, len(str(max((one.place for one in self._ranked), default=0)))) + 4

    def _layout(self, width: int) -> tuple[int, int, int, int]:
        """Cells of name, figure, error and line; the line goes first where room is short."""
        value = max([len(one.value) for one in self._ranked] + [len(self._titles[1])])
        error = max([len(one.error) for one in self._ranked] + [len(self._titles[2])])
        longest = max([len(one.name) for one in self._ranked] + [len(self._titles[0])])
        spare = width - self._before - value - 4 - error
        name = max(4, min(longest, 20, spare))
        return name, value, error, max(0, spare - name)


def _line(ratio: float, cells: int) -> list[Piece]:
    """The number line as pieces: dots, the truth in the middle, the guess; together where they meet."""
    if cells < 8:
        return []
    truth, at = cells // 2, _position(ratio, cells)
    guess = "◆" if at == truth else "◀" if at == 0 else "▶" if at == cells - 1 else "●"
    signs = {truth: ("┃", "truth"), at: (guess, "truth" if at == truth else "")}
    pieces: list[Piece] = []
    start = 0
    for x in sorted(signs):
        pieces += [("·" * (x - start), "line"), signs[x]]
        start = x + 1
    return [*pieces, ("·" * (cells - start), "line")]


def _position(ratio: float, cells: int) -> int:
    """The cell of said / true on a line whose middle is the truth."""
    if not math.isfinite(ratio) or ratio <= 0:
        return cells - 1
    middle = cells // 2
    off = math.log(ratio) / math.log(WIDEST_FACTOR)
    room = middle if off < 0 else cells - 1 - middle
    return max(0, min(cells - 1, middle + round(off * room)))
