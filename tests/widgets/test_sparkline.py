"""A course in one row of blocks."""

from hypothesis import given
from hypothesis import strategies as st

from widgets.sparkline import BLOCKS, sparkline


def test_a_rise_from_zero_is_a_rise_of_blocks():
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 20) == BLOCKS


def test_only_the_last_values_are_shown():
    assert sparkline([0, 0, 0, 7, 0], 2) == "█▁"


def test_steady_values_show_their_course():
    assert sparkline([300.0, 301.0, 302.0], 10) == "▅▇█"


def test_equal_values_are_a_level_line_and_none_are_nothing():
    assert sparkline([5.0, 5.0, 5.0], 10) == "▅▅▅"
    assert sparkline([0.0, 0.0], 10) == "▅▅"
    assert sparkline([], 10) == sparkline([1.0], 0) == ""


@given(st.lists(st.floats(0, 1e6), max_size=80), st.integers(0, 60))
def test_it_never_needs_more_cells_than_it_may(values, cells):
    drawn = sparkline(values, cells)
    assert len(drawn) == min(len(values), cells)
    assert set(drawn) <= set(BLOCKS)
