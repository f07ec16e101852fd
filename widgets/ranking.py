"""A ranking on a number line: who said what, how far from the truth, the nearest first and marked by a sign.

The line is logarithmic: twice as much lies as far from the truth as half. Legible without colour.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from widgets.line_list import LineList, Piece, fit, fit_right
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


class Ranking(LineList):
    """Rows of `Ranked`, best first; every first place has a star."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"ranking--first", "ranking--line", "ranking--truth"}
    DEFAULT_CSS = """
    Ranking {
        &> .ranking--first { color: $text-success; text-style: bold; }
        &> .ranking--line { color: $text-muted; }
        &> .ranking--truth { color: $text-accent; text-style: bold; }
    }
    """

    def __init__(self, titles: tuple[str, str, str], *, id: str | None = None) -> None:
        """`titles` stand over names, figures and errors."""
        super().__init__(id=id)
        self._titles = titles
        self._ranked: tuple[Ranked, ...] = ()

    def show(self, ranked: Sequence[Ranked]) -> None:
        """Show these rows."""
        self._ranked = tuple(ranked)
        self.lines_changed(0)

    @property
    def line_count(self) -> int:
        """Rows."""
        return len(self._ranked)

    def draw_header(self, width: int) -> Sequence[Piece]:
        """Titles."""
        if not self._ranked:
            return []
        name, value, error, line = self._layout(width)
        first, second, third = self._titles
        half = line // 2
        scale = fit("too low", max(0, half)) + fit_right("too high", max(0, line - half)) if line > 16 else ""
        pieces = [(f"{'':{self._before}}{fit(first, name)} {fit_right(second, value)}  {fit(third, error)} ", "")]
        return [*pieces, (fit(scale, line), "")]

    def draw_line(self, index: int, width: int) -> Sequence[Piece]:
        """Place, name, figure, error, and where the figure lies on the line."""
        one = self._ranked[index]
        name, value, error, line = self._layout(width)
        first = "ranking--first" if one.place == 1 else ""
        star = "★" if one.place == 1 else " "
        words = (
            f"{fit(visible(one.name, name), name)} {fit_right(one.value, value)}  {fit(one.error, error)} "
        )
        return [(f"{star} {one.place:>{self._before - 4}}. {words}", first), *self._line(one.ratio, line)]

    def _line(self, ratio: float, cells: int) -> list[Piece]:
        if cells < 8:
            return [(" " * max(0, cells), "")]
        marks = ["·"] * cells
        truth = cells // 2
        at = _position(ratio, cells)
        marks[at] = "◀" if at == 0 else "▶" if at == cells - 1 else "●"
        if at == truth:
            return [
                ("".join(marks[:at]), "ranking--line"),
                ("◆", "ranking--first"),
                ("".join(marks[at + 1 :]), "ranking--line"),
            ]
        inks = {at: "", truth: "ranking--truth"}
        marks[truth] = "┃"
        pieces: list[Piece] = []
        for x, mark in enumerate(marks):
            ink = inks.get(x, "ranking--line")
            if pieces and pieces[-1][1] == ink:
                pieces[-1] = (pieces[-1][0] + mark, ink)
            else:
                pieces.append((mark, ink))
        return pieces

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


def _position(ratio: float, cells: int) -> int:
    """The cell of said / true on a line whose middle is the truth."""
    if not math.isfinite(ratio) or ratio <= 0:
        return cells - 1
    middle = cells // 2
    off = math.log(ratio) / math.log(WIDEST_FACTOR)
    room = middle if off < 0 else cells - 1 - middle
    return max(0, min(cells - 1, middle + round(off * room)))
