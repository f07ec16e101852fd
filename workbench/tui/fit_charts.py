"""A fit as two charts with lettered points: seconds per token against bytes, and the fraction against size.

Pure: points and lines on axes; the letters are those of the table's rows.
"""

from collections.abc import Sequence
from string import ascii_lowercase

from widgets.chart import Chart, Ink, Level, Mark, round_up
from workbench.analysis.fit import Fit
from workbench.analysis.least_squares import Point
from workbench.prediction.ceiling import ceiling_tps, fraction

LETTERS = ascii_lowercase + ascii_lowercase.upper()
STEPS = 60
"""Pieces of a curve."""


def letter(index: int) -> str:
    """The letter of the point in row `index`: a to z, A to Z, then dots."""
    return LETTERS[index] if index < len(LETTERS) else "•"


def seconds_chart(
    points: Sequence[Point],
    fitted: Fit | None,
    beside: Sequence[Point] = (),
    reference: tuple[float, float] | None = None,
) -> Chart:
    """Milliseconds a token against GB a token: the fitted line, the points, `beside` ones in their letters.

    `reference` is another line, dotted: its overhead in seconds and its bandwidth in GB/s.
    """
    everybody = [*points, *beside]
    x_max = round_up(max(point.weight_bytes for point in everybody) / 1e9 * 1.02)
    y_max = round_up(max(point.seconds for point in everybody) * 1e3 * 1.05)
    line: tuple[tuple[float, float], ...] = ()
    if fitted is not None:
        end = min(x_max, (y_max / 1e3 - fitted.overhead_s) * fitted.gbps)
        line = ((0.0, fitted.overhead_s * 1e3), (end, fitted.seconds(end * 1e9) * 1e3))
    marks = tuple(
        Mark(point.weight_bytes / 1e9, point.seconds * 1e3, letter(i), _ink(i, points))
        for i, point in enumerate(everybody)
    )
    dotted: tuple[tuple[float, float], ...] = ()
    if reference is not None:
        overhead_s, gbps = reference
        sizes = [x_max * i / STEPS for i in range(STEPS + 1)]
        dotted = tuple((size, (overhead_s + size / gbps) * 1e3) for size in sizes)
    inside = tuple((x, y) for x, y in dotted if y <= y_max)
    return Chart(x_max, y_max, now=inside, mean=line, x_unit="GB", marks=marks)


def fraction_chart(
    points: Sequence[Point], fitted: Fit | None, gbps: float, beside: Sequence[Point] = ()
) -> Chart:
    """Per cent of the ceiling at `gbps` against GB a token, the curve that the fit expects, and the 100 %."""
    everybody = [*points, *beside]
    x_max = round_up(max(point.weight_bytes for point in everybody) / 1e9 * 1.02)
    values = [100 * fraction(p.tps, ceiling_tps(gbps, p.weight_bytes)) for p in everybody]
    curve: tuple[tuple[float, float], ...] = ()
    if fitted is not None:
        sizes = [x_max * i / STEPS for i in range(1, STEPS + 1)]
        curve = tuple((size, 100 * size / gbps / fitted.seconds(size * 1e9)) for size in sizes)
    marks = tuple(
        Mark(point.weight_bytes / 1e9, value, letter(i), _ink(i, points))
        for i, (point, value) in enumerate(zip(everybody, values, strict=True))
    )
    level = Level(100.0, f"100 %: {gbps:g} GB/s", "ceiling")
    return Chart(
        x_max, max(120.0, round_up(max(values) * 1.05)), mean=curve, levels=(level,), x_unit="GB", marks=marks
    )


def _ink(index: int, points: Sequence[Point]) -> Ink:
    return "now" if index < len(points) else "prediction"
