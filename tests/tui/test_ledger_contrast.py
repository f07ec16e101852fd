"""Ledger, card, fit, calibration, ranking and replay are readable in every theme."""

import pytest

from tests.tui.desk_stage import until
from tests.tui.office_ledger import fill
from tests.tui.test_contrast import unreadable
from tests.tui.test_replay_screen import playing
from workbench.tui.themes import THEMES

every_theme = pytest.mark.parametrize("theme", [theme.name for theme in THEMES])


@every_theme
async def test_every_page_around_the_ledger_is_readable(desk, theme):
    fill(desk.stage.ledger)
    ready = {
        "L": lambda screen: screen.query("#records") and screen.query_one("#records").line_count == 8,
        "F": lambda screen: screen.query("#groups") and screen.query_one("#groups").line_count == 3,
        "P": lambda screen: screen.query("#people") and screen.query_one("#people").line_count == 3,
    }
    async with desk.open((120, 40), theme=theme) as (app, pilot):
        for opener, keys in (
            ("L", ["j", "space", "j", "enter", "r", "e"]),
            ("F", []),
            ("P", []),
        ):
            await pilot.press(opener)
            await until(lambda opener=opener: ready[opener](app.screen))
            for key in ["", *keys]:
                if key:
                    await pilot.press(key)
                await pilot.pause()
                assert unreadable(app) == [], (opener, key)
            while app.screen is not app.main_screen:
                await pilot.press("escape")


@every_theme
async def test_the_replays_banner_is_readable(theme):
    async with playing() as (app, pilot, _):
        app.theme = theme
        await pilot.pause()
        await pilot.pause()
        assert unreadable(app) == []
