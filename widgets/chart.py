"""What a rate plot draws, as plain data, and the drawing in braille: rows of (text, what it is) pieces.

A drawing is a function from a chart and a size to rows; it knows neither Textual nor colours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from widgets.visible import visible

Ink = Literal["axis", "now", "mean", "ceiling", "prediction", "blank"]
Row = list[tuple[str, Ink]]
Cells = dict[tuple[int, int], tuple[str, Ink]]


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal line with its words, for example `ceiling 183 (spec 819 GB/s)`."""

    y: float
    words: str
    ink: Literal["ceiling", "prediction"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A point that is told apart by its letter, not by colour."""

    x: float
    y: float
    letter: str
    ink: Ink = "now"


@dataclass(frozen=True, slots=True)
class Chart:
    """Points on fixed axes, x from 0 to `x_max`, y from 0 to `y_max`. `mean` is a line, `now` are dots.

    `marks` are lettered points; only the braille drawing has them.
    """

    x_max: float
    y_max: float
    now: tuple[tuple[float, float], ...] = ()
    mean: tuple[tuple[float, float], ...] = ()
    levels: tuple[Level, ...] = ()
    x_unit: str = "tokens"
    marks: tuple[Mark, ...] = ()


STROKE: dict[str, str] = {"ceiling": "━", "prediction": "╌"}
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def round_up(value: float) -> float:
    """The next number of the kind 1, 1.5, 2, 3, 4, 5, 6, 8 x 10^n: an axis that need not move soon."""
    if value <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(
        (step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= value), 10 * power
    )


def axis_text(value: float) -> str:
    """A number for an axis: short, without a needless point."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def draw_braille(chart: Chart, width: int, height: int) -> list[Row]:
    """The chart in braille dots, two by four a cell; `height` rows of `width` cells, axes included."""
    margin = max(len(axis_text(chart.y_max)), len(axis_text(chart.y_max / 2))) + 1
    columns, rows = width - margin, height - 1
    if columns < 8 or rows < 2:
        return [[(" " * width, "blank")] for _ in range(height)]
    cells: Cells = {}
    for level in chart.levels:
        row = cell_row(level.y, chart.y_max, rows)
        if row is not None:
            cells.update({(x, row): (STROKE[level.ink], level.ink) for x in range(columns)})
    for position, dots in _dots(chart.now, chart, columns, rows).items():
        cells[position] = (chr(0x2800 + dots), "now")
    for position, dots in _dots(chart.mean, chart, columns, rows, line=True).items():
        cells[position] = (chr(0x2800 + dots), "mean")
    level_rows = {level: cell_row(level.y, chart.y_max, rows) for level in chart.levels}
    for x, row, text, ink in placed_words(level_rows, columns, rows):
        cells.update({(x + i, row): (char, ink) for i, char in enumerate(text)})
    cells.update(_letters(chart, columns, rows))
    grid = [_left(chart, y, rows, margin) + _joined(cells, y, columns) for y in range(rows)]
    return [*grid, bottom_axis(chart, margin, columns)]


def cell_row(y: float, y_max: float, rows: int) -> int | None:
    """The row of cells on which the value `y` lies; None where it lies outside."""
    if not 0 <= y <= y_max:
        return None
    return min(rows - 1, int((1 - y / y_max) * rows))


def _dots(
    points: Sequence[tuple[float, float]], chart: Chart, columns: int, rows: int, *, line: bool = False
) -> dict[tuple[int, int], int]:
    wide, tall = columns * 2 - 1, rows * 4 - 1
    spots = [
        (round(min(1.0, x / chart.x_max) * wide), round((1 - min(1.0, max(0.0, y / chart.y_max))) * tall))
        for x, y in points
    ]
    if line:
        spots = [spot for a, b in pairwise(spots) for spot in _between(a, b)] or spots
    cells: dict[tuple[int, int], int] = {}
    for x, y in spots:
        cell = (x // 2, y // 4)
        cells[cell] = cells.get(cell, 0) | _DOTS[x % 2][y % 4]
    return cells


def _letters(chart: Chart, columns: int, rows: int) -> Cells:
    """Where the marks' letters stand: two that would share a cell stand beside each other."""
    cells: Cells = {}
    for mark in chart.marks:
        row = cell_row(min(mark.y, chart.y_max), chart.y_max, rows)
        if row is None or mark.x < 0:
            continue
        x = min(columns - 1, round(min(1.0, mark.x / chart.x_max) * (columns * 2 - 1)) // 2)
        while (x, row) in cells and x < columns - 1:
            x += 1
        cells[x, row] = (mark.letter[:1], mark.ink)
    return cells


def _between(a: tuple[int, int], b: tuple[int, int]) -> list[tuple[int, int]]:
    steps = max(abs(b[0] - a[0]), abs(b[1] - a[1]), 1)
    return [
        (a[0] + round((b[0] - a[0]) * i / steps), a[1] + round((b[1] - a[1]) * i / steps))
        for i in range(steps + 1)
    ]


def placed_words(
    level_rows: dict[Level, int | None], columns: int, rows: int
) -> list[tuple[int, int, str, Ink]]:
    """Where the levels' words go: ceilings left, predictions right, so that two may share a row."""
    placed: list[tuple[int, int, str, Ink]] = []
    taken: dict[int, list[tuple[int, int]]] = {}
    for level, level_row in level_rows.items():
        if level_row is None:
            continue
        text = f" {visible(level.words)} "[:columns]
        wanted = 1 if level.ink == "ceiling" else columns - len(text) - 1
        x = max(0, min(wanted, columns - len(text)))
        for row in (level_row, level_row + 1, level_row - 1, level_row + 2):
            free = all(x + len(text) <= start or x >= end for start, end in taken.get(row, []))
            if 0 <= row < rows and free:
                taken.setdefault(row, []).append((x, x + len(text)))
                placed.append((x, row, text, level.ink))
                break
    return placed


def _left(chart: Chart, y: int, rows: int, margin: int) -> Row:
    value = {0: chart.y_max, rows // 2: chart.y_max / 2}.get(y)
    text = "" if value is None else axis_text(value)
    return [(f"{text:>{margin - 1}}{'┤' if text else '│'}", "axis")]


def bottom_axis(chart: Chart, margin: int, columns: int) -> Row:
    """The x axis: 0, the middle and the end, the unit beside the end."""
    end = f"{axis_text(chart.x_max)} {chart.x_unit}"
    middle = axis_text(chart.x_max / 2)
    line = ["─"] * columns
    for x, text in ((columns // 2 - len(middle) // 2, middle), (columns - len(end), end)):
        line[x : x + len(text)] = list(text)
    return [(f"{'0':>{margin - 1}}└" + "".join(line[:columns]), "axis")]


def _joined(cells: Cells, y: int, columns: int) -> Row:
    return joined([cells.get((x, y), (" ", "blank")) for x in range(columns)])


def joined(cells: Sequence[tuple[str, Ink]]) -> Row:
    """Neighbours of one ink in one piece; a blank takes the ink before it: fewer pieces, fewer bytes."""
    pieces: list[list[str]] = []
    inks: list[Ink] = []
    for char, ink in cells:
        if inks and (ink == inks[-1] or ink == "blank"):
            pieces[-1].append(char)
        else:
            pieces.append([char])
            inks.append(ink)
    return [("".join(chars), ink) for chars, ink in zip(pieces, inks, strict=True)]
