"""The steps of a procedure in one row: done, now, to do or failed; by sign, not by colour alone."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

SIGNS = {"done": "✓", "now": "●", "todo": "○", "failed": "✗"}


class Steps(Widget):
    """Names with a state each. Where they do not all fit, only the present one is written out."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"steps--{state}" for state in SIGNS}
    DEFAULT_CSS = """
    Steps {
        height: 1;
        &> .steps--done { color: $text-success; }
        &> .steps--now { color: $text-accent; text-style: bold; }
        &> .steps--todo { color: $text-muted; }
        &> .steps--failed { color: $text-error; text-style: bold; }
    }
    """

    def __init__(self, names: Sequence[str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.names = tuple(names)
        self._states: tuple[str, ...] = ("todo",) * len(self.names)
        self._note = ""

    def show(self, states: Sequence[str], note: str = "") -> None:
        """One of done, now, todo, failed for each step; `note` stands at the right end."""
        if (tuple(states), note) != (self._states, self._note):
            self._states, self._note = tuple(states), note
            self.refresh()

    @property
    def states(self) -> tuple[str, ...]:
        """The states as shown."""
        return self._states

    def render_line(self, y: int) -> Strip:
        """All steps, or signs and the present one's name, and the note where it fits."""
        width, base = self.size.width, self.rich_style
        if y:
            return Strip.blank(width, base)
        segments = self._written(base, short=False)
        if sum(segment.cell_length for segment in segments) > width:
            segments = self._written(base, short=True)
        used = sum(segment.cell_length for segment in segments)
        if self._note and used + len(self._note) + 2 <= width:
            todo = self.get_component_rich_style("steps--todo")
            segments += [Segment(" " * (width - used - len(self._note)), base), Segment(self._note, todo)]
        return Strip(segments).adjust_cell_length(width, base)

    def _written(self, base: Style, *, short: bool) -> list[Segment]:
        segments: list[Segment] = []
        for number, (name, state) in enumerate(zip(self.names, self._states, strict=True), 1):
            style = self.get_component_rich_style(f"steps--{state}")
            written_out = not short or state in {"now", "failed"}
            text = f"{SIGNS[state]} {number} {name}" if written_out else SIGNS[state]
            if segments:
                segments.append(Segment("  " if not short else " ", base))
            segments.append(Segment(text, style))
        return segments
