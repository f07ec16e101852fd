"""A tree of bytes as an outline: its nodes, and which of them are open. No drawing.

Children are asked for when a node is opened: a hundred thousand tensors cost what is open of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

ENOUGH_LINES = 6
"""A new tree is opened along its largest nodes until it has this many lines."""
MOST_LINES = 5000
"""Opening everything below a node stops about here."""


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
class Line:
    """A node in its place: `path` are the names down to it, its own the last."""

    node: ByteNode
    depth: int
    path: tuple[str, ...]
    open: bool = False


class Outline:
    """The open lines of some trees, top down."""

    def __init__(
        self, roots: Sequence[ByteNode] = (), *, by_size: bool = True, like: "Outline | None" = None
    ) -> None:
        """What is open in `like` is opened; without one a lone root, along its largest nodes."""
        self.roots = roots
        self.by_size = by_size
        opened = {line.path for line in like.lines if line.open} if like is not None else set()
        self.lines: list[Line] = self._unfold(roots, 0, (), opened)
        if like is None and len(roots) == 1:
            self._open_largest()

    def index_of(self, path: tuple[str, ...] | None) -> int:
        """The line with this path, 0 where there is none."""
        return next((i for i, line in enumerate(self.lines) if line.path == path), 0)

    def parent_of(self, index: int) -> int:
        """The line above it that it is a part of; itself when it is a root."""
        depth = self.lines[index].depth
        return next((i for i in range(index, -1, -1) if self.lines[i].depth == depth - 1), index)

    def open(self, index: int) -> int:
        """Open a line and say how many came below it: 0 when it is open or has nothing below."""
        line = self.lines[index]
        if line.open or line.node.children is None:
            return 0
        line.open = True
        below = [
            Line(child, line.depth + 1, (*line.path, child.name))
            for child in line.node.children(self.by_size)
        ]
        self.lines[index + 1 : index + 1] = below
        return len(below)

    def close(self, index: int) -> None:
        """Close a line with everything below it."""
        line = self.lines[index]
        end = index + 1
        while end < len(self.lines) and self.lines[end].depth > line.depth:
            end += 1
        line.open = False
        del self.lines[index + 1 : end]

    def open_below(self, index: int) -> None:
        """Open everything below a line, at most a few thousand lines of it."""
        depth = self.lines[index].depth
        opened = 0
        while opened < MOST_LINES:
            opened += self.open(index)
            index += 1
            if index >= len(self.lines) or self.lines[index].depth <= depth:
                break

    def _open_largest(self) -> None:
        """Open the first child of the first child and so on, until there is something to see."""
        index = 0
        while 0 <= index < len(self.lines) < ENOUGH_LINES and self.open(index):
            index = next((i for i in range(index + 1, len(self.lines)) if self.lines[i].node.children), -1)

    def _unfold(
        self, nodes: Sequence[ByteNode], depth: int, path: tuple[str, ...], opened: set[tuple[str, ...]]
    ) -> list[Line]:
        lines = []
        for node in nodes:
            line = Line(node, depth, (*path, node.name))
            lines.append(line)
            if line.path in opened and node.children is not None:
                line.open = True
                lines += self._unfold(node.children(self.by_size), depth + 1, line.path, opened)
        return lines
