"""The front door: commands, errors in one form, exit codes."""

import json

from workbench import __version__
from workbench.cli import main
from workbench.escape import visible


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name}" in shown for name in ("demo", "measure", "bytes", "ledger"))


def test_version_names_the_distribution(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"decode-workbench {__version__}\n"


def test_a_mistyped_command_is_answered_with_the_near_one(capsys):
    assert main(["mesure"]) == 2
    spoken = capsys.readouterr()
    assert spoken.out == ""
    assert "Did you mean `workbench measure`?" in spoken.err


def test_with_json_an_error_is_an_object_on_stdout(capsys):
    assert main(["bytes", "--json"]) == 2
    spoken = capsys.readouterr()
    assert set(json.loads(spoken.out)["error"]) == {"code", "message", "hint"}
    assert spoken.err == ""


def test_hostile_names_are_shown_as_escapes():
    assert visible("a\x1b[31mred\u202e\n") == "a\\x1b[31mred\\u202e\\x0a"
    assert visible("") == "(empty name)"
    assert len(visible("x" * 5000)) <= 200
