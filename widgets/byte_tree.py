"""The tree of a checkpoint's bytes: module paths folded, byte figures aligned, roles by letter and colour.

It shows plain nodes and knows no rule; which of them are open is the `outline`. Rows are drawn when they come
into sight: a hundred thousand tensors cost what a screenful costs.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from widgets.line_list import LineList, Piece, fit_middle, fit_right
from widgets.outline import ByteNode, Outline
from widgets.sizes import unit_for
from widgets.visible import visible

BAR_CELLS = 8
_EIGHTHS = " ▏▎▍▌▋▊▉█"


class ByteTree(LineList):
    """A foldable tree with byte columns. Posts `Moved` and `Chosen` with line indexes; see `node_at`."""

    KINDS: ClassVar[tuple[str, ...]] = (
        "vision",
        "audio",
        "projector",
        "embedding",
        "head",
        "expert",
        "draft",
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"byte-tree--{kind}" for kind in KINDS} | {
        "byte-tree--unread",
        "byte-tree--note",
        "byte-tree--guide",
    }
    DEFAULT_CSS = """
    ByteTree {
        &> .byte-tree--vision { color: #56b4e9; }
        &> .byte-tree--audio { color: #56b4e9; }
        &> .byte-tree--projector { color: #56b4e9; }
        &> .byte-tree--embedding { color: #f0e442; }
        &> .byte-tree--head { color: #e69f00; }
        &> .byte-tree--expert { color: #2fc79b; }
        &> .byte-tree--draft { color: #e79ac3; }
        &> .byte-tree--unread { color: $text-muted; }
        &> .byte-tree--note { color: $text-warning; }
        &> .byte-tree--guide { color: $text-muted; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "open", "Open", show=False),
        Binding("left,h", "close", "Close", show=False),
        Binding("space", "fold", "Open or close", show=False),
        Binding("asterisk", "open_below", "Open all below", show=False),
    ]

    by_size: reactive[bool] = reactive(True, repaint=False)

    class Opened(Message):
        """A node was opened or closed."""

    def __init__(self, extra_columns: Sequence[str] = (), *, id: str | None = None) -> None:
        """`extra_columns` are headers for the nodes' `more` figures, in bytes: one is left of the count."""
        super().__init__(id=id)
        self.extra_columns = tuple(extra_columns)
        self._outline = Outline()
        self._unit = unit_for(0)
        self._figure_cells = 0

    # --- data in ---

    def show(
        self, roots: Sequence[ByteNode], *, extra_columns: Sequence[str] = (), keep: bool = False
    ) -> None:
        """Show these nodes, a lone root opened; `keep` leaves cursor and open nodes as they are."""
        before = self._outline
        self.extra_columns = tuple(extra_columns)
        largest = max((node.disk_bytes for node in roots), default=0)
        self._unit = unit_for(largest)
        self._figure_cells = max(len(self._unit.text(largest)), len(self._unit.text(1)))
        here = before.lines[self.cursor].path if keep and before.lines else None
        self._outline = Outline(roots, by_size=self.by_size, like=before if keep else None)
        self.lines_changed(self._outline.index_of(here))

    def node_at(self, index: int) -> ByteNode | None:
        """The node on a line, or None."""
        lines = self._outline.lines
        return lines[index].node if 0 <= index < len(lines) else None

    def path_at(self, index: int) -> str:
        """The dotted module path of a line, as it came: not yet made harmless."""
        lines = self._outline.lines
        return ".".join(lines[index].path) if 0 <= index < len(lines) else ""

    def watch_by_size(self) -> None:
        """Largest first, or in model order."""
        self.show(self._outline.roots, extra_columns=self.extra_columns, keep=True)

    # --- opening and closing ---

    def action_choose(self) -> None:
        """Enter opens and closes; on a tensor it is left to the screen."""
        node = self.node_at(self.cursor)
        if node is not None and node.children is not None:
            self.action_fold()
        else:
            super().action_choose()

    def action_fold(self) -> None:
        """Open or close the node under the cursor."""
        if self._outline.lines:
            self._close() if self._outline.lines[self.cursor].open else self._open()

    def action_open(self) -> None:
        """Open the node under the cursor; when it is open, step into it."""
        if not self._outline.lines:
            return
        if self._outline.lines[self.cursor].open:
            self.cursor += 1
        else:
            self._open()

    def action_close(self) -> None:
        """Close the node under the cursor; when it is closed, go to its parent."""
        if not self._outline.lines:
            return
        if self._outline.lines[self.cursor].open:
            self._close()
        else:
            self.cursor = self._outline.parent_of(self.cursor)

    def action_open_below(self) -> None:
        """Open everything below the cursor, at most a few thousand lines of it."""
        if self._outline.lines:
            self._outline.open_below(self.cursor)
            self.lines_changed()

    def _open(self) -> None:
        if self._outline.lines[self.cursor].node.children is not None:
            self._outline.open(self.cursor)
            self.lines_changed()
            self.post_message(self.Opened())

    def _close(self) -> None:
        self._outline.close(self.cursor)
        self.lines_changed()
        self.post_message(self.Opened())

    # --- drawing ---

    @property
    def line_count(self) -> int:
        """Open lines."""
        return len(self._outline.lines)

    def draw_header(self, width: int) -> Sequence[Piece]:
        """Column titles with the unit."""
        if not self._outline.lines:
            return []
        name_width, columns = self._layout(width)
        pieces: list[Piece] = [(fit_middle("  role, module", name_width), "")]
        for column, cells in columns:
            pieces.append((fit_right(self._title(column), cells), ""))
        return pieces

    def draw_line(self, index: int, width: int) -> Sequence[Piece]:
        """One node: fold mark, role letter, name, figures."""
        line = self._outline.lines[index]
        node = line.node
        name_width, columns = self._layout(width)
        mark = " " if node.children is None else "▾" if line.open else "▸"
        indent = min(line.depth, max(0, (name_width - 14) // 2))
        colour = f"byte-tree--{node.kind}" if node.kind else ""
        unread = node.token_bytes == 0 and not node.kind
        pieces: list[Piece] = [
            ("  " * indent + mark + " ", "byte-tree--guide"),
            (f"{node.letter or ' '} ", colour),
        ]
        left = name_width - 2 * indent - 4
        note = f" {node.note}" if node.note and left - len(node.note) > 12 else ""
        name = visible(node.name, max(16, left))
        if note:
            shown = fit_middle(name, min(len(name), left - len(note)))
            pieces += [(shown, colour), (fit_middle(note, left - len(shown)), "byte-tree--note")]
        else:
            pieces.append((fit_middle(name, left), colour or ("byte-tree--unread" if unread else "")))
        figures_class = "byte-tree--unread" if unread else ""
        for column, cells in columns:
            pieces.append(
                (fit_right(self._figure(node, column), cells), colour if column == "bar" else figures_class)
            )
        return pieces

    def _layout(self, width: int) -> tuple[int, list[tuple[str, int]]]:
        """The name's width and the columns that fit, least important left out first."""
        extra = self.extra_columns
        wanted = ((("token",), 0), (("disk",), 22), (extra, 20), (("share",), 19), (("bar",), 30))
        columns: list[tuple[str, int]] = []
        room = width
        for group, least_name_cells in wanted:
            cells = [(column, self._cells(column)) for column in group]
            needed = sum(width for _, width in cells)
            if room - needed >= least_name_cells:
                columns += cells
                room -= needed
        order = ("disk", *extra[:1], "token", *extra[1:], "share", "bar")
        columns.sort(key=lambda column: order.index(column[0]))
        return room, columns

    def _cells(self, column: str) -> int:
        if column == "bar":
            return BAR_CELLS + 1
        figure = len("100.0 %") if column == "share" else self._figure_cells + 1
        return max(figure, len(self._title(column))) + 1

    def _title(self, column: str) -> str:
        if column in {"share", "bar"}:
            return column if column == "share" else ""
        name = "count" if column == "token" and self.extra_columns else column
        return f"{name} {self._unit.name}"

    def _figure(self, node: ByteNode, column: str) -> str:
        if column == "disk":
            return self._unit.text(node.disk_bytes)
        if column == "token":
            return self._unit.text(node.token_bytes)
        if column == "share":
            return share_text(node.share)
        if column == "bar":
            return _bar(node.part)
        position = self.extra_columns.index(column)
        value = node.more[position] if position < len(node.more) else None
        return "–" if value is None else self._unit.text(value)


def share_text(share: float | None) -> str:
    """A share in per cent; an exact zero is `0 %`, a tiny one is not rounded to it."""
    if share is None:
        return ""
    if share == 0:
        return "0 %"
    return "<0.1 %" if share < 0.0005 else f"{share * 100:.1f} %"


def _bar(share: float) -> str:
    eighths = round(max(0.0, min(share, 1.0)) * BAR_CELLS * 8)
    full, part = divmod(eighths, 8)
    return (" " + "█" * full + (_EIGHTHS[part] if part else "")).ljust(BAR_CELLS + 1)
