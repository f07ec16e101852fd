"""Text is readable in every theme: 4.5:1 against what is painted behind it."""

import pytest
from textual.color import Color

from tests.tui.pictures import MIXTURE, app_over, counted, ended, locked, running
from workbench.tui.themes import THEMES, theme_name

DRAWN = set("─│╭╮╰╯┌┐└┘├┤┬┴┼━╌▏▎▍▌▋▊▉█▁▔▕▶·▸▾ ") | {chr(code) for code in range(0x2580, 0x25A0)}
"""Lines, bars and fold marks: they are drawing, not text."""


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))


def unreadable(app, least=4.5):
    """Painted pieces of text whose contrast is below `least`."""
    found = []
    for strip in app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if (
                style is None
                or not set(text) - DRAWN
                or all(0x2800 <= ord(c) < 0x2900 or c == " " for c in text)
            ):
                continue
            front, behind = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
            if style.reverse:
                front, behind = behind, front
            ratio = contrast(front, behind)
            if ratio < least:
                found.append((round(ratio, 1), text.strip(), front.hex, behind.hex))
    return found


def contrast(one, other):
    """The contrast ratio of WCAG 2."""

    def luminance(color):
        parts = [c / 255 for c in (color.r, color.g, color.b)]
        r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


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
