"""The panes of the main screen: each paints one part of the Desk and posts what the user wants."""

from textual.widgets import Static

from widgets.visible import visible_lines


def say(static: Static, text: str) -> None:
    """Show this text; the same text is not sent to the terminal again."""
    shown = visible_lines(text)
    if static.content != shown:
        static.update(shown)
