"""A desk for every test of the screens: models, a scripted worker, a still machine."""

import pytest

from tests.tui.desk_stage import DeskStage
from tests.tui.pictures import SIZES, app_over


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """Published checkpoints, made once; no test changes them."""
    return tmp_path_factory.mktemp("published")


@pytest.fixture
def desk(tmp_path, monkeypatch, published):
    """Everything around the app, below a temporary home directory."""
    return DeskStage(tmp_path, monkeypatch, published)


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    """Paths below home are shown with `~`: pictures do not depend on where tests run."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def picture(snap_compare, monkeypatch):
    """Compare a desk's picture with the kept one."""

    def compare(desk, size, pane="prediction", before=None, **options):
        app, put = app_over(desk, monkeypatch, pane, **options)

        async def run_before(pilot):
            await put(pilot)
            if before is not None:
                await before(app, pilot)

        assert snap_compare(app, terminal_size=SIZES[size], run_before=run_before)

    return compare
