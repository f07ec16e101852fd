"""One pass over a checkpoint's tensors: patterns of names, the decoder stack, its layers and their kinds.

A pattern is all tensors whose names differ in their numbers only and whose shapes agree: rules judge patterns,
so that a hundred thousand tensors cost a few dozen judgements. Structure only; no role is decided here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from workbench.accounting.modules import is_draft, modality
from workbench.accounting.names import Path, folded, is_index, path_of
from workbench.checkpoint.checkpoint import Tensor


@dataclass(eq=False, slots=True)
class Pattern:
    """Tensors alike. `layers` counts them by the first list index of their names ("" without one)."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    bytes: int = 0
    layers: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Layer:
    """One entry of the decoder stack: its index and its kind (equal for layers with the same patterns)."""

    index: int
    kind: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What the names and shapes say by themselves.

    `pattern_of` and `layer_of` run parallel to the tensors. `stack` is the decoder stack's path, `layers` its
    entries by their index as written; `siblings` are all segments that a kind of layer has inside a block.
    `beside` are other numbered lists of layers that belong to the language model.
    """

    patterns: tuple[Pattern, ...]
    pattern_of: Sequence[Pattern]
    layer_of: Sequence[str]
    stack: str
    layers: dict[str, Layer]
    siblings: dict[tuple[int, str], frozenset[str]]
    beside: dict[str, int]

    @property
    def root(self) -> str:
        """The language model's outermost segment, for example `language_model`; empty if there is none."""
        return next((s for s in self.stack.split(".") if s in LANGUAGE_ROOTS), "")


LANGUAGE_ROOTS = ("language_model", "text_model", "llm", "language", "thinker")


def survey(tensors: Iterable[Tensor]) -> Survey:
    """Read all names once."""
    patterns: dict[tuple[str, tuple[int, ...]], Pattern] = {}
    pattern_of: list[Pattern] = []
    layer_of: list[str] = []
    for tensor in tensors:
        name = tensor.name
        key = (folded(name), tensor.shape)
        pattern = patterns.get(key)
        if pattern is None:
            pattern = patterns[key] = Pattern(path_of(name), tensor.dtype, tensor.shape)
        position = pattern.path.position
        layer = "" if position is None else _segment(name, position)
        pattern.layers[layer] = pattern.layers.get(layer, 0) + 1
        pattern.bytes += tensor.nbytes
        pattern_of.append(pattern)
        layer_of.append(layer)
    found = tuple(patterns.values())
    stack = _decoder_stack(found)
    layers, siblings = _layers(found, stack)
    beside = {
        other: len({layer for p in found if p.path.stack == other for layer in p.layers})
        for other in {p.path.stack for p in found}
        if other != stack and other.rpartition(".")[2].endswith("layers") and not _foreign_stack(found, other)
    }
    return Survey(found, pattern_of, layer_of, stack, layers, siblings, beside)


def _segment(name: str, position: int) -> str:
    parts = name.split(".", position + 1)
    return parts[position] if position < len(parts) else ""


def _decoder_stack(patterns: Sequence[Pattern]) -> str:
    """The numbered list with the most bytes that is neither a tower nor a draft."""
    weight: dict[str, int] = {}
    for pattern in patterns:
        path = pattern.path
        if path.position is not None and not is_draft(path) and modality(path) is None:
            weight[path.stack] = weight.get(path.stack, 0) + pattern.bytes
    return max(weight, key=lambda stack: (weight[stack], stack), default="")


def _foreign_stack(patterns: Sequence[Pattern], stack: str) -> bool:
    return any(p.path.stack == stack and (is_draft(p.path) or modality(p.path) is not None) for p in patterns)


def _layers(
    patterns: Sequence[Pattern], stack: str
) -> tuple[dict[str, Layer], dict[tuple[int, str], frozenset[str]]]:
    members: dict[str, list[int]] = {}
    inside = [pattern for pattern in patterns if stack and pattern.path.stack == stack]
    for number, pattern in enumerate(inside):
        for layer in pattern.layers:
            if is_index(layer):
                members.setdefault(layer, []).append(number)
    kinds: dict[tuple[int, ...], int] = {}
    layers = {}
    siblings: dict[tuple[int, str], set[str]] = {}
    for layer, numbers in members.items():
        known = tuple(numbers)
        if known not in kinds:
            kinds[known] = len(kinds)
            for number in numbers:
                path = inside[number].path
                block = path.inside[0] if path.inside else ""
                siblings.setdefault((kinds[known], block), set()).update(path.inside)
        layers[layer] = Layer(int(layer), kinds[known])
    return layers, {key: frozenset(names) for key, names in siblings.items()}
