"""The two drawings of a rate chart."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widgets.chart import Chart, Level, axis_text, cell_row, draw_braille, round_up
from widgets.plotext_chart import draw_plotext

LEVELS = (
    Level(183.4, "ceiling 183 (spec 819 GB/s)", "ceiling"),
    Level(143, "ceiling 143 (achieved 638 GB/s)", "ceiling"),
    Level(140, "predicted 140", "prediction"),
)
POINTS = tuple((float(i), 95.0 + i % 3) for i in range(0, 150, 3))
DRAWINGS = pytest.mark.parametrize("draw", [draw_braille, draw_plotext], ids=["braille", "plotext"])


def lines(rows):
    return ["".join(text for text, _ in row) for row in rows]


@DRAWINGS
def test_ceiling_and_prediction_are_told_apart_without_colour(draw):
    shown = lines(draw(Chart(200, 200, POINTS, POINTS, LEVELS), 78, 18))
    text = "\n".join(shown)
    assert all(level.words in text for level in LEVELS)
    ceiling = next(row for row in shown if "ceiling 183" in row)
    prediction = next(row for row in shown if "predicted 140" in row)
    assert ceiling.count("━") > 20
    assert prediction.count("╌") > 3


@DRAWINGS
@given(
    width=st.integers(1, 200),
    height=st.integers(1, 60),
    values=st.lists(st.floats(0, 1e4), max_size=30),
    levels=st.lists(st.floats(0.1, 1e4), max_size=4),
)
@settings(max_examples=40, deadline=None)
def test_every_size_gives_exactly_its_cells(draw, width, height, values, levels):
    points = tuple((float(i), value) for i, value in enumerate(values))
    chart = Chart(200, 1000, points, points, tuple(Level(y, f"at {y:.0f}", "ceiling") for y in levels))
    if draw is draw_plotext and (width < 24 or height < 6):
        return  # the plot widget uses braille there
    rows = lines(draw(chart, width, height))
    assert len(rows) == height
    assert {len(row) for row in rows} == {width}


@DRAWINGS
def test_a_new_point_changes_few_rows(draw):
    """Fixed axes are what makes repainting by rows cheap."""
    before = draw(Chart(200, 200, POINTS, POINTS, LEVELS), 78, 18)
    more = (*POINTS, (153.0, 96.0))
    after = draw(Chart(200, 200, more, more, LEVELS), 78, 18)
    assert 0 < sum(a != b for a, b in zip(before, after, strict=True)) <= 2


def test_a_row_has_few_pieces():
    rows = draw_braille(Chart(200, 200, POINTS, POINTS, LEVELS), 78, 18)
    assert max(len(row) for row in rows) <= 12


def test_a_level_outside_the_axes_is_not_drawn():
    assert cell_row(201, 200, 10) is None
    assert "ceiling" not in "".join(lines(draw_braille(Chart(9, 100, levels=LEVELS[:1]), 60, 10)))


def test_the_axis_ends_on_a_round_number_at_or_above_the_value():
    assert [round_up(x) for x in (0, 0.7, 95, 101, 1932, 100_000)] == [1, 0.8, 100, 150, 2000, 100_000]
    assert [axis_text(x) for x in (0, 1.5, 150, 2000)] == ["0", "1.5", "150", "2,000"]
