"""What is wrong with a count: findings that warn, and refusals where no honest figure exists.

Faults that lower the byte count cannot show as a fraction over 100 %: these checks are what catches them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.accounting.rules import Facts
from workbench.accounting.verdict import Verdict
from workbench.checkpoint.checkpoint import Checkpoint, Finding


@dataclass(frozen=True, slots=True)
class Faults:
    """The findings in order, the first refusal if there is one, and E as the headers show it."""

    findings: tuple[Finding, ...]
    refusal: Finding | None
    experts: int


def find_faults(checkpoint: Checkpoint, facts: Facts, judged: Mapping[tuple[int, str], Verdict]) -> Faults:
    """Check the structure of a judged checkpoint."""
    findings = list(facts.vocabulary.findings)
    experts = max((v.experts for v in judged.values()), default=0)
    refusals = [
        fault
        for fault in (_no_tensors(checkpoint), _experts(facts, judged), facts.vocabulary.refusal)
        if fault is not None
    ]
    return Faults(tuple(findings), refusals[0] if refusals else None, experts)


def _no_tensors(checkpoint: Checkpoint) -> Finding | None:
    if checkpoint.disk_bytes:
        return None
    return Finding(
        "no_tensors", "No tensor has any bytes: 0 bytes per token, and no ceiling can be predicted."
    )


def _experts(facts: Facts, judged: Mapping[tuple[int, str], Verdict]) -> Finding | None:
    found = sorted({v.experts for v in judged.values() if v.experts})
    if not found:
        return None
    config = facts.config
    k, expected = config.experts_per_token, config.experts
    if k is None or k < 1:
        return Finding("experts_without_k", f"k missing {k}")
    if k > found[0]:
        return Finding("k_exceeds_experts", f"k {k} > E {found[0]}")
    if expected is not None and found != [expected] and not set(found) <= set(config.experts_listed):
        return Finding("experts_mismatch", f"config says {expected}, headers {found}")
    return None
