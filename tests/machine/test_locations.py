"""Where files lie for a user whom the system knows, and for one whom it does not."""

import pwd
from pathlib import Path

import pytest

from workbench.errors import CheckpointError
from workbench.ledger import store
from workbench.locations import expanded, home, ledger_path, settings_path, shown
from workbench.machine.stamp import private_text
from workbench.shelf.cache import cache_location
from workbench.shelf.resolve import resolve


@pytest.fixture
def unknown_user(monkeypatch):
    """As in a container that runs as a number: no HOME, and no entry in the user table."""

    def nobody(_uid):
        raise KeyError("unknown")

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", nobody)


def test_a_path_below_home_is_shown_by_its_tilde(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path
    assert shown(tmp_path / "a" / "b") == "~/a/b"
    assert shown(Path("/elsewhere")) == "/elsewhere"


def test_a_home_that_nobody_knows_is_left_as_it_is_written(monkeypatch):
    assert expanded("~no-such-user/x") == Path("~no-such-user/x")
    monkeypatch.setenv("WORKBENCH_LEDGER", "~no-such-user/ledger.jsonl")
    monkeypatch.setenv("WORKBENCH_HOME", "~no-such-user/home")
    assert ledger_path() == Path("~no-such-user/ledger.jsonl")
    assert settings_path() == Path("~no-such-user/home/settings.toml")
    with pytest.raises(CheckpointError):
        resolve("~no-such-user/model", [])


def test_a_user_whom_the_system_does_not_know_has_no_home_and_no_error(unknown_user, tmp_path):
    assert home() is None
    assert shown(tmp_path) == tmp_path.as_posix()
    assert private_text("/home/x/model") == "/home/x/model"
    assert cache_location({}) == Path("~/.cache/huggingface/hub")
    assert Path("~") not in list(store._rescue_folders(tmp_path / "ledger.jsonl"))
