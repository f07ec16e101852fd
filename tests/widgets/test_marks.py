"""Lettered points of a chart: told apart without colour, inside the axes, one cell each."""

from hypothesis import given, settings
from hypothesis import strategies as st

from widgets.chart import Chart, Mark, draw_braille


def lines(chart, width=60, height=16):
    return ["".join(text for text, _ in row) for row in draw_braille(chart, width, height)]


def where(rows, letter):
    return [(x, y) for y, row in enumerate(rows) for x, char in enumerate(row) if char == letter]


def test_letters_stand_at_their_points():
    rows = lines(Chart(10, 10, marks=(Mark(0, 0, "a"), Mark(10, 10, "b"), Mark(5, 5, "c"))))
    [(ax, ay)], [(bx, by)], [(cx, cy)] = (where(rows[:-1], letter) for letter in "abc")
    assert ax < cx < bx
    assert by == 0
    assert ay == len(rows) - 2
    assert by < cy < ay


def test_two_points_in_one_cell_stand_beside_each_other():
    rows = lines(Chart(10, 10, marks=(Mark(5, 5, "a"), Mark(5, 5, "b"))))
    [(ax, ay)], [(bx, by)] = where(rows, "a"), where(rows, "b")
    assert (bx, by) == (ax + 1, ay)


def test_a_point_above_the_axis_stands_at_its_top():
    assert where(lines(Chart(10, 10, marks=(Mark(5, 999, "a"),))), "a")[0][1] == 0


def test_the_middle_of_the_axis_is_half_of_its_end():
    rows = lines(Chart(10, 40, marks=(Mark(1, 1, "a"),)), height=12)
    assert any(row.lstrip().startswith("20┤") for row in rows)


@given(
    st.integers(1, 160),
    st.integers(1, 50),
    st.lists(st.tuples(st.floats(-1, 1e4), st.floats(-1, 1e4)), max_size=40),
)
@settings(max_examples=60, deadline=None)
def test_every_size_gives_exactly_its_cells(width, height, points):
    rows = lines(Chart(10, 10, marks=tuple(Mark(x, y, "m") for x, y in points)), width, height)
    assert len(rows) == height
    assert {len(row) for row in rows} == {width}
