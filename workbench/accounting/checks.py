"""What is wrong with a count: findings that warn, and refusals where no honest figure exists.

Faults that lower the byte count cannot show as a fraction over 100 %: these checks are what catches them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.accounting.account import Entry, Totals
from workbench.accounting.completeness import (
    missing_biases,
    missing_experts,
    missing_layers,
    missing_scales,
    uneven_layers,
)
from workbench.accounting.experts import holds_shared
from workbench.accounting.names import folded
from workbench.accounting.roles import Role
from workbench.accounting.rules.rule import Facts
from workbench.checkpoint.checkpoint import Checkpoint, Finding
from workbench.checkpoint.config_keys import LOOP_KEYS
from workbench.checkpoint.model_config import ModelConfig, as_int
from workbench.escape import visible

REPEATS = frozenset({"recurrence", "cycles", "loops"})
"""Words of the keys that speak of weights read again, in ways that no rule knows."""


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
        *missing_experts(entries),
        *missing_layers(facts, entries),
        *missing_scales(facts),
    ]
    experts = max((entry.verdict.experts for entry in entries), default=0)
    findings = [
        *facts.vocabulary.findings,
        *refusals[1:],
        *_assumptions(facts, entries, experts),
        *uneven_layers(facts),
        *missing_biases(facts),
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


def _assumptions(facts: Facts, entries: Sequence[Entry], experts: int) -> Iterator[Finding]:
    config = facts.config
    routed = any(entry.verdict.role is Role.ROUTER for entry in entries)
    if experts and experts == config.experts and not routed:
        yield Finding(
            "router_missing",
            "Routed experts without a router to choose among them: if it is missing, the count is too low.",
        )
    if len(set(config.experts_per_token_said)) > 1:
        said = " and ".join(f"{k:,}" for k in config.experts_per_token_said)
        yield Finding(
            "k_conflict",
            f"config.json gives the experts per token more than once ({said}): {config.experts_per_token} is "
            "taken.",
        )
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
        again = key not in LOOP_KEYS and not REPEATS.isdisjoint(key.split("_"))
        if again and (as_int(value) or 0) > 1:
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
