"""The byte tree: rows folded by module path, each node with its bytes on disk, resident, read and looked up.

Lazy: a node keeps its rows and folds them when its children are asked for, so that a hundred thousand tensors
open at once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from workbench.accounting.count import Row
from workbench.accounting.roles import Role


class Order(StrEnum):
    """How children stand: by what a token reads of them (then by size on disk), or as the model runs."""

    LARGEST = "largest"
    MODEL = "model"


@dataclass(slots=True, eq=False)
class Node:
    """A module or, with `row`, a tensor. `name` is its path segment(s), `path` the whole path.

    Byte figures are sums over `rows`; `roles` holds the roles that occur, the largest on disk first.
    """

    name: str
    path: str
    rows: Sequence[Row]
    disk_bytes: int = 0
    resident_bytes: int = 0
    weight_bytes: int = 0
    lookup_bytes: int = 0
    roles: tuple[Role, ...] = ()
    row: Row | None = None
    is_root: bool = False
    _folded: tuple["Node", ...] | None = field(default=None, repr=False)

    @property
    def share(self) -> float:
        """How much of the node's bytes on disk one step reads (0 for an empty one)."""
        return self.weight_bytes / self.disk_bytes if self.disk_bytes else 0.0

    @property
    def is_tensor(self) -> bool:
        """Whether this is a leaf."""
        return self.row is not None

    def children(self, order: Order = Order.LARGEST) -> tuple["Node", ...]:
        """The parts, folded on first use."""
        if self._folded is None:
            self._folded = () if self.row is not None else tuple(_fold(self))
        return tuple(sorted(self._folded, key=_KEYS[order]))


def build(rows: Iterable[Row], name: str = "") -> Node:
    """The tree's root over `rows` (a Count's, or any of them)."""
    root = _node(name, "", tuple(rows))
    root.is_root = True
    return root


def _fold(parent: Node) -> Iterable[Node]:
    groups: dict[str, list[Row]] = {}
    start = 0 if parent.is_root else len(parent.path) + 1
    for row in parent.rows:
        end = row.name.find(".", start)
        if end < 0:
            yield _leaf(row.name[start:], row)
        else:
            groups.setdefault(row.name[start:end], []).append(row)
    for segment, rows in groups.items():
        yield _node(segment, segment if parent.is_root else f"{parent.path}.{segment}", rows)


def _leaf(segment: str, row: Row) -> Node:
    return Node(
        segment,
        row.name,
        (row,),
        row.disk_bytes,
        row.resident_bytes,
        row.weight_bytes,
        row.lookup_bytes,
        (row.role,),
        row,
    )


def _node(name: str, path: str, rows: Sequence[Row]) -> Node:
    disk = resident = weight = lookup = 0
    roles: dict[Role, int] = {}
    for row in rows:
        size = row.disk_bytes
        disk += size
        resident += row.resident_bytes
        weight += row.weight_bytes
        lookup += row.lookup_bytes
        roles[row.role] = roles.get(row.role, 0) + size
    ordered = tuple(sorted(roles, key=lambda role: -roles[role]))
    return Node(name, path, rows, disk, resident, weight, lookup, ordered)


_PLACES = {Role.EMBEDDING: 0, Role.POSITION: 1, Role.NORM: 3, Role.HEAD: 4, Role.PROJECTOR: 6, Role.DRAFT: 7}
_TOWERS = frozenset({Role.VISION, Role.AUDIO})


def _in_model_order(node: Node) -> tuple[int, int, int, str]:
    if node.name.isascii() and node.name.isdecimal() and len(node.name) < 10:
        return (2, 0, int(node.name), "")
    main = node.roles[0] if node.roles else Role.OTHER
    only = len(node.roles) == 1
    place = 5 if main in _TOWERS else _PLACES.get(main, 2) if only else 2
    return (place, 1, 0, node.name)


def _largest_first(node: Node) -> tuple[int, int, str]:
    return (-node.weight_bytes, -node.disk_bytes, node.name)


_KEYS: dict[Order, Callable[[Node], tuple[int | str, ...]]] = {
    Order.LARGEST: _largest_first,
    Order.MODEL: _in_model_order,
}
