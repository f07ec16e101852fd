"""Labelled facts, one a line, long remarks wrapped under their own column. Foreign text stays text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from widgets.line_list import fit
from widgets.visible import visible

LABEL_CELLS = 14
MARK_CELLS = 2
"""What the sign of a marked fact adds to its label."""
NARROW_CELLS = 30
"""Below this width remarks wrap with a small indent instead of under their column."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value with a remark; `mark` makes it stand out, by a sign and a colour."""

    label: str
    value: str = ""
    note: str = ""
    mark: bool = False


class FactList(Widget):
    """As tall as its facts need."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"fact-list--{part}" for part in ("label", "value", "note", "mark", "marked-value")
    }
    DEFAULT_CSS = """
    FactList {
        height: auto;
        &> .fact-list--label { color: $text-muted; }
        &> .fact-list--value { text-style: bold; }
        &> .fact-list--note { color: $text-muted; }
        &> .fact-list--mark { color: $text-warning; }
        &> .fact-list--marked-value { color: $text-warning; text-style: bold; }
    }
    """

    def __init__(
        self, facts: Sequence[Fact] = (), *, label_cells: int = LABEL_CELLS, id: str | None = None
    ) -> None:
        """`label_cells` is the width of the labels' column."""
        super().__init__(id=id)
        self._facts = tuple(facts)
        self._label_cells = label_cells
        self._wrapped: tuple[int, list[list[tuple[str, str]]]] = (-1, [])

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts as given."""
        return self._facts

    def show(self, facts: Sequence[Fact]) -> None:
        """Show these facts; the same ones cost nothing."""
        if tuple(facts) == self._facts:
            return
        before = self._lines(self.size.width)
        self._facts = tuple(facts)
        self._wrapped = (-1, [])
        after = self._lines(self.size.width)
        if len(before) != len(after) or not after:
            self.refresh(layout=True)
        else:  # rows that look as before are not sent again
            changed = (y for y, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))
        self.call_after_refresh(self._fit_height)

    def _fit_height(self) -> None:
        """Ask for another layout where the last one came too early to know these facts."""
        if len(self._lines(self.size.width)) != self.size.height:
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """One row for each wrapped line."""
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        """One row."""
        width, base = self.size.width, self.rich_style
        lines = self._lines(width)
        if y >= len(lines):
            return Strip.blank(width, base)
        segments = [
            Segment(text, self.get_component_rich_style(f"fact-list--{part}") if part else base)
            for text, part in lines[y]
        ]
        return Strip(Segment.simplify(segments)).adjust_cell_length(width, base)

    def _lines(self, width: int) -> list[list[tuple[str, str]]]:
        if self._wrapped[0] != width:
            facts = self._facts if width > 0 else ()
            column = label_column(facts, self._label_cells)
            lines = [line for fact in facts for line in wrapped(fact, width, column)]
            self._wrapped = (width, lines)
        return self._wrapped[1]


def label_column(facts: Sequence[Fact], least: int = LABEL_CELLS) -> int:
    """Cells for the labels of facts under each other: a marked one moves all values, not its own alone."""
    own = [cell_len(_label(fact)) + 1 for fact in facts]
    return max([least, *(cells for cells in own if cells <= least + MARK_CELLS)])


def wrapped(fact: Fact, width: int, column: int = LABEL_CELLS) -> list[list[tuple[str, str]]]:
    """A fact's lines as (text, part) pieces, at most `width` cells each; labels take `column` cells."""
    label = _label(fact)
    is_narrow = width < NARROW_CELLS
    own_cells = cell_len(label) + 1
    label_cells = min(own_cells if is_narrow else max(column, own_cells), width // 2) if label else 0
    indent = min(2, width - 1) if is_narrow else label_cells
    line: list[tuple[str, str]] = [(fit(label, label_cells - 1) + " ", "label")] if label_cells else []
    lines, used = [line], label_cells
    for word, part in _words(fact):
        for chunk in _chunks(word, max(1, width - indent)):
            cells = cell_len(chunk)
            empty = used <= (label_cells if len(lines) == 1 else indent)
            if not empty and used + 1 + cells > width:
                lines.append([(" " * indent, "")] if indent else [])
                used, empty = indent, True
            elif empty and used + cells > width and len(lines) == 1 and used > indent:
                lines.append([(" " * indent, "")] if indent else [])
                used = indent
            text = chunk if empty else f" {chunk}"
            lines[-1].append((text, part))
            used += cell_len(text)
    return lines


def _label(fact: Fact) -> str:
    label = visible(fact.label, 40) if fact.label else ""
    return f"! {label}" if fact.mark else label


def _words(fact: Fact) -> Iterator[tuple[str, str]]:
    value_part = "marked-value" if fact.mark else "value"
    note_part = "mark" if fact.mark else "note"
    for text, part in ((fact.value, value_part), (fact.note, note_part)):
        for word in visible(text, 2000).split() if text else ():
            yield word, part


def _chunks(word: str, width: int) -> Iterator[str]:
    """A word in pieces that fit: tensor names and paths have no blanks."""
    while cell_len(word) > width:
        cut = width
        while cell_len(word[:cut]) > width:
            cut -= 1
        yield word[: max(1, cut)]
        word = word[max(1, cut) :]
    if word:
        yield word
