"""One pass over a checkpoint's tensors: groups of alike names, the decoder stack, its layers and their kinds.

Rules judge groups, not tensors, so that a hundred thousand tensors cost a few hundred judgements. Structure
only: no role is decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.accounting.modules import is_draft, modality
from workbench.accounting.names import Path, at_first_index, folded, is_index, path_of
from workbench.checkpoint.checkpoint import Tensor

LANGUAGE_ROOTS = frozenset({"language_model", "text_model", "llm", "language", "thinker"})


@dataclass(eq=False, slots=True)
class Pattern:
    """Tensors whose names differ in list indices only and whose dtype and shape agree."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    groups: dict[str, "Group"] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Bytes on disk of all its tensors."""
        return sum(group.bytes for group in self.groups.values())


@dataclass(eq=False, slots=True)
class Group:
    """A pattern's tensors in one layer (`written` is its index in the name, "" outside any list).

    `number` counts groups through; `first_bytes` is the size that all members normally share. `listed` is how
    long the list inside the layer is that they stand in (experts by number), 0 outside one; `lowest` the
    first entry that is theirs where the list's entries differ in shape.
    """

    number: int
    pattern: Pattern
    written: str
    first_bytes: int
    tensors: int = 0
    bytes: int = 0
    listed: int = 0
    lowest: int = 0


@dataclass(frozen=True, slots=True)
class Layer:
    """One entry of a layer stack: its index and its kind (equal for layers with the same patterns)."""

    index: int
    kind: int


class Survey(NamedTuple):
    """What names and shapes say by themselves.

    `group_of` runs parallel to the tensors. `stack` is the decoder stack's path; `beside` are other lists of
    layers of the language model with their length. `layers` are the entries of all of these, by stack and
    index as written; `siblings` all path segments that a kind of layer has inside a block ("" for the layer).
    """

    patterns: tuple[Pattern, ...]
    groups: tuple[Group, ...]
    group_of: Sequence[Group]
    stack: str
    beside: dict[str, int]
    layers: dict[tuple[str, str], Layer]
    siblings: dict[tuple[int, str], frozenset[str]]

    @property
    def root(self) -> str:
        """The language model's outermost segment, for example `language_model`; empty if it has none."""
        return next((segment for segment in self.stack.split(".") if segment in LANGUAGE_ROOTS), "")

    @property
    def decoder(self) -> dict[int, Layer]:
        """The decoder stack's entries by index."""
        return {layer.index: layer for (stack, _), layer in self.layers.items() if stack == self.stack}


def survey(tensors: Sequence[Tensor]) -> Survey:
    """Read all names once."""
    patterns: dict[tuple[str, str | None, str, tuple[int, ...]], Pattern] = {}
    within: dict[str, str] = {}  # what follows a layer's index, folded: equal in all layers
    groups: list[Group] = []
    group_of: list[Group] = []
    for tensor in tensors:
        name, dtype, shape, size, _ = tensor
        before, *indexed = at_first_index(name)
        written, after = indexed or ("", None)
        if after:
            after = within.get(after) or within.setdefault(after, folded(after))
        key = (before, after, dtype, shape)
        pattern = patterns.get(key)
        if pattern is None:
            pattern = patterns[key] = Pattern(path_of(name), dtype, shape)
        group = pattern.groups.get(written)
        if group is None:
            group = pattern.groups[written] = Group(len(groups), pattern, written, size)
            groups.append(group)
        group.tensors += 1
        group.bytes += size
        group_of.append(group)
    _measure_lists(tensors, groups, group_of)
    found = tuple(patterns.values())
    own = [p for p in found if p.path.position is not None and p.path.inside and not _foreign(p)]
    stack = _decoder_stack(own)
    beside = _beside(own, stack)
    layers, siblings = _layers(own, {stack, *beside})
    return Survey(found, tuple(groups), group_of, stack, beside, layers, siblings)


def _measure_lists(tensors: Sequence[Tensor], groups: Sequence[Group], group_of: Sequence[Group]) -> None:
    """How many entries each list inside a layer has, whatever its entries' shapes and parts are."""
    lists: dict[tuple[str, str, tuple[str, ...]], list[Group]] = {}
    for group in groups:
        path = group.pattern.path
        if path.position is not None and path.inner_position is not None:
            container = (path.stack, group.written, path.segments[path.position + 1 : path.inner_position])
            lists.setdefault(container, []).append(group)
    uneven: dict[int, set[str]] = {}
    for inside in lists.values():
        alike = len({folded(group.pattern.path.name) for group in inside}) == len(inside)
        if alike and len({group.tensors for group in inside}) == 1:
            for group in inside:
                group.listed = group.tensors
        else:
            entries: set[str] = set()  # shared by the list's groups
            uneven.update({group.number: entries for group in inside})
    if not uneven:
        return
    lowest: dict[int, int] = {}
    for tensor, group in zip(tensors, group_of, strict=True):
        if group.number in uneven and group.pattern.path.inner_position is not None:
            entry = tensor.name.split(".")[group.pattern.path.inner_position]
            uneven[group.number].add(entry)
            lowest[group.number] = min(lowest.get(group.number, int(entry)), int(entry))
    for group in groups:
        if group.number in uneven:
            group.listed, group.lowest = len(uneven[group.number]), lowest[group.number]


def _foreign(pattern: Pattern) -> bool:
    return is_draft(pattern.path) or modality(pattern.path) is not None


def _decoder_stack(patterns: Sequence[Pattern]) -> str:
    """The numbered list of modules with the most bytes: rather a language model's, and a decoder's."""
    weight: dict[str, int] = {}
    for pattern in patterns:
        weight[pattern.path.stack] = weight.get(pattern.path.stack, 0) + pattern.bytes
    language = [stack for stack in weight if _is_language(stack)] or list(weight)
    decoders = [stack for stack in language if is_decoder(stack)]
    return max(decoders or language, key=lambda stack: (weight[stack], stack), default="")


def _is_language(stack: str) -> bool:
    segments = stack.split(".")
    return not LANGUAGE_ROOTS.isdisjoint(segments) and {"encoder", "enc"}.isdisjoint(segments)


def is_decoder(stack: str) -> bool:
    """Whether a stack is called decoder: an encoder then stands beside it."""
    return not {"decoder", "dec"}.isdisjoint(stack.split("."))


def _beside(patterns: Sequence[Pattern], stack: str) -> dict[str, int]:
    written: dict[str, set[str]] = {}
    for pattern in patterns:
        path = pattern.path
        if (
            path.stack != stack
            and path.stack.endswith(("layers", "blocks"))
            and {"encoder", "enc"}.isdisjoint(path.segments)
        ):
            written.setdefault(path.stack, set()).update(filter(is_index, pattern.groups))
    return {other: len(indices) for other, indices in written.items()}


def _layers(
    patterns: Sequence[Pattern], stacks: set[str]
) -> tuple[dict[tuple[str, str], Layer], dict[tuple[int, str], frozenset[str]]]:
    members: dict[tuple[str, str], list[Pattern]] = {}
    for pattern in patterns:
        if pattern.path.stack in stacks:
            for written in filter(is_index, pattern.groups):
                members.setdefault((pattern.path.stack, written), []).append(pattern)
    kinds: dict[tuple[int, ...], int] = {}
    layers = {}
    siblings: dict[tuple[int, str], set[str]] = {}
    for key, inside in members.items():
        known = tuple(map(id, inside))
        if known not in kinds:
            kinds[known] = len(kinds)
            for pattern in inside:
                for block in {pattern.path.block, ""}:
                    siblings.setdefault((kinds[known], block), set()).update(pattern.path.inside)
        layers[key] = Layer(int(key[1]), kinds[known])
    return layers, {key: frozenset(names) for key, names in siblings.items()}
