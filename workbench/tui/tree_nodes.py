"""The accounting's tree as the byte tree widget's plain nodes, made as they are opened."""

from collections.abc import Sequence

from widgets.byte_tree import ByteNode
from widgets.fact_list import Fact
from workbench.accounting.count import Row
from workbench.accounting.roles import LETTERS, Role
from workbench.accounting.rules import RULES
from workbench.accounting.tree import Node, Order, build

LONG_CHAIN = 20_000
"""Modules of more tensors than this are not looked into for a lone child."""


def roots(rows: Sequence[Row], name: str, step_bytes: int) -> list[ByteNode]:
    """The tree over `rows`; `step_bytes` is what a step reads of the whole checkpoint."""
    root = build(rows, name)
    return [_node(root, step_bytes, root.name)] if rows else []


def matching(rows: Sequence[Row], text: str) -> list[Row]:
    """The rows whose name, role or rule holds every word of `text`."""
    words = text.lower().split()
    return [row for row in rows if all(w in f"{row.name} {row.role} {row.rule}".lower() for w in words)]


def detail(node: ByteNode) -> list[Fact]:
    """The line under the tree: what the node under the cursor is, and by which rule."""
    source = node.source
    if not isinstance(source, Node):
        return []
    if source.row is not None:
        return _tensor(source.row)
    roles = ", ".join(role.replace("_", " ") for role in source.roles)
    return [Fact("module", source.path or source.name, f"{len(source.rows):,} tensors"), Fact("roles", roles)]


def _tensor(row: Row) -> list[Fact]:
    elements = 1
    for size in row.shape:
        elements *= size
    bits = f"{row.disk_bytes * 8 / elements:.3g} bits an entry" if elements else "empty"
    shape = "x".join(f"{size:,}" for size in row.shape) or "scalar"
    letter = f" {LETTERS[row.role]}" if row.role in LETTERS else ""
    role = f"{row.role.replace('_', ' ')}{letter}"
    read = "one row is looked up" if row.lookup_bytes else f"share {row.share}"
    rule = RULES.get(row.rule)
    return [
        Fact("tensor", row.name),
        Fact("form", f"{row.dtype} {shape}", bits),
        Fact("role", role, f"{read}; {row.rule}: {rule.sentence if rule else 'no such rule'}"),
    ]


def _node(node: Node, step_bytes: int, name: str) -> ByteNode:
    role = node.roles[0] if len(node.roles) == 1 else None
    return ByteNode(
        name=name,
        disk_bytes=node.disk_bytes,
        token_bytes=node.weight_bytes,
        share=node.share,
        part=node.weight_bytes / step_bytes if step_bytes else 0.0,
        letter=LETTERS.get(role, "") if role else "",
        kind=role.value if role in LETTERS else "",
        note="row" if role is Role.EMBEDDING and node.lookup_bytes and not node.weight_bytes else "",
        source=node,
        children=None if node.is_tensor else lambda by_size: _children(node, step_bytes, by_size),
    )


def _children(node: Node, step_bytes: int, by_size: bool) -> list[ByteNode]:
    order = Order.LARGEST if by_size else Order.MODEL
    return [_node(child, step_bytes, name) for child, name in map(_through, node.children(order))]


def _through(node: Node) -> tuple[Node, str]:
    """The node below a chain of lone children, and the chain's names joined."""
    name = node.name
    while not node.is_tensor and len(node.rows) <= LONG_CHAIN:
        children = node.children()
        if len(children) != 1:
            break
        node = children[0]
        name = f"{name}.{node.name}"
    return node, name
