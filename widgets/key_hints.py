"""One row of key hints. Where room is short some are left out from the right, or lose their labels.

While a text box has the focus its keys are letters: then other hints stand in the row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input


@dataclass(frozen=True, slots=True)
class Hint:
    """A key, what it does, the owner's name for it; `on` false: not available now, `marked`: chosen."""

    key: str
    label: str
    action: str
    on: bool = True
    marked: bool = False


class KeyHints(Widget):
    """Hints as text; a click on one posts `Pressed`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-hints--key", "key-hints--off", "key-hints--marked"}
    DEFAULT_CSS = """
    KeyHints {
        height: 1;
        &> .key-hints--key { color: $text-accent; text-style: bold; }
        &> .key-hints--off { color: $text-muted; }
        &> .key-hints--marked { text-style: reverse; }
    }
    """

    class Pressed(Message):
        """A hint was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(
        self,
        hints: Sequence[Hint] = (),
        *,
        tabs: bool = False,
        typing: Sequence[Hint] = (),
        id: str | None = None,
    ) -> None:
        """`tabs`: where room is short all stay, and only the marked one keeps its label.

        `typing` stands in the row while a text box has the focus.
        """
        super().__init__(id=id)
        self._tabs = tabs
        self._hints = tuple(hints)
        self._typing = tuple(typing)
        self._is_typing = False

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The hints as given."""
        return self._hints

    def on_mount(self) -> None:
        """Follow the screen's focus."""
        if self._typing:
            self.watch(self.screen, "focused", self._focus_moved)

    def _focus_moved(self, focused: Widget | None) -> None:
        is_typing = isinstance(focused, Input)
        if is_typing is not self._is_typing:
            self._is_typing = is_typing
            self.refresh()

    def show(self, hints: Sequence[Hint]) -> None:
        """Show these hints."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Key and label of each hint that fits."""
        width, base = self.size.width, self.rich_style
        if y:
            return Strip.blank(width, base)
        segments: list[Segment] = []
        for hint in self._fitting(width):
            state = "" if hint.on else "off"
            state = "marked" if hint.marked else state
            label = self.get_component_rich_style(f"key-hints--{state}") if state else base
            key = label if state else self.get_component_rich_style("key-hints--key")
            segments.append(Segment(f" {hint.key} ", key))
            if hint.label:
                segments.append(Segment(f"{hint.label} ", label))
        return Strip(segments).adjust_cell_length(width, base)

    def _fitting(self, width: int) -> list[Hint]:
        hints = list(self._typing if self._is_typing else self._hints)
        if self._tabs and sum(map(_cells, hints)) > width:
            return [hint if hint.marked else replace(hint, label="") for hint in hints]
        while len(hints) > 1 and sum(map(_cells, hints)) > width:
            del hints[-2]
        return hints

    def on_click(self, event: events.Click) -> None:
        """Find the hint under the pointer."""
        x = 0
        for hint in self._fitting(self.size.width):
            x += _cells(hint)
            if event.x < x:
                self.post_message(self.Pressed(hint.action))
                return


def _cells(hint: Hint) -> int:
    return len(hint.key) + 2 + (len(hint.label) + 1 if hint.label else 0)
