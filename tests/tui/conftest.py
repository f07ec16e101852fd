"""A desk for every test of the screens: models, a scripted worker, a still machine."""

import pytest

from tests.tui.desk_stage import DeskStage


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """Published checkpoints, made once; no test changes them."""
    return tmp_path_factory.mktemp("published")


@pytest.fixture
def desk(tmp_path, monkeypatch, published):
    """Everything around the app, below a temporary home directory."""
    return DeskStage(tmp_path, monkeypatch, published)
