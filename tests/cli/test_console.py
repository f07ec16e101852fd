"""How commands speak: nothing that is printed can act, JSON is one line of ASCII, text wraps."""

import json
import math

import pytest

from workbench.cli import console
from workbench.errors import CheckpointError
from workbench.ledger.parts import Fraction


def test_words_go_to_stderr_and_data_to_stdout(capsys):
    console.say("words")
    console.out("data")
    assert capsys.readouterr() == ("data\n", "words\n")


@pytest.mark.parametrize("speak", [console.say, console.out])
def test_what_a_terminal_would_obey_is_written_out(capsys, speak):
    speak("\x1b[2J red \x9b31m \u202e reversed \r back\u200b\n\nsecond\ttab")
    said = "".join(capsys.readouterr())
    assert said == ("\\x1b[2J red \\x9b31m \\u202e reversed \\x0d back\\u200b\n\nsecond\\x09tab\n")


def test_words_in_other_scripts_are_left_alone(capsys):
    console.out("größe 模型 ± …")
    assert capsys.readouterr().out == "größe 模型 ± …\n"


def test_nobody_at_stderr_stops_nothing(monkeypatch, capsys):
    class Gone:
        closed = False

        def write(self, _):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Gone())
    console.say("words")
    console.say_over("words")
    monkeypatch.setattr("sys.stderr", None)
    console.say("words")
    console.say_over("words")
    assert not console.can_say_over()
    monkeypatch.undo()
    assert capsys.readouterr().out == ""


def test_json_is_one_line_of_ascii_and_never_nan(capsys):
    console.out_json(
        {"name": "é\u202e\x9b\n", "values": [math.nan, -math.inf, 1.5], "of": Fraction("x", 2.0)}
    )
    said = capsys.readouterr().out
    assert said.isascii()
    assert said.count("\n") == 1
    assert json.loads(said) == {
        "name": "é\u202e\x9b\n",
        "values": [None, None, 1.5],
        "of": {"of": "x", "value": 2.0},
    }


def test_an_error_is_words_or_an_object_and_gives_its_exit_code(capsys):
    error = CheckpointError("it is torn", "Fetch it again.", code="torn")
    assert console.fail(error, as_json=False) == 3
    assert capsys.readouterr() == ("", "workbench: it is torn\n  Fetch it again.\n")
    assert console.fail(error, as_json=True) == 3
    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": {"code": "torn", "message": "it is torn", "hint": "Fetch it again."}}
    assert err == ""


def test_running_text_wraps_and_a_long_word_stays_whole():
    lines = console.wrapped("word " * 60 + "x" * 200, "- ", "  ")
    assert max(len(line) for line in lines[:-1]) <= console.WIDTH
    assert lines[0].startswith("- word")
    assert all(line.startswith("  ") for line in lines[1:])
    assert lines[-1].strip() == "x" * 200


def test_a_table_aligns_its_columns():
    assert console.table(("name", "n"), [("a", "1,000"), ("long", "5")], right="<>") == (
        "name      n\na     1,000\nlong      5"
    )


def test_pairs_hang_below_their_text():
    lines = console.pairs([("a", "x"), ("label", "word " * 40)])
    assert lines[0] == "a      x"
    assert lines[1].startswith("label  word")
    assert lines[2].startswith("       word")
