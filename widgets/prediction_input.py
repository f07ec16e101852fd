"""The box that takes a prediction: mandatory, checked while it is typed, locked with enter.

It keeps printable keys to itself, so that no letter of a number or a name runs a command; escape leaves it.
What counts as a prediction is the owner's business: `check` says so in words.
"""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from widgets.visible import visible_lines

LONGEST = 400
"""Characters that the box takes."""

Check = Callable[[str], str]
"""Returns what was understood, in words; raises ValueError with what is wrong."""


class PredictionInput(Vertical):
    """An input line with a line of words below it. Posts `Locked`; nothing is locked by leaving the box."""

    DEFAULT_CSS = """
    PredictionInput {
        height: auto;
        .prediction-input--words { height: auto; color: $text-muted; }
        &.-wrong .prediction-input--words { color: $text-error; }
        &.-locked .prediction-input--words { color: $text-success; text-style: bold; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave the box", show=False)]

    class Locked(Message):
        """The user pressed enter on a text that `check` accepts."""

        def __init__(self, box: "PredictionInput", text: str) -> None:
            super().__init__()
            self.box = box
            self.text = text

        @property
        def control(self) -> "PredictionInput":
            """The sender, for `@on` selectors."""
            return self.box

    def __init__(
        self,
        check: Check,
        *,
        placeholder: str = "",
        hint: str = "",
        enter: str = "enter locks",
        id: str | None = None,
    ) -> None:
        """`enter` says what the key does with a text that `check` accepts."""
        super().__init__(id=id)
        self._enter = enter
        self._check = check
        self._placeholder = placeholder
        self._hint = hint
        self._offer = ""

    def compose(self) -> ComposeResult:
        """The line and the words."""
        yield _Line(placeholder=self._placeholder, compact=True, max_length=LONGEST)
        yield Static(self._hint, classes="prediction-input--words", markup=False)

    @property
    def value(self) -> str:
        """What stands in the box."""
        return self.query_one(Input).value

    def focus(self, scroll_visible: bool = True) -> "PredictionInput":
        """Put the cursor into the box."""
        self.query_one(Input).focus(scroll_visible)
        return self

    def reset(self, text: str = "") -> None:
        """Open and empty again."""
        line = self.query_one(Input)
        line.disabled = False
        with self.prevent(Input.Changed):  # it would come late, over what is said next
            line.value = text
        self._heed(text)

    def show_locked(self, words: str, *, final: bool, text: str = "") -> None:
        """Show what is locked; `final` closes the box, else a correction may still be typed.

        `text` stands in the box if nobody typed there (a value from the settings, say).
        """
        line = self.query_one(Input)
        if text and not line.value:
            with self.prevent(Input.Changed):
                line.value = text
        if final and line.has_focus:
            self.action_leave()
        line.disabled = final
        self._say(words, "-locked")

    def offer(self, text: str, words: str) -> None:
        """Enter in the empty box takes `text`; `words` say so in the hint's place."""
        self._offer, self._hint = text, words
        if not self.value.strip() and not self.has_class("-locked"):
            self._say(words)

    def show_words(self, words: str) -> None:
        """Say something of the text that is neither right nor wrong."""
        self._say(words)

    def show_wrong(self, words: str) -> None:
        """Say what is wrong with the text."""
        self._say(words, "-wrong")

    def _say(self, words: str, state: str = "") -> None:
        self.remove_class("-wrong", "-locked")
        if state:
            self.add_class(state)
        self.query_one(Static).update(visible_lines(words, 600) if words else "")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._heed(event.value)

    def _heed(self, text: str) -> None:
        if not text.strip():
            self._say(self._hint)
            return
        try:
            self._say(f"{self._check(text)}  ({self._enter})")
        except ValueError as wrong:
            self._say(str(wrong), "-wrong")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value if event.value.strip() else self._offer
        try:
            if not text:
                raise ValueError(self._hint)  # what may be typed, not what is wrong with nothing
            self._check(text)
        except ValueError as wrong:
            self._say(str(wrong), "-wrong")
            self.app.bell()
            return
        self.post_message(self.Locked(self, text))

    def action_leave(self) -> None:
        """Give the keys back to the screen."""
        self.screen.set_focus(None)


class _Line(Input):
    """The line itself: what does not fit in it is said, not swallowed."""

    def restricted(self) -> None:
        """Called for a key or a paste that would make the text too long; nothing of it is taken."""
        if isinstance(self.parent, PredictionInput):
            self.parent.show_wrong(
                f"The box takes {LONGEST} characters; this was more, and none of it is taken."
            )
