"""The tree of a checkpoint's bytes: module paths folded, byte figures aligned, roles by letter and colour.

It shows plain nodes and knows no rule. Children are asked for when a node is opened, rows are drawn when they
come into sight: a hundred thousand tensors cost what a screenful costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from widgets.line_list import LineList, Piece, fit_middle, fit_right
from widgets.sizes import unit_for
from widgets.visible import visible

BAR_CELLS = 8
ENOUGH_LINES = 6
"""A new tree is opened along its largest nodes until it has this many lines."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class ByteNode:
    """One line of the tree: a module or a tensor.

    `token_bytes` is what one step reads; `share` is how much of the node that is, `part` how much of all that
    the step reads. `letter` and `kind` (a lower-case word that names the colour) tell its role; `more` holds
    other accounts' figures for `token_bytes`, for the tree's extra columns, `source` whatever the owner wants
    back. `children` is called on opening, with true for the largest first and false for model order.
    """

    name: str
    disk_bytes: int
    token_bytes: float
    share: float | None = None
    part: float = 0.0
    letter: str = ""
    kind: str = ""
    note: str = ""
    more: tuple[float | None, ...] = ()
    source: object = None
    children: Callable[[bool], Sequence["ByteNode"]] | None = None


@dataclass(slots=True)
class _Line:
    node: ByteNode
    depth: int
    path: tuple[str, ...]
    open: bool = False


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
        self._lines: list[_Line] = []
        self._roots: Sequence[ByteNode] = ()
        self._unit = unit_for(0)
        self._figure_cells = 0

    # --- data in ---

    def show(
        self, roots: Sequence[ByteNode], *, extra_columns: Sequence[str] = (), keep: bool = False
    ) -> None:
        """Show these nodes, a lone root opened; `keep` leaves cursor and open nodes as they are."""
        opened = {line.path for line in self._lines if line.open} if keep else set()
        here = self._lines[self.cursor].path if keep and self._lines else None
        self._roots = roots
        self.extra_columns = tuple(extra_columns)
        largest = max((node.disk_bytes for node in roots), default=0)
        self._unit = unit_for(largest)
        self._figure_cells = max(len(self._unit.text(largest)), len(self._unit.text(1)))
        self._lines = self._unfold(roots, 0, (), opened)
        if not keep and len(roots) == 1:
            self._open_largest()
        cursor = next((i for i, line in enumerate(self._lines) if line.path == here), 0)
        self.lines_changed(cursor)

    def node_at(self, index: int) -> ByteNode | None:
        """The node on a line, or None."""
        return self._lines[index].node if 0 <= index < len(self._lines) else None

    def path_at(self, index: int) -> str:
        """The dotted module path of a line, as it came: not yet made harmless."""
        return ".".join(self._lines[index].path) if 0 <= index < len(self._lines) else ""

    def watch_by_size(self) -> None:
        """Largest first, or in model order."""
        self.show(self._roots, extra_columns=self.extra_columns, keep=True)

    def _open_largest(self) -> None:
        """Open the first child of the first child and so on, until there is something to see."""
        index = 0
        while index < len(self._lines) < ENOUGH_LINES and self._open(index, quietly=True):
            index = next((i for i in range(index + 1, len(self._lines)) if self._lines[i].node.children), -1)
            if index < 0:
                break

    def _unfold(
        self, nodes: Sequence[ByteNode], depth: int, path: tuple[str, ...], opened: set[tuple[str, ...]]
    ) -> list[_Line]:
        lines = []
        for node in nodes:
            line = _Line(node, depth, (*path, node.name))
            lines.append(line)
            if line.path in opened and node.children is not None:
                line.open = True
                lines += self._unfold(node.children(self.by_size), depth + 1, line.path, opened)
        return lines

    # --- opening and closing ---

    def action_choose(self) -> None:
        """Enter opens and closes; on a tensor it is left to the screen."""
        if self._lines and self._lines[self.cursor].node.children is not None:
            self.action_fold()
        else:
            super().action_choose()

    def action_fold(self) -> None:
        """Open or close the node under the cursor."""
        if self._lines:
            self._close(self.cursor) if self._lines[self.cursor].open else self._open(self.cursor)

    def action_open(self) -> None:
        """Open the node under the cursor; when it is open, step into it."""
        if not self._lines:
            return
        if self._lines[self.cursor].open:
            self.cursor += 1
        else:
            self._open(self.cursor)

    def action_close(self) -> None:
        """Close the node under the cursor; when it is closed, go to its parent."""
        if not self._lines:
            return
        line = self._lines[self.cursor]
        if line.open:
            self._close(self.cursor)
        elif line.depth:
            self.cursor = next(
                i for i in range(self.cursor, -1, -1) if self._lines[i].depth == line.depth - 1
            )

    def action_open_below(self) -> None:
        """Open everything below the cursor, at most a few thousand lines of it."""
        index = self.cursor
        if not self._lines:
            return
        depth = self._lines[index].depth
        opened = 0
        while opened < 5000:
            opened += self._open(index, quietly=True)
            index += 1
            if index >= len(self._lines) or self._lines[index].depth <= depth:
                break
        self.lines_changed()

    def _open(self, index: int, *, quietly: bool = False) -> int:
        line = self._lines[index]
        if line.open or line.node.children is None:
            return 0
        line.open = True
        below = [
            _Line(child, line.depth + 1, (*line.path, child.name))
            for child in line.node.children(self.by_size)
        ]
        self._lines[index + 1 : index + 1] = below
        if not quietly:
            self.lines_changed()
            self.post_message(self.Opened())
        return len(below)

    def _close(self, index: int) -> None:
        line = self._lines[index]
        end = index + 1
        while end < len(self._lines) and self._lines[end].depth > line.depth:
            end += 1
        line.open = False
        del self._lines[index + 1 : end]
        self.lines_changed()
        self.post_message(self.Opened())

    # --- drawing ---

    @property
    def line_count(self) -> int:
        """Open lines."""
        return len(self._lines)

    def draw_header(self, width: int) -> Sequence[Piece]:
        """Column titles with the unit."""
        if not self._lines:
            return []
        name_width, columns = self._layout(width)
        pieces: list[Piece] = [(fit_middle("  role, module", name_width), "")]
        for column, cells in columns:
            pieces.append((fit_right(self._title(column), cells), ""))
        return pieces

    def draw_line(self, index: int, width: int) -> Sequence[Piece]:
        """One node: fold mark, role letter, name, figures."""
        line = self._lines[index]
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
