"""A long list of one-row lines with a cursor and a fixed header: only the rows in sight are ever drawn.

The base of the byte tree and of the tables. A line is a list of (text, component class) pieces; what a line
means stays in the subclass.
"""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

Piece = tuple[str, str]
"""Text and the name of the component class that styles it (empty for the plain style)."""


class LineList(ScrollView, can_focus=True):
    """Rows with a cursor. Subclasses give `line_count`, `draw_line` and `draw_header`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-list--header", "line-list--cursor", "line-list--empty"}

    DEFAULT_CSS = """
    LineList {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        &> .line-list--header { text-style: bold; }
        &> .line-list--cursor { text-style: underline; }
        &:focus > .line-list--cursor {
            background: $block-cursor-background; color: $block-cursor-foreground; text-style: none;
        }
        &> .line-list--empty { color: $text-muted; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("home,g", "end(-1)", "First", show=False),
        Binding("end,G", "end(1)", "Last", show=False),
        Binding("enter", "choose", "Choose", show=False),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)
    empty_text: reactive[str] = reactive("nothing here")

    class OnLine(Message):
        """Something about line `index`."""

        def __init__(self, line_list: "LineList", index: int) -> None:
            super().__init__()
            self.line_list = line_list
            self.index = index

        @property
        def control(self) -> "LineList":
            """The sender, for `@on` selectors."""
            return self.line_list

    class Moved(OnLine):
        """The cursor stands on line `index` now (-1: there is no line)."""

    class Chosen(OnLine):
        """The user pressed enter or clicked twice on line `index`."""

    # --- what a subclass gives ---

    @property
    def line_count(self) -> int:
        """How many lines there are, in sight or not."""
        raise NotImplementedError

    def draw_line(self, index: int, width: int) -> Sequence[Piece]:
        """The pieces of one line, at most `width` cells."""
        raise NotImplementedError

    def draw_header(self, width: int) -> Sequence[Piece]:
        """The pieces of the header row, or none for a list without one."""
        raise NotImplementedError

    # --- lines changed ---

    def lines_changed(self, cursor: int | None = None) -> None:
        """Call after the lines changed: keeps the cursor inside and repaints."""
        self.virtual_size = Size(0, self.line_count + self._header_rows)
        wanted = self.cursor if cursor is None else cursor
        wanted = max(0, min(wanted, self.line_count - 1))
        moved = wanted != self.cursor
        self.set_reactive(LineList.cursor, wanted)
        self.refresh()
        self._show_cursor()
        if moved or cursor is not None:
            self.post_message(self.Moved(self, wanted if self.line_count else -1))

    def refresh_row(self, index: int) -> None:
        """Repaint one line only: what did not change is not sent again."""
        row = index - self.scroll_offset.y + self._header_rows
        if self._header_rows <= row < self.size.height:
            self.refresh(Region(0, row, self.size.width, 1))

    # --- painting ---

    @property
    def row_cells(self) -> int:
        """The width of a row: what the scrollbar leaves."""
        return self.scrollable_content_region.width

    @property
    def _header_rows(self) -> int:
        return 1 if self.draw_header(max(self.row_cells, 1)) else 0

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        width = self.row_cells
        header = self.draw_header(width)
        if header and y == 0:
            return self._strip(header, width, "line-list--header")
        index = y - (1 if header else 0) + self.scroll_offset.y
        if self.line_count == 0 and index == 0:
            return self._strip([(self.empty_text, "line-list--empty")], width, "")
        if index >= self.line_count:
            return Strip.blank(width, self.rich_style)
        cursor = "line-list--cursor" if index == self.cursor else ""
        return self._strip(self.draw_line(index, width), width, cursor)

    def _strip(self, pieces: Sequence[Piece], width: int, row_class: str) -> Strip:
        row = self.get_component_rich_style(row_class) if row_class else self.rich_style
        at_cursor = row_class == "line-list--cursor"
        segments = []
        for text, piece_class in pieces:
            style = row
            # With the focus the cursor has a colour of its own, in which the pieces' colours would vanish.
            if piece_class and not (at_cursor and self.has_focus):
                style = self.get_component_rich_style(piece_class, default=row) + Style(
                    underline=row.underline
                )
            segments.append(Segment(text, style))
        return Strip(Segment.simplify(segments)).adjust_cell_length(width, row)

    # --- the cursor ---

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint the two rows that changed."""
        self.refresh_row(old)
        self.refresh_row(new)
        self._show_cursor()
        self.post_message(self.Moved(self, new if self.line_count else -1))

    def validate_cursor(self, wanted: int) -> int:
        """The cursor stays on a line."""
        return max(0, min(wanted, self.line_count - 1))

    def _show_cursor(self) -> None:
        height = max(1, self.size.height - self._header_rows)
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self.virtual_size = Size(0, self.line_count + self._header_rows)
        self._show_cursor()

    def on_focus(self) -> None:
        """The cursor row looks different with the focus."""
        self.refresh_row(self.cursor)

    def on_blur(self) -> None:
        """The cursor row looks different without the focus."""
        self.refresh_row(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor; a second one chooses."""
        index = event.y - self._header_rows + self.scroll_offset.y
        if event.y < self._header_rows or index >= self.line_count:
            return
        again = index == self.cursor and event.chain > 1
        self.cursor = index
        if again:
            self.action_choose()

    def action_move(self, lines: int) -> None:
        """Move the cursor by some lines."""
        self.cursor += lines

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages."""
        self.cursor += pages * max(1, self.size.height - self._header_rows - 1)

    def action_end(self, side: int) -> None:
        """To the first (-1) or the last (1) line."""
        self.cursor = 0 if side < 0 else self.line_count - 1

    def action_choose(self) -> None:
        """Tell the screen that the line under the cursor is meant."""
        if self.line_count:
            self.post_message(self.Chosen(self, self.cursor))


def fit(text: str, width: int) -> str:
    """The text in exactly `width` cells, cut with an ellipsis where it is longer."""
    if width <= 0:
        return ""
    if cell_len(text) > width:
        return set_cell_size(text, width - 1) + "…"
    return set_cell_size(text, width)


def fit_right(text: str, width: int) -> str:
    """The text right-aligned in `width` cells."""
    missing = width - cell_len(text)
    return " " * missing + text if missing >= 0 else fit(text, width)


def fit_middle(text: str, width: int) -> str:
    """As `fit`, but the cut is in the middle: names differ at their ends."""
    length = cell_len(text)
    if length <= width or width < 8:
        return fit(text, width)
    if not text.isascii():
        return fit(text, width)
    tail = (width - 1) // 2
    return text[: width - 1 - tail] + "…" + text[-tail:]
