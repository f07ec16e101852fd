"""Whether all of a model is here: what a checkpoint lacks that its other layers, or its config, speak of.

A tensor that is not here lowers the count, and no fraction over 100 % ever tells.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from workbench.accounting.account import Entry
from workbench.accounting.experts import ROUTERS
from workbench.accounting.modules import is_draft
from workbench.accounting.names import WEIGHTS, folded
from workbench.accounting.roles import Role
from workbench.accounting.rules.rule import Facts
from workbench.accounting.survey import Pattern
from workbench.checkpoint.checkpoint import Finding
from workbench.escape import visible

PACKED = (
    ("weight", frozenset({"U32"}), "scales"),
    ("qweight", frozenset({"I32", "U32"}), "scales"),
    ("weight_packed", frozenset({"I32", "U8"}), "weight_scale"),
    ("blocks", frozenset({"U8"}), "scales"),
)
"""How a packed weight's name ends, the integers that it is packed into, and what stands beside it: without
that it is no numbers. A module may be packed in one layer (or one expert) and dense in the next."""
_LAYERED = frozenset({Role.ATTENTION, Role.LINEAR_ATTENTION})
_FLOATS = frozenset({"BF16", "F16", "F32"})
_ALIKE = 3
"""How many layers must have a weight before one without it stands out."""


def missing_experts(entries: Sequence[Entry]) -> Iterator[Finding]:
    """A list of experts where one of them lacks a weight that the others have."""
    have: dict[tuple[str, str], tuple[int, int]] = {}
    for group, verdict, _ in entries:
        path = group.pattern.path
        routed = verdict.experts or verdict.rule == "other-modality-expert"
        if routed and group.listed and path.parameter in WEIGHTS:
            key = (folded(".".join(path.module)), group.written)
            have[key] = (have.get(key, (0, 0))[0] + group.tensors, group.listed)
    for (module, written), (tensors, listed) in have.items():
        if tensors < listed:
            name = visible(module.replace("#", written, 1), 120)
            yield Finding(
                "experts_mismatch",
                f"{name} has weights for {tensors:,} of its {listed:,} experts: the checkpoint is not "
                "complete, and its count would be too low.",
            )
            return


def missing_layers(facts: Facts, entries: Sequence[Entry]) -> Iterator[Finding]:
    """Layers that the config counts and the headers do not have."""
    depth, seen = facts.config.layers, facts.survey
    present = set(seen.decoder) | facts.config.empty_layers
    if depth is None:
        return
    if not seen.decoder:
        if depth > 1 and entries and not any(entry.verdict.role in _LAYERED for entry in entries):
            yield Finding("layers_missing", f"None of the {depth:,} layers has any tensor here.")
        return
    missing = depth - sum(1 for index in present if index < depth)
    gapless = max(present) + 1 == len(present)
    if missing <= 0 or (gapless and len(present) + sum(seen.beside.values()) >= depth):
        return
    first = [index for index in range(min(depth, len(present) + 7)) if index not in present]
    shown = ", ".join(map(str, first[:6])) + (", ..." if missing > 6 else "")
    yield Finding(
        "layers_missing",
        f"{missing:,} of {depth:,} layers have no tensors under {visible(seen.stack, 80)} ({shown}): the "
        "checkpoint is not complete, and its count would be too low.",
    )


def uneven_layers(facts: Facts) -> Iterator[Finding]:
    """A layer that lacks weights of all others of its make, and layers past the depth that are no draft's."""
    config, seen = facts.config, facts.survey
    depth = config.layers
    weights: dict[int, set[str]] = {index: set() for index in seen.decoder}
    drafts: set[int] = set()
    for pattern in seen.patterns:
        if pattern.path.stack != seen.stack:
            continue
        own = {layer.index for written in pattern.groups if (layer := seen.layers.get((seen.stack, written)))}
        if is_draft(pattern.path):
            drafts |= own
        if len(pattern.shape) > 1 and pattern.path.parameter in WEIGHTS:
            for index in own & weights.keys():
                weights[index].add(folded(".".join(pattern.path.module)))
    past = [index for index in weights if depth is not None and index >= depth and index not in drafts]
    if len(past) > config.nextn_layers:
        yield Finding(
            "layers_beyond_depth",
            f"{len(past):,} layers under {visible(seen.stack, 80)} lie past the configuration's {depth:,} "
            "and are counted as next-n layers, which no step reads: if it is wrong, the count is too low.",
        )
    inside = {index: frozenset(names) for index, names in weights.items() if depth is None or index < depth}
    makes = Counter(inside.values())
    for index, names in sorted(inside.items()):
        fuller = [make for make, layers in makes.items() if layers >= _ALIKE and names < make]
        lacking = min((make - names for make in fuller), key=len, default=frozenset[str]())
        if makes[names] == 1 and _is_torn(names, lacking):
            shown = ", ".join(visible(name, 80) for name in sorted(lacking)[:3])
            yield Finding(
                "layer_lacks_weights",
                f"Layer {index} lacks weights that other layers have ({shown}): if they are missing, the "
                "count is too low.",
            )


def _is_torn(names: frozenset[str], lacking: frozenset[str]) -> bool:
    """Whether modules are in part here, or a router without its experts: whole ones may lack by design."""
    parents = {name.rpartition(".")[0] for name in names}
    routed = not ROUTERS.isdisjoint(name.rpartition(".")[2] for name in names)
    experts = (routed and ("experts" in name or "switch_" in name) for name in lacking)
    return any(name.rpartition(".")[0] in parents for name in lacking) or any(experts)


def missing_scales(facts: Facts) -> Iterator[Finding]:
    """A packed weight without the scales that make numbers of it."""
    stored: dict[tuple[str, str], int] = {}
    packed: dict[tuple[str, str], tuple[str, int]] = {}  # (name, layer): its scales' name, tensors
    for pattern in facts.survey.patterns:
        name = folded(pattern.path.name)
        scales = _scales_of(name, pattern)
        for written, group in pattern.groups.items():
            key = (name, written)
            stored[key] = stored.get(key, 0) + group.tensors
            if scales:
                packed[key] = (scales, packed.get(key, ("", 0))[1] + group.tensors)
    for (name, written), (scales, tensors) in packed.items():
        if stored.get((scales, written), 0) < tensors:
            where = name.replace("#", written, 1) if written else name
            yield Finding(
                "scales_missing",
                f"{visible(where, 120)} is packed, but its {scales.rpartition('.')[2]} are missing: the "
                "weight cannot be read, and the count would be too low.",
            )
            return


def missing_biases(facts: Facts) -> Iterator[Finding]:
    """Packed weights whose scales are plain numbers (affine quantization) have a bias beside each scale."""
    modules: dict[str, Counter[str]] = {}
    for pattern in facts.survey.patterns:
        parameter = pattern.path.parameter
        dtypes = {"weight": {"U32"}, "scales": _FLOATS, "biases": _FLOATS}.get(parameter, set())
        if pattern.dtype in dtypes:
            stored = modules.setdefault(folded(".".join(pattern.path.module)), Counter())
            stored[parameter] += sum(group.tensors for group in pattern.groups.values())
    for module, stored in modules.items():
        if stored["weight"] and stored["biases"] < stored["scales"]:
            yield Finding(
                "biases_missing",
                f"{visible(module, 120)} has {stored['scales']:,} scales and {stored['biases']:,} biases: if "
                "biases are missing, the count is too low.",
            )
            return


def _scales_of(name: str, pattern: Pattern) -> str:
    """The name of the scales that a packed weight needs; "" for any other tensor."""
    if len(pattern.shape) > 1:
        for ending, dtypes, scales in PACKED:
            if pattern.dtype in dtypes and name.endswith((f".{ending}", f"_{ending}")):
                return name.removesuffix(ending) + scales
    return ""
