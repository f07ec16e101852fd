"""What is wrong with a count: findings that warn, and refusals where no honest figure exists.

Faults that lower the byte count cannot show as a fraction over 100 %: these checks are what catches them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.accounting.account import Entry, Totals
from workbench.accounting.experts import holds_shared
from workbench.accounting.names import folded
from workbench.accounting.rules.rule import Facts
from workbench.accounting.survey import Pattern
from workbench.checkpoint.checkpoint import Checkpoint, Finding
from workbench.checkpoint.model_config import ModelConfig, as_int
from workbench.escape import visible

WEIGHTS = frozenset({"", "weight", "qweight", "weight_packed"})
"""Parameters that are a module's weight itself."""
PACKED = (
    ("weight", frozenset({"U32"}), "scales"),
    ("qweight", frozenset({"I32", "U32"}), "scales"),
    ("weight_packed", frozenset({"I32", "U8"}), "weight_scale"),
    ("blocks", frozenset({"U8"}), "scales"),
)
"""How a packed weight's name ends, the integers that it is packed into, and what stands beside it: without
that it is no numbers. A module may be packed in one layer (or one expert) and dense in the next."""


class Faults(NamedTuple):
    """The findings in order, the first refusal if there is one, and E as the headers show it."""

    findings: tuple[Finding, ...]
    refusal: Finding | None
    experts: int


def find_faults(
    checkpoint: Checkpoint, facts: Facts, entries: Sequence[Entry], totals: Totals, change_on_load: str
) -> Faults:
    """Check the structure of a judged checkpoint. Further refusals stand among the findings."""
    refusals = [
        *_nothing(totals),
        *((facts.vocabulary.refusal,) if facts.vocabulary.refusal else ()),
        *_experts(facts, entries, totals),
        *_missing_parts(entries),
        *_missing_layers(facts),
        *_missing_scales(facts),
    ]
    experts = max((entry.verdict.experts for entry in entries), default=0)
    findings = [
        *facts.vocabulary.findings,
        *refusals[1:],
        *_assumptions(facts, experts),
        *_unclassified(entries),
        *_loaders_ways(checkpoint, facts, totals, change_on_load),
    ]
    return Faults(tuple(findings), refusals[0] if refusals else None, experts)


def _nothing(totals: Totals) -> Iterator[Finding]:
    if not totals.disk:
        yield Finding(
            "no_tensors", "There are no tensors: 0 bytes per token, and no ceiling can be predicted."
        )
    elif not totals.weight:
        yield Finding("nothing_read", "No tensor is read by a decode step: no ceiling can be predicted.")


def _experts(facts: Facts, entries: Sequence[Entry], totals: Totals) -> Iterator[Finding]:
    found = sorted({entry.verdict.experts for entry in entries if entry.verdict.experts})
    if not found:
        return
    config = facts.config
    k, expected = config.experts_per_token, config.experts
    shown = " or ".join(f"{number:,}" for number in found[:4])
    if k is None or k < 1:
        stored = sum(entry.group.bytes for entry in entries if entry.verdict.experts)
        most = totals.weight
        said = "says 0 experts" if expected == 0 else "does not say how many of them a token reads"
        yield Finding(
            "experts_without_k",
            f"{stored:,} bytes of routed experts (E = {shown}), but the configuration {said}: from "
            f"{most - stored + stored // found[-1]:,} (k = 1) to {most:,} bytes (k = E) per token, and no "
            "one figure.",
        )
    elif k > found[0] or (expected and k > expected):
        of = min(found[0], expected or found[0])
        yield Finding(
            "k_exceeds_experts",
            f"{k:,} experts per token, but only {of:,} exist: the configuration is wrong.",
        )
    elif expected is not None and not all(_agrees(number, config) for number in found):
        yield Finding(
            "experts_mismatch",
            f"The configuration says {expected:,} experts, the tensors show {shown}: one of the two is "
            "wrong, or experts are missing.",
        )


def _agrees(experts: int, config: ModelConfig) -> bool:
    """Whether the config accounts for a list or stack of so many experts."""
    listed = config.experts_listed
    together = config.experts_by_modality and experts == sum(listed)
    return experts == config.experts or experts in listed or together or holds_shared(config, experts)


def _missing_parts(entries: Sequence[Entry]) -> Iterator[Finding]:
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


def _assumptions(facts: Facts, experts: int) -> Iterator[Finding]:
    config = facts.config
    if not experts and (config.experts or 0) > 1 and config.experts_per_token:
        yield Finding(
            "experts_not_found",
            f"The configuration speaks of {config.experts:,} experts, but no tensors were recognised as "
            "such: if some are, under unknown names, the count is too high.",
        )
    if experts and config.experts is None:
        yield Finding(
            "experts_from_headers",
            f"The configuration does not give the number of experts: {experts:,} from the tensors.",
        )
    if config.zero_experts:
        yield Finding(
            "zero_experts",
            f"{config.zero_experts:,} experts have no weights: a token that is routed to them reads less "
            "than k experts. The count is the most it reads.",
        )
    for key, value in config.text.items():
        if "recurrence" in key.split("_") and (as_int(value) or 0) > 1:
            yield Finding(
                "loops_unknown",
                f"The configuration speaks of {visible(key, 60)} = {value:,}: if weights are read again each "
                "time, the count is too low.",
            )
    if config.loops_assumed:
        yield Finding(
            "loops_assumed",
            f"The configuration speaks of looped layers without their number: {config.loops} passes assumed.",
        )


def _missing_layers(facts: Facts) -> Iterator[Finding]:
    depth, seen = facts.config.layers, facts.survey
    present = set(seen.decoder) | facts.config.empty_layers
    if depth is None or not seen.decoder:
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


def _missing_scales(facts: Facts) -> Iterator[Finding]:
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


def _scales_of(name: str, pattern: Pattern) -> str:
    """The name of the scales that a packed weight needs; "" for any other tensor."""
    if len(pattern.shape) > 1:
        for ending, dtypes, scales in PACKED:
            if pattern.dtype in dtypes and name.endswith((f".{ending}", f"_{ending}")):
                return name.removesuffix(ending) + scales
    return ""


def _unclassified(entries: Sequence[Entry]) -> Iterator[Finding]:
    known: dict[str, int] = {}
    tensors = 0
    for group, verdict, _ in entries:
        if verdict.rule == "unclassified":
            name = folded(group.pattern.path.name)
            known[name] = known.get(name, 0) + group.bytes
            tensors += group.tensors
    if known:
        largest = sorted(known, key=lambda name: -known[name])[:4]
        names = ", ".join(visible(name, 120) for name in largest)
        yield Finding(
            "unclassified",
            f"{tensors:,} {'tensor' if tensors == 1 else 'tensors'} ({sum(known.values()):,} bytes) in no "
            f"rule, counted once as other: {names}{', ...' if len(known) > 4 else ''}",
        )


def _loaders_ways(checkpoint: Checkpoint, facts: Facts, totals: Totals, change: str) -> Iterator[Finding]:
    if checkpoint.gguf is not None:
        return
    if abs(totals.resident_weight - totals.weight) > totals.weight // 1000:
        yield Finding(
            "changed_on_load",
            f"mlx-lm keeps these weights in another form than stored ({change or 'some are not loaded'}): a "
            f"token reads {totals.resident_weight:,} bytes of them. The count is of the bytes as stored.",
        )
    if any(pattern.path.parameter == "g_idx" for pattern in facts.survey.patterns):
        yield Finding("group_indices", "GPTQ group indices (g_idx): mlx-lm does not load such checkpoints.")
