"""The panes of the main screen: each paints one part of the Desk and posts what the user wants."""

from textual.widgets import Static

from widgets.visible import visible, visible_lines


def say(static: Static, text: str, *, one_row: bool = False) -> None:
    """Show this text; the same text is not sent to the terminal again. A fixed row needs no new layout."""
    shown = visible_lines(text)
    if static.content != shown:
        static.update(shown, layout=not one_row)


def as_title(text: str, limit: int = 60) -> str:
    """A foreign text for a border's title: titles are markup, so that its brackets are escaped too."""
    return visible(text, limit).replace("[", r"\[")
