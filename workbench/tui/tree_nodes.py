"""The accounting's tree as the byte tree widget's plain nodes, made as they are opened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from widgets.fact_list import Fact
from widgets.outline import ByteNode
from widgets.sizes import sized
from workbench.accounting.count import RECORDED, Count, Row, SeedCount
from workbench.accounting.roles import LETTERS, Role
from workbench.accounting.seedrow import seed_bytes
from workbench.accounting.tree import Node, Order, build
from workbench.tui.seal import Looked
from workbench.witness.agreement import pattern_of

LONG_CHAIN = 20_000
"""Modules of more tensors than this are not looked into for a lone child."""
COLUMNS = ("seed", "graph")
"""The accounts beside the count, as columns of the tree."""


@dataclass(frozen=True, slots=True)
class Accounts:
    """What the tree sets beside the count. `graph` has bytes per token by tensor, None while unwitnessed.

    `step_bytes` is what a step reads of the whole checkpoint; `disputed` are the patterns (and names) of
    tensors that count and graph read differently.
    """

    step_bytes: int
    seed: SeedCount
    overridden: bool = False
    graph: Mapping[str, int] | None = None
    disputed: frozenset[str] = field(default_factory=frozenset)


def accounts_of(count: Count, looked: Looked | None) -> Accounts:
    """The seed rule's column, and the graph's once it was looked at."""
    reading = looked.agreement.reading if looked is not None else None
    if looked is None or reading is None:
        return Accounts(count.weight_bytes, count.seed, count.is_overridden)
    graph = {read.name: read.weight_bytes for read in reading.reads}
    disputed = frozenset(one.pattern for one in looked.agreement.disagreements)
    return Accounts(count.weight_bytes, count.seed, count.is_overridden, graph, disputed)


def roots(rows: Sequence[Row], name: str, accounts: Accounts) -> list[ByteNode]:
    """The tree over `rows`, with the accounts' columns."""
    root = build(rows, name)
    return [_node(root, accounts, root.name)] if rows else []


def matching(rows: Sequence[Row], text: str) -> list[Row]:
    """The rows whose name, role or rule holds every word of `text`."""
    words = text.lower().split()
    return [row for row in rows if all(w in f"{row.name} {row.role} {row.rule}".lower() for w in words)]


def detail(node: ByteNode, rows: Sequence[Row] = (), config: Mapping[str, Any] | None = None) -> list[Fact]:
    """The line under the tree: what the node under the cursor is, and by which rule.

    `rows` and `config` are its checkpoint's: they say how many bits a packed weight has.
    """
    source = node.source
    if not isinstance(source, Node):
        return []
    reads = Fact("a token reads", *_three(node), mark=node.note == DIFFERS)
    if source.row is not None:
        return [*_tensor(source.row, rows, config or {}), reads]
    roles = ", ".join(role.replace("_", " ") for role in source.roles)
    name = Fact("module", source.path or source.name, f"{len(source.rows):,} tensors")
    return [name, reads, Fact("roles", roles)]


def _three(node: ByteNode) -> tuple[str, str]:
    """The count's figure, and the other two accounts' beside it."""
    seed, graph = node.more
    by_graph = "" if graph is None else f", graph {sized(graph)}"
    by_seed = "" if seed is None else f"; seed rule {sized(seed)}"
    source = node.source
    overridden = isinstance(source, Node) and any(row.rule == OVERRIDDEN for row in source.rows)
    by = "with the override" if overridden else "by the count"
    return sized(node.token_bytes), f"{by}{by_seed}{by_graph}"


def _tensor(row: Row, rows: Sequence[Row], config: Mapping[str, Any]) -> list[Fact]:
    from workbench.accounting.rules import RULES  # loads with the first count, not with the first screen
    from workbench.accounting.weight_bits import bits_words

    if row.rule == RECORDED:
        return [Fact("role", row.name, f"share {float(row.share):.4g}, as the record has it")]
    shape = "x".join(f"{size:,}" for size in row.shape) or "scalar"
    letter = f" {LETTERS[row.role]}" if row.role in LETTERS else ""
    role = f"{row.role.replace('_', ' ')}{letter}"
    read = "one row is looked up" if row.lookup_bytes else f"share {row.share}"
    rule = RULES.get(row.rule)
    return [
        Fact("tensor", row.name),
        Fact("form", f"{row.dtype} {shape}", bits_words(row, rows, config)),
        Fact("role", role, f"{read}; {row.rule}: {rule.sentence if rule else 'no such rule'}"),
    ]


def _node(node: Node, accounts: Accounts, name: str) -> ByteNode:
    role = node.roles[0] if len(node.roles) == 1 else None
    graph = accounts.graph
    return ByteNode(
        name=name,
        disk_bytes=node.disk_bytes,
        token_bytes=node.weight_bytes,
        share=node.share,
        part=node.weight_bytes / accounts.step_bytes if accounts.step_bytes else 0.0,
        letter=LETTERS.get(role, "") if role else "",
        kind=role.value if role in LETTERS else "",
        note=_note(node, role, accounts),
        more=(
            None if node.rows[0].rule == RECORDED else seed_bytes(node.rows, accounts.seed),
            None if graph is None else sum(graph.get(row.name, 0) for row in node.rows),
        ),
        source=node,
        children=None if node.is_tensor else lambda by_size: _children(node, accounts, by_size),
    )


OVERRIDDEN, OVERRIDE_MARK = "override", "*"
"""A person's word stands in the place of the rules': the rule of such a row, and its sign in the tree."""
DIFFERS = "≠"
"""Count and graph read it, or something below it, differently."""


def _note(node: Node, role: Role | None, accounts: Accounts) -> str:
    if accounts.disputed and any(_is_disputed(row, accounts) for row in node.rows):
        return DIFFERS
    if accounts.overridden and any(row.rule == OVERRIDDEN for row in node.rows):
        return OVERRIDE_MARK
    looked_up = role is Role.EMBEDDING and node.lookup_bytes and not node.weight_bytes
    return "row" if looked_up else ""


def _is_disputed(row: Row, accounts: Accounts) -> bool:
    graph_bytes = (accounts.graph or {}).get(row.name)
    if graph_bytes is None or abs(graph_bytes - row.weight_bytes) <= 1:
        return False
    return row.name in accounts.disputed or pattern_of(row.name) in accounts.disputed


def _children(node: Node, accounts: Accounts, by_size: bool) -> list[ByteNode]:
    order = Order.LARGEST if by_size else Order.MODEL
    return [_node(child, accounts, name) for child, name in map(_through, node.children(order))]


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
