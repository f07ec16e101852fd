"""An exported graph as plain data, and what flows where in it. No mlx: a graph can be written by hand."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from math import prod

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """One primitive: its name, and the ids of the arrays it takes and gives."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(slots=True)
class Graph:
    """A function as it was exported: nodes in an order in which inputs come before uses.

    `inputs` and `outputs` are array ids in the order of the function's arguments and results.
    """

    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)

    def size(self, array: str) -> int:
        """Elements of an array."""
        return prod(self.shapes[array])

    def record(self, event: dict) -> None:  # type: ignore[type-arg]
        """Take one event of `mx.export_function`'s callback."""
        kind = event["type"]
        if kind == "primitive":
            self._see(event["inputs"])
            self._see(event["outputs"])
            inputs = tuple(entry[0] for entry in event["inputs"])
            self.nodes.append(Node(event["name"], inputs, tuple(entry[0] for entry in event["outputs"])))
        elif kind in {"inputs", "outputs"}:
            self._see(event[kind])
            getattr(self, kind).extend(entry[0] for entry in event[kind])

    def _see(self, entries: Iterable[tuple[str, Shape, object]]) -> None:
        for array, shape, _ in entries:
            self.shapes[array] = tuple(shape)


# Operations whose result holds only a part, or a multiple, of what goes in.
_RESIZING = {"Slice", "DynamicSlice", "Split", "Gather", "GatherAxis", "Pad", "Broadcast", "BroadcastAxes"}


def origins(graph: Graph) -> list[dict[int, float]]:
    """For each output: which inputs it was made of, as {index of the input: part of it that went in}.

    An input that was sliced counts by the elements that are left. One that was spread out over a larger
    array (a block's scale over its weights) goes to the outputs in proportion to what each holds of that.
    """
    made_of: dict[str, dict[int, float]] = {array: {i: 1.0} for i, array in enumerate(graph.inputs)}
    for node in graph.nodes:
        sources = [(array, made_of[array]) for array in node.inputs if array in made_of]
        if not sources:
            continue
        for output in node.outputs:
            made_of[output] = _merged(graph, node, output, sources)
    spread: dict[int, float] = defaultdict(float)
    for array in set(graph.outputs):
        for i, part in made_of.get(array, {}).items():
            spread[i] += part
    return [
        {i: part if part <= 1 else part / spread[i] for i, part in made_of.get(array, {}).items()}
        for array in graph.outputs
    ]


def _merged(
    graph: Graph, node: Node, output: str, sources: list[tuple[str, dict[int, float]]]
) -> dict[int, float]:
    resizing = node.op in _RESIZING
    if len(sources) == 1 and not resizing:
        return sources[0][1]
    merged: dict[int, float] = defaultdict(float)
    for array, parts in sources:
        factor = graph.size(output) / max(graph.size(array), 1) if resizing else 1.0
        for i, part in parts.items():
            merged[i] += part * factor
    return dict(merged)


def reaching(graph: Graph, targets: Collection[str]) -> set[str]:
    """Every array that some array of `targets` depends on, the targets themselves included."""
    reached = set(targets)
    for node in reversed(graph.nodes):
        if not reached.isdisjoint(node.outputs):
            reached.update(node.inputs)
    return reached
