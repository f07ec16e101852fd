"""An app around one widget, and the text that it shows."""

from textual.app import App, ComposeResult
from textual.widget import Widget


class Stage(App):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget):
        super().__init__()
        self.cast = widgets
        self.heard = []

    def compose(self) -> ComposeResult:
        yield from self.cast

    def on_mount(self):
        self.message_names = set()


def rows_of(widget: Widget) -> list[str]:
    """The rows as the widget draws them, without their colours."""
    return [widget.render_line(y).text for y in range(widget.size.height)]


def acting(text: str) -> set[str]:
    """Characters that a terminal would act on or that reorder a line."""
    import unicodedata

    return {char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}}
