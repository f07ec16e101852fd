"""The front door: commands, errors in one form, exit codes."""

import importlib
import json

import pytest

from workbench import __version__
from workbench.cli import main
from workbench.cli.main import COMMANDS
from workbench.escape import visible

CALLABLE = [name for name in COMMANDS if name != "replay"] + ["screens"]


def test_help_lists_every_command(run):
    for words in (["--help"], ["-h"], ["help"]):
        said = run(*words)
        assert (said.code, said.err) == (0, "")
        assert all(f"  {name} " in said.out for name in COMMANDS)


def test_version_names_the_distribution(run):
    assert run("--version").out == f"decode-workbench {__version__}\n"


@pytest.mark.parametrize("name", CALLABLE)
def test_every_command_explains_itself(name, capsys):
    module = importlib.import_module(f"workbench.cli.{name}")
    with pytest.raises(SystemExit) as ended:
        main(["--theme", "dark", "--help"] if name == "screens" else [name, "--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert module.__doc__.splitlines()[0] in shown
    assert "--json" in shown
    assert max(len(line) for line in shown.splitlines()) <= 110


@pytest.mark.parametrize("name", [name for name in CALLABLE if name not in {"screens"}])
def test_an_option_that_there_is_not_is_a_usage_error_in_words_and_in_json(run, name):
    said = run(name, "--no-such-option")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("workbench: ")
    assert f"`workbench {name} --help` explains it." in said.err
    said = run(name, "--no-such-option", "--json")
    assert (said.code, said.err) == (2, "")
    assert set(said.json["error"]) == {"code", "message", "hint"}
    assert said.json["error"]["code"] == "usage"


@pytest.mark.parametrize("hz", ["nan", "0", "-1", "1e9", "inf", "fast"])
@pytest.mark.parametrize("words", [[], ["replay"]], ids=["screens", "replay"])
def test_a_paint_rate_that_no_screen_keeps_is_said_before_it_opens(run, words, hz):
    said = run(*words, f"--hz={hz}")
    assert (said.code, said.out) == (2, "")
    assert f"argument --hz: {hz} is not between 0.2 and 10" in said.err


def test_two_dashes_are_no_options_value(run):
    said = run("bytes", "anything", "--bandwidth=--")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("workbench: argument --bandwidth: -- is no value")


def test_a_mistyped_command_is_answered_with_the_near_one(run):
    said = run("mesure")
    assert (said.code, said.out) == (2, "")
    assert "Did you mean `workbench measure`?" in said.err
    assert "`workbench --help` lists the commands." in run("xyzzy").err


def test_an_option_is_never_guessed_from_its_beginning(run):
    assert run("models", "--js").code == 2


def test_what_the_system_refuses_is_said_in_words(run, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device", "/somewhere/full")

    monkeypatch.setattr("workbench.shelf.entries.scan", refuse)
    said = run("models")
    assert (said.code, said.out) == (2, "")
    assert said.err == "workbench: /somewhere/full: No space left on device\n"
    assert run("models", "--json").json["error"]["code"] == "system"


def test_an_interrupt_before_anything_runs_is_130(run, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.shelf.entries.scan", interrupt)
    assert run("models").code == 130


def test_settings_that_are_no_toml_are_said_with_the_file(run, home):
    home.mkdir()
    (home / "settings.toml").write_text("models = [")
    said = run("models")
    assert said.code == 2
    assert "settings.toml" in said.err
    assert json.loads(run("models", "--json").out)["error"]["code"] == "usage"


def test_hostile_names_are_shown_as_escapes():
    assert visible("a\x1b[31mred\u202e\n") == "a\\x1b[31mred\\u202e\\x0a"
    assert visible("") == "(empty name)"
    assert len(visible("x" * 5000)) <= 200


def test_on_a_terminal_the_demo_takes_its_settings_into_the_screens(run, monkeypatch):
    opened = []
    monkeypatch.setattr("workbench.cli.console.is_terminal", lambda _: True)
    monkeypatch.setattr("workbench.cli.screens.require_capable_terminal", lambda: None)
    monkeypatch.setattr("workbench.tui.app.on_terminal", lambda app: opened.append(app.options) or 0)
    assert run("demo", "--predict", "9", "--tokens", "20", "--repeats", "2", "--cooldown", "1").code == 0
    (options,) = opened
    assert (options.demo, options.prediction) == (True, "9")
    asked = options.settings
    assert (asked.tokens, asked.repeats, asked.cooldown_s, asked.prompt_tokens) == (20, 2, 1.0, 209)


@pytest.mark.parametrize(
    "words", [("--by", "ana"), ("--seed", "3"), ("--no-witness",), ("--energy",), ("--tokens", "1")]
)
def test_on_a_terminal_the_demo_refuses_what_would_do_nothing_there(run, monkeypatch, words):
    monkeypatch.setattr("workbench.cli.console.is_terminal", lambda _: True)
    said = run("demo", *words)
    assert said.code == 2
    assert words[0] in said.err
