"""Foreign text: nothing in it acts on a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.stage import acting
from widgets.visible import visible, visible_lines
from workbench import escape


@given(st.text())
def test_no_text_keeps_a_character_that_acts(text):
    assert not acting(visible(text))
    assert not acting(visible_lines(text)) - {"\n"}


@given(st.text(max_size=150))
def test_the_widgets_escape_names_exactly_as_the_program_does(text):
    assert visible(text) == escape.visible(text)


def test_a_long_name_keeps_both_ends():
    shown = visible("a" * 4000 + "weight", 40)
    assert len(shown) <= 40
    assert shown.startswith("aaa")
    assert shown.endswith("weight")


def test_escapes_are_the_usual_ones():
    assert visible("a\x1b[31mb\n\u202ec") == r"a\x1b[31mb\x0a\u202ec"


def test_running_text_keeps_its_newlines_and_its_last_part():
    assert visible_lines("one\ntwo\x07") == "one\ntwo\\x07"
    assert visible_lines("x" * 30_000, limit=100) == "x" * 100
