"""How one decode step reads each of its inputs: in full, by row, by expert, or never.

A parameter is followed through views of it (transposed, sliced, cast) to the operations that consume it.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial

from workbench.worker.jobs.tracing.graph import Graph, Node, reaching

_PARTS = {"Slice", "DynamicSlice", "Split"}

_VIEWS = _PARTS | {
    "AsStrided",
    "AsType",
    "Broadcast",
    "BroadcastAxes",
    "Concatenate",
    "Contiguous",
    "Copy",
    "DynamicSliceUpdate",
    "ExpandDims",
    "Flatten",
    "Reshape",
    "SliceUpdate",
    "Squeeze",
    "StopGradient",
    "Transpose",
    "Unflatten",
    "View",
}
"""Operations that read nothing by themselves: what they give is (a part of) what they were given."""

_PASSES = {
    "AddMM",
    "BlockMaskedMM",
    "Convolution",
    "LayerNorm",
    "Matmul",
    "QQMatmul",
    "QuantizedMatmul",
    "RMSNorm",
    "ScaledDotProductAttention",
    "SegmentedMM",
}
"""Operations that pass over a tensor once each. All others are element-wise uses: as many reads as the most
frequent of them (a norm's weight in a layer that runs twice is multiplied twice)."""


@dataclass(slots=True)
class Read:
    """One input's reads; each figure is a part of the tensor, and passes 1 where it is read again.

    `passed` was read by operations that pass over it, `used` by each element-wise operation, `routed` by an
    index that depends on parameters (experts), `rows` by any other index.
    """

    passed: float = 0.0
    used: dict[str, float] = field(default_factory=dict)
    routed: float = 0.0
    rows: float = 0.0
    lookups: int = 0

    @property
    def share(self) -> float:
        """How much of the tensor the step reads, look-up rows left out."""
        return max(self.passed, *self.used.values(), 0.0) + self.routed

    @property
    def kind(self) -> str:
        """The witness's word for it: full, experts, lookup or never."""
        if self.passed or self.used:
            return "full"
        if self.routed:
            return "experts"
        return "lookup" if self.rows else "never"

    @property
    def times(self) -> int:
        """How often the step reads it: slices that add up to the tensor are one read."""
        return max(1, round(self.share)) if self.kind == "full" else self.lookups


def reads(graph: Graph, targets: Collection[str], parameters: int) -> list[Read]:
    """How the way to `targets` reads each input of the graph; the first `parameters` ones are weights."""
    found = [Read() for _ in graph.inputs]
    views: dict[str, dict[int, float]] = {array: {i: 1.0} for i, array in enumerate(graph.inputs)}
    weighted = set(graph.inputs[:parameters])  # arrays that depend on a weight
    needed = reaching(graph, targets)
    for node in graph.nodes:
        if not weighted.isdisjoint(node.inputs):
            weighted.update(node.outputs)
        if needed.isdisjoint(node.outputs):
            continue
        for place, array in enumerate(node.inputs):
            if array not in views:
                continue
            if node.op in _VIEWS:
                _pass_on(graph, node, array, views)
                continue
            take = _taking(graph, node, place, routed=not weighted.isdisjoint(node.inputs[1:]))
            for i, share in views[array].items():
                take(found[i], share)
    return found


def _pass_on(graph: Graph, node: Node, array: str, views: dict[str, dict[int, float]]) -> None:
    for output in node.outputs:
        factor = graph.size(output) / max(graph.size(array), 1) if node.op in _PARTS else 1.0
        held = views.setdefault(output, {})
        for i, share in views[array].items():
            held[i] = held.get(i, 0.0) + share * factor


def _taking(graph: Graph, node: Node, place: int, *, routed: bool) -> Callable[[Read, float], None]:
    """How a node that is no view reads its input number `place`."""
    if node.op in {"GatherMM", "GatherQMM"} and place > 0:
        chosen = graph.size(node.inputs[-1]) / graph.shapes[node.inputs[1]][0]
        return partial(_take_experts, part=min(1.0, chosen))
    if node.op in {"Gather", "GatherAxis"} and place == 0:
        part = min(1.0, graph.size(node.outputs[0]) / max(graph.size(node.inputs[0]), 1))
        return partial(_take_experts if routed else _take_rows, part=part)
    return _pass_over if node.op in _PASSES else partial(_use, op=node.op)


def _take_experts(read: Read, share: float, part: float) -> None:
    read.routed += share * part
    read.lookups += 1


def _take_rows(read: Read, share: float, part: float) -> None:
    read.rows += share * part
    read.lookups += 1


def _pass_over(read: Read, share: float) -> None:
    read.passed += share


def _use(read: Read, share: float, op: str) -> None:
    read.used[op] = read.used.get(op, 0.0) + share
