"""A chart drawn by plotext: framed, with its own ticks. Colours are used as tags and come back as inks.

Imported when the first such plot is drawn: plotext costs start-up time that the first screen does not owe.
"""

import re

from textual_plotext.plot import Plot

from widgets.chart import STROKE, Chart, Ink, Row, axis_text, joined, placed_words

_NOW, _MEAN, _FIRST_LEVEL = 1, 2, 16
_STEPS = {"1.0": 5, "1.5": 3, "3.0": 3, "5.0": 5, "6.0": 3}
"""Steps of an axis by the first digits of its end: every tick is a round number."""
_COLOUR = re.compile(r"\x1b\[(?:38;5;(\d+)|0)m")
_TaggedRow = list[tuple[str, int]]


def draw_plotext(chart: Chart, width: int, height: int) -> list[Row]:
    """The chart in `height` rows of `width` cells, axes included."""
    plot = Plot()
    plot.theme("clear")
    plot._limit_size(False, False)  # else it is cut to the size of the terminal that plotext sees on stdout
    plot.plotsize(width, height)
    plot.xlim(0, chart.x_max)
    plot.ylim(0, chart.y_max)
    across = [chart.x_max * i / 4 for i in range(5)]
    plot.xticks(across, [*map(axis_text, across[:-1]), f"{axis_text(chart.x_max)} {chart.x_unit}"])
    steps = _STEPS.get(f"{chart.y_max:e}"[:3], 4)
    up = [chart.y_max * i / steps for i in range(steps + 1)]
    plot.yticks(up, [*map(axis_text, up)])
    for i, level in enumerate(chart.levels):
        line = [level.y, level.y]
        plot.plot([0, chart.x_max], line, marker=STROKE[level.ink], color=_FIRST_LEVEL + i)
    for points, tag, draw in ((chart.now, _NOW, plot.scatter), (chart.mean, _MEAN, plot.plot)):
        if points:
            draw([x for x, _ in points], [y for _, y in points], marker="braille", color=tag)
    tagged = [_tagged(line, width) for line in plot.build().splitlines()[:height]]
    tagged += [[(" ", 0)] * width] * (height - len(tagged))
    grid = [[(char, _ink(char, tag, chart)) for char, tag in row] for row in tagged]
    left = next((x + 1 for x, (char, _) in enumerate(grid[0]) if char == "┌"), 0)
    inner = max(1, height - 3)
    level_rows = {
        level: round((1 - level.y / chart.y_max) * (inner - 1)) + 1 if 0 <= level.y <= chart.y_max else None
        for level in chart.levels
    }
    for x, y, text, ink in placed_words(level_rows, width - left - 1, max(1, height - 2)):
        grid[y][left + x : left + x + len(text)] = [(char, ink) for char in text]
    return [joined(row) for row in grid]


def _tagged(line: str, width: int) -> _TaggedRow:
    """One line of plotext's output as cells with the number of their colour (0: none)."""
    cells: _TaggedRow = []
    tag = position = 0
    for match in _COLOUR.finditer(line):
        cells += [(char, tag) for char in line[position : match.start()]]
        tag = int(match.group(1) or 0)
        position = match.end()
    cells += [(char, tag) for char in line[position:]]
    return (cells + [(" ", 0)] * width)[:width]


def _ink(char: str, tag: int, chart: Chart) -> Ink:
    if char == " ":
        return "blank"
    if tag >= _FIRST_LEVEL:
        return chart.levels[tag - _FIRST_LEVEL].ink
    return "now" if tag == _NOW else "mean" if tag == _MEAN else "axis"
