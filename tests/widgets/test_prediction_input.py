"""The prediction box: mandatory, keeps its keys, locks, leaves."""

from textual.binding import Binding
from textual.events import Paste
from textual.widgets import Input, Static

from tests.widgets.stage import Stage
from widgets.prediction_input import PredictionInput


def check(text):
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"not a number: {text}") from None
    return f"{value:g} tok/s"


class Desk(Stage):
    BINDINGS = tuple(Binding(key, f"note('{key}')") for key in "qr1")

    def __init__(self):
        super().__init__(PredictionInput(check, hint="tok/s, or 25 ms"))
        self.pressed = []
        self.locked = []

    def action_note(self, key):
        self.pressed.append(key)

    def on_prediction_input_locked(self, event):
        self.locked.append(event.text)

    @property
    def words(self):
        return str(self.query_one(".prediction-input--words", Static).render())


async def test_letters_and_digits_typed_into_the_box_run_no_command():
    app = Desk()
    async with app.run_test() as pilot:
        box = app.query_one(PredictionInput).focus()
        await pilot.pause()
        await pilot.press("q", "r", "1")
        assert app.pressed == []
        assert box.value == "qr1"


async def test_a_paste_that_does_not_fit_is_said_and_leaves_the_text_as_it_was():
    app = Desk()
    async with app.run_test() as pilot:
        box = app.query_one(PredictionInput).focus()
        await pilot.pause()
        await pilot.press("5")
        app.query_one(Input).post_message(Paste("9" * 10_000))
        await pilot.pause()
        assert box.value == "5"
        assert "takes 400 characters" in app.words
        await pilot.press("0")
        assert (box.value, app.words) == ("50", "50 tok/s  (enter locks)")


async def test_escape_leaves_the_box_and_the_keys_work_again():
    app = Desk()
    async with app.run_test() as pilot:
        app.query_one(PredictionInput).focus()
        await pilot.press("7", "escape", "q")
        assert app.pressed == ["q"]
        assert app.locked == []


async def test_enter_locks_only_what_is_understood():
    app = Desk()
    async with app.run_test() as pilot:
        box = app.query_one(PredictionInput).focus()
        await pilot.press("enter")
        assert app.locked == []
        assert app.words == "tok/s, or 25 ms"
        assert box.has_class("-wrong")
        await pilot.press("x", "enter")
        assert app.locked == []
        assert "not a number" in app.words
        await pilot.press("backspace", "1", "4", "3")
        assert app.words == "143 tok/s  (enter locks)"
        await pilot.press("enter")
        await pilot.pause()
        assert app.locked == ["143"]
        box.show_locked("locked 143 tok/s", final=False)
        assert app.words == "locked 143 tok/s"


async def test_a_final_lock_takes_no_more_keys():
    app = Desk()
    async with app.run_test() as pilot:
        box = app.query_one(PredictionInput).focus()
        await pilot.press("9")
        box.show_locked("locked 9 tok/s at 14:03:22Z", final=True)
        await pilot.pause()
        assert box.query_one(Input).disabled
        await pilot.press("q")
        assert app.pressed == ["q"]
        box.reset()
        assert not box.query_one(Input).disabled
        assert app.words == "tok/s, or 25 ms"


async def test_enter_in_the_empty_box_takes_what_is_offered():
    app = Desk()
    async with app.run_test() as pilot:
        box = app.query_one(PredictionInput)
        box.offer("819", "enter takes 819")
        box.focus()
        assert app.words == "enter takes 819"
        await pilot.press("enter")
        await pilot.pause()
        assert app.locked == ["819"]
        await pilot.press("5", "enter")
        await pilot.pause()
        assert app.locked == ["819", "5"]


async def test_markup_in_the_box_stays_text():
    app = Desk()
    async with app.run_test() as pilot:
        app.query_one(PredictionInput).focus()
        await pilot.press("[", "b", "]", "[", "/", "x")
        assert app.words == "not a number: [b][/x"
