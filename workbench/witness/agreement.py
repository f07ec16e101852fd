"""Count and graph held against each other: do they agree, and if not, over which tensors and which rules.

Pure. Bytes are bytes of the file per token; look-up rows are left out on both sides, as in the ceiling.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from workbench.accounting.count import Count, Row
from workbench.accounting.roles import Role
from workbench.escape import visible
from workbench.witness.reasons import NotWitnessed
from workbench.witness.result import GraphReading, TensorRead

TOLERANCE = 0.001
"""Count and graph may differ by this part of the count: below it no ceiling changes in its third digit."""

CONTEXT_TOLERANCE = 0.01
"""Cache reads are a row of their own; a smaller difference is not worth a mark."""

INDEXER_RULE = "sparse-indexer"
"""The count's rule for weights that sleep until the context passes a threshold."""

ASSUMED_ROUTING = "assumed routing: the model asks for its routing's values, and was told experts 0 to k-1"


class Status(StrEnum):
    """The record's words for the witness."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_WITNESSED = "not witnessed"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Tensors of one pattern (equal but for their numbers) that count and graph read differently.

    `rule` is the id of the count's rule; `graph_kind` the graph's word, `graph_reads` how often it reads the
    one that it reads most. Bytes are sums over `tensors`.
    """

    pattern: str
    rule: str
    graph_kind: str
    tensors: int
    count_bytes: int
    graph_bytes: int
    graph_reads: int = 1

    @property
    def difference_bytes(self) -> int:
        """Graph minus count."""
        return self.graph_bytes - self.count_bytes

    @property
    def words(self) -> str:
        """One line for a list or the record; the pattern is made safe to show."""
        many = f" ({self.tensors} tensors)" if self.tensors > 1 else ""
        times = f", {self.graph_reads} times" if self.graph_reads > 1 else ""
        return (
            f"{visible(self.pattern)}{many}: count {self.count_bytes:,} B by rule {self.rule}, "
            f"graph {self.graph_bytes:,} B ({self.graph_kind}{times})"
        )


@dataclass(frozen=True, slots=True)
class Agreement:
    """The seal. `difference` is graph/count - 1; it and the graph's fields are None without a graph.

    `count_bytes` is the count at this context: with the weights of a sparse attention's indexer once it is
    awake. The two `context` figures are what the step reads of KV cache and state by graph and by formula.
    `refused`: there is no honest count, and the graph stands alone. `assumed_routing`: as in `reading`, which
    is what the count was held against.
    """

    status: Status
    count_bytes: int
    graph_bytes: int | None = None
    difference: float | None = None
    at_context: int | None = None
    graph_context_bytes: int | None = None
    count_context_bytes: int | None = None
    mlx_lm: str | None = None
    disagreements: tuple[Disagreement, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str | None = None
    refused: bool = False
    assumed_routing: bool = False
    reading: GraphReading | None = field(default=None, repr=False, compare=False)

    @property
    def context_differs(self) -> bool:
        """Whether graph and formulas read other amounts of KV cache and state."""
        graph, formula = self.graph_context_bytes or 0, self.count_context_bytes or 0
        return abs(graph - formula) > CONTEXT_TOLERANCE * max(graph, formula)

    @property
    def bytes_in_force(self) -> int | None:
        """The graph's bytes where the ceiling must use them instead of the count's, else None."""
        return self.graph_bytes if self.status is Status.DIFFERS else None


def compare(count: Count, seen: GraphReading | NotWitnessed) -> Agreement:
    """Hold one reading of the graph against the count. Pass the count without overrides.

    A count that was refused agrees with nothing.
    """
    if isinstance(seen, NotWitnessed):
        refused = count.refusal is not None
        return Agreement(Status.NOT_WITNESSED, count.weight_bytes, reason=seen.words, refused=refused)
    base = count.weight_bytes + _awake_bytes(count, seen)
    difference = seen.weight_bytes / base - 1 if base else (inf if seen.weight_bytes else 0.0)
    agrees = abs(difference) <= TOLERANCE and count.refusal is None
    return Agreement(
        status=Status.AGREES if agrees else Status.DIFFERS,
        count_bytes=base,
        graph_bytes=seen.weight_bytes,
        difference=difference,
        at_context=seen.context,
        graph_context_bytes=seen.context_read_bytes,
        count_context_bytes=_formula_bytes(count, seen),
        mlx_lm=seen.mlx_lm,
        disagreements=disagreements(count, seen),
        notes=_notes(count, seen),
        refused=count.refusal is not None,
        assumed_routing=seen.assumed_routing,
        reading=seen,
    )


def disagreements(count: Count, seen: GraphReading) -> tuple[Disagreement, ...]:
    """The tensors that the two read differently, the largest difference first.

    One byte of rounding a tensor is no disagreement. Where the routing was assumed, the graph read the first
    k experts whole and no other: experts are then compared by their sum.
    """
    awake = _awake_bytes(count, seen) > 0
    rows = {
        row.name: row._replace(weight_bytes=row.disk_bytes) if awake and row.rule == INDEXER_RULE else row
        for row in count.rows
    }
    pairs = [(rows[read.name], read) for read in seen.reads if read.name in rows]
    if seen.assumed_routing:
        experts = [(row, read) for row, read in pairs if row.role is Role.EXPERT]
        by_count, by_graph = sum(r.weight_bytes for r, _ in experts), sum(g.weight_bytes for _, g in experts)
        if abs(by_graph - by_count) <= TOLERANCE * by_count:
            pairs = [(row, read) for row, read in pairs if row.role is not Role.EXPERT]
    found: dict[tuple[str, str, str], list[tuple[Row, TensorRead]]] = {}
    for row, read in pairs:
        if abs(read.weight_bytes - row.weight_bytes) > 1:
            found.setdefault((pattern_of(row.name), row.rule, read.kind), []).append((row, read))
    listed = [_disagreement(key, members) for key, members in found.items()]
    return tuple(sorted(listed, key=lambda one: -abs(one.difference_bytes)))


def pattern_of(name: str) -> str:
    """A tensor's name with `*` for its numbers: `layers.*.mlp.up.weight`."""
    return re.sub(r"(?<=\.)\d+(?=\.)", "*", name)


def _disagreement(key: tuple[str, str, str], members: Sequence[tuple[Row, TensorRead]]) -> Disagreement:
    pattern, rule, kind = key
    return Disagreement(
        pattern=pattern if len(members) > 1 else members[0][0].name,
        rule=rule,
        graph_kind=kind,
        tensors=len(members),
        count_bytes=sum(row.weight_bytes for row, _ in members),
        graph_bytes=sum(read.weight_bytes for _, read in members),
        graph_reads=max(read.reads for _, read in members) if kind == "full" else 1,
    )


def _awake_bytes(count: Count, seen: GraphReading) -> int:
    """Weights of a sparse indexer that the count expects to be awake; 0 where it knows no threshold."""
    context = count.context
    return context.at(seen.context + 1).indexer_weight_bytes if context.indexer_threshold else 0


def _formula_bytes(count: Count, seen: GraphReading) -> int:
    return count.context.at(seen.context + 1).read_bytes  # the step's own token is attended to as well


def _notes(count: Count, seen: GraphReading) -> tuple[str, ...]:
    notes = []
    if count.refusal is not None:
        notes.append("the count was refused, so that the graph stands alone")
    if seen.assumed_routing:
        notes.append(ASSUMED_ROUTING)
    if seen.unknown:
        notes.append(
            f"mlx-lm refuses to load this checkpoint: the model has no place for {len(seen.unknown)} "
            f"tensors, for example {visible(seen.unknown[0])}"
        )
    if seen.cache_only:
        sizes = {row.name: row.disk_bytes for row in count.rows}
        waiting = sum(sizes.get(name, 0) for name in seen.cache_only)
        notes.append(
            f"{len(seen.cache_only)} tensors ({waiting:,} B) only feed the cache at this context: "
            "they do not reach this token's logits, and may be read for a later one's"
        )
    return tuple(notes)
