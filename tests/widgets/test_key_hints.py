"""The hint row: what fits, what stays, what a click means."""

from textual.widgets import Input, Tabs

from tests.widgets.stage import Stage, rows_of
from widgets.key_hints import Hint, KeyHints

FIVE = [
    Hint("1", "models", "a"),
    Hint("2", "bytes", "b"),
    Hint("3", "predict", "c", marked=True),
    Hint("q", "quit", "q"),
]


async def test_the_last_hint_stays_when_room_is_short():
    for width, shown in (
        (60, "1 models 2 bytes 3 predict q quit"),
        (28, "1 models 2 bytes q quit"),
        (12, "q quit"),
    ):
        app = Stage(KeyHints(FIVE))
        async with app.run_test(size=(width, 2)):
            assert " ".join(rows_of(app.query_one(KeyHints))[0].split()) == shown


async def test_tabs_all_stay_and_only_the_marked_one_keeps_its_label():
    app = Stage(KeyHints(FIVE, tabs=True))
    async with app.run_test(size=(24, 2)):
        assert rows_of(app.query_one(KeyHints))[0].split() == ["1", "2", "3", "predict", "q"]


async def test_a_click_says_which_action_is_meant():
    pressed = []

    class Listening(Stage):
        def on_key_hints_pressed(self, event):
            pressed.append(event.action)

    app = Listening(KeyHints(FIVE))
    async with app.run_test(size=(60, 2)) as pilot:
        await pilot.click(KeyHints, offset=(12, 0))
        await pilot.pause()
    assert pressed == ["b"]


async def test_while_a_box_has_the_focus_its_own_keys_stand_in_the_row():
    app = Stage(Input(), Tabs(), KeyHints(FIVE, typing=[Hint("esc", "leave", "x")]))
    async with app.run_test(size=(60, 6)) as pilot:
        row = app.query_one(KeyHints)
        for focused, shown in ((Input, "esc leave"), (Tabs, "1 models"), (Input, "esc leave")):
            app.query_one(focused).focus()
            await pilot.pause()
            assert rows_of(row)[0].strip().startswith(shown)
