"""Pictures of the screens at four sizes and in three themes; `--snapshot-update` draws them anew."""

import pytest

from tests.tui.pictures import MIXTURE, counted, ended, locked, running, sizes
from workbench.ledger import store

pytestmark = pytest.mark.usefixtures("at_home")


@sizes("40x10", "80x24", "160x50")
def test_first_screen(picture, size):
    picture(None, size)


@sizes()
def test_bytes(picture, size):
    picture(counted(MIXTURE), size, "bytes")


@sizes()
def test_before_the_prediction(picture, size):
    picture(counted(), size)


@sizes()
def test_locked(picture, size):
    picture(locked(counted()), size)


@sizes()
def test_running(picture, size):
    picture(running(locked(counted()), 95.1), size, "run")


@sizes()
def test_verdict(picture, size):
    picture(ended(locked(counted()), 95.1), size)


@sizes("80x24", "160x50")
def test_counting_error(picture, size):
    """Run 1 of the source documents: the mixture's experts counted in full."""
    picture(ended(locked(counted(MIXTURE, "all-bytes"), ("you", 40.0)), 88.99), size)


@sizes("80x24")
def test_class_round(picture, size):
    picture(ended(locked(counted(), ("ana", 120.0), ("bo", 300.0), ("chi", 90.0)), 95.1), size)


@pytest.mark.parametrize("theme", ["light", "high-contrast"])
def test_theme(picture, theme):
    picture(running(locked(counted(MIXTURE), ("you", 300.0)), 89.1), "160x50", "bytes", theme=theme)


@sizes("80x24")
def test_help(picture, size):
    async def press(_, pilot):
        await pilot.press("question_mark")
        await pilot.pause()

    picture(None, size, before=press)


@sizes("80x24", "160x50")
def test_ledger(picture, size, tmp_path):
    for desk, tps in ((locked(counted()), 95.1), (locked(counted(MIXTURE, "all-bytes")), 88.99)):
        store.append(tmp_path / "ledger.jsonl", ended(desk, tps).record)

    async def press(app, pilot):
        await pilot.press("L")
        while app.screen.query_one("#records").line_count < 2:
            await pilot.pause(0.01)
        await pilot.pause()

    picture(None, size, before=press)


@sizes("80x24")
def test_card(picture, size):
    async def press(_, pilot):
        await pilot.press("c")
        await pilot.pause()

    picture(ended(locked(counted()), 95.1), size, before=press)


def test_no_folder_of_pictures_is_left_without_its_test():
    from tests.snapshots import orphan_folders

    assert orphan_folders() == []
