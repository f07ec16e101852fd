import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.prediction.parse import parse_predictions, parse_rate


@pytest.mark.parametrize(
    ("text", "tps"),
    [
        ("143", 143),
        (" 143.5 ", 143.5),
        ("143 tok/s", 143),
        ("143tps", 143),
        ("143 T/S", 143),
        ("1e2", 100),
        (".5", 0.5),
        ("25 ms", 40),
        ("25ms", 40),
        ("25 ms/token", 40),
        ("25 ms per token", 40),
        ("0.025 s", 40),
        ("500 µs", 2000),
    ],
)
def test_a_rate_is_tok_per_s_or_a_time_per_token(text, tps):
    assert parse_rate(text) == pytest.approx(tps)
    assert parse_predictions(text) == [("", pytest.approx(tps))]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("ana=120 bo=300", [("ana", 120), ("bo", 300)]),
        ("ana = 25 ms, bo=300 tok/s", [("ana", 40), ("bo", 300)]),
        ("ana=25ms bo=300", [("ana", 40), ("bo", 300)]),
        ("Ana Maria=120; Bo=1e2", [("Ana Maria", 120), ("Bo", 100)]),
        ("a=5,b=6", [("a", 5), ("b", 6)]),
        ("Åsa=5\nØyvind=6", [("Åsa", 5), ("Øyvind", 6)]),
    ],
)
def test_a_class_says_several_named_numbers(text, people):
    assert parse_predictions(text) == [(name, pytest.approx(tps)) for name, tps in people]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Say a number first"),
        ("   ", "Say a number first"),
        ("0", "not above zero"),
        ("-5", "not above zero"),
        ("1e-400", "not above zero"),
        ("nan", "no number that a machine can reach"),
        ("inf", "no number that a machine can reach"),
        ("-inf", "no number that a machine can reach"),
        ("1e999", "no number that a machine can reach"),
        ("1e300", "no machine decodes one stream like that"),
        ("1e-300 ms", "no machine decodes one stream like that"),
        ("5e-324 ms", "no machine decodes one stream like that"),
        ("abc", "no number"),
        ("120 300", "no number"),
        ("143 apples", "apples is no unit"),
        ("50 %", "% is no unit"),
        ("0x10", "x10 is no unit"),
        ("ana=", "ana has said no number"),
        ("=120", "names nobody"),
        ("ana=120 Ana=130", "Ana is named twice"),
        ("ana=120 300", "no number"),
        ("ana=120 bo=300 400", "400 has no name"),
        ("ana==5", "no name and a number"),
        ("ana=zero", "no number"),
        ("a" * 41 + "=5", "longer than 40"),
        ("\x1b[31m5", r"\x1b[31m5 is no number"),
    ],
)
def test_what_cannot_be_understood_is_said_in_words(text, why):
    with pytest.raises(UsageError) as caught:
        parse_predictions(text)
    assert why in caught.value.message
    assert caught.value.hint
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("142,5", "Write 142.5 or 1425."),
        ("1,500", "Write 1.500 or 1500."),
        ("1,234,567", "Write 1234567."),
        ("1,500.5", "Write 1500.5."),
        ("ana=142,5 bo=3", "Write 142.5 or 1425."),
    ],
)
def test_a_comma_in_a_number_is_asked_about(text, hint):
    with pytest.raises(UsageError, match="can mean two things") as caught:
        parse_predictions(text)
    assert caught.value.hint == hint


@given(st.text(max_size=60))
def test_any_text_gives_numbers_that_can_be_locked_or_a_sentence(text):
    try:
        people = parse_predictions(text)
    except UsageError as error:
        assert error.message.endswith((".", "?"))
        assert len(error.message) < 300
    else:
        assert all(math.isfinite(tps) and 0 < tps <= 1e6 for _, tps in people)


@given(st.floats(min_value=1e-3, max_value=1e5))
def test_every_sensible_number_is_taken_as_it_is(value):
    assert parse_rate(repr(value)) == value
    assert parse_rate(f"{value!r} ms") == pytest.approx(1e3 / value)
