"""Text is readable in every theme: 4.5:1 against what is painted behind it."""

import pytest

from tests.tui.contrast import unreadable
from tests.tui.pictures import MIXTURE, app_over, counted, ended, locked, running
from workbench.tui.themes import THEMES, theme_name


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
async def test_text_is_readable_on_every_screen(theme, monkeypatch):
    desks = [
        (None, "models"),
        (counted(MIXTURE), "bytes"),
        (running(locked(counted()), 95.1), "prediction"),
        (ended(locked(counted(MIXTURE, "all-bytes")), 89.0), "prediction"),
    ]
    app, put = app_over(None, monkeypatch, "models", theme=theme)
    async with app.run_test(size=(160, 50)) as pilot:
        await put(pilot)
        for desk, pane in desks:
            if desk is not None:
                app.main_screen.desk = desk
                app.main_screen.conductor.run = desk.run
                app.main_screen.paint()
                app.main_screen.show_pane(pane)
            for _ in range(3):
                await pilot.pause()
            assert unreadable(app) == [], pane


def test_themes_are_named_as_the_settings_name_them():
    assert [theme_name(word) for word in ("dark", "light", "high-contrast")] == [
        theme.name for theme in THEMES
    ]
    with pytest.raises(ValueError, match="no theme"):
        theme_name("neon")
