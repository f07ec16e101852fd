"""A number that the last row of a room can read: three rows tall, or one where there is no room."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Digits, Static

from widgets.visible import visible


class BigNumber(Vertical):
    """A figure with its caption. Repaints only what changed."""

    DEFAULT_CSS = """
    BigNumber {
        height: auto;
        Digits { width: auto; text-style: bold; }
        .big-number--caption { color: $text-muted; height: 1; }
        .big-number--small { display: none; height: 1; text-style: bold; }
        &.-small { Digits { display: none; } .big-number--small { display: block; } }
    }
    """

    def __init__(self, value: str = "", caption: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._value, self._caption = value, caption

    def compose(self) -> ComposeResult:
        """The figure in digits and in plain text (one of them shows), the caption."""
        yield Digits(self._value)
        yield Static(self._value, classes="big-number--small", markup=False)
        yield Static(
            visible(self._caption) if self._caption else "", classes="big-number--caption", markup=False
        )

    @property
    def value(self) -> str:
        """The figure as shown."""
        return self._value

    def show(self, value: str, caption: str) -> None:
        """Show this figure and caption."""
        if value != self._value:
            self._value = value
            self.query_one(Digits).update(value)
            self.query_one(".big-number--small", Static).update(value, layout=False)
        if caption != self._caption:
            self._caption = caption
            self.query_one(".big-number--caption", Static).update(
                visible(caption) if caption else "", layout=False
            )
