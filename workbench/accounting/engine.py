"""The count: every tensor gets a role, a share and a rule; totals follow, and what is wrong is said.

Pure: a Checkpoint in, a Count out. The rules live in rules/, the structural proofs in vocabulary.py,
experts.py and checks.py, the arithmetic in account.py.
"""

from collections.abc import Sequence
from dataclasses import replace

from workbench.accounting.account import draw_up
from workbench.accounting.checks import find_faults
from workbench.accounting.count import AppliedOverride, Count
from workbench.accounting.loading import resident_factor
from workbench.accounting.overrides import Override, matcher, matching
from workbench.accounting.rules import judge
from workbench.accounting.rules.rule import Facts, Subject
from workbench.accounting.seedrule import seed_count
from workbench.accounting.survey import Group, survey
from workbench.accounting.verdict import Verdict
from workbench.accounting.vocabulary import find_vocabulary
from workbench.checkpoint.checkpoint import Checkpoint, Finding
from workbench.checkpoint.model_config import ModelConfig, view, view_gguf

MLX_LM = "mlx-lm 0.32.2"
LLAMA_CPP = "llama.cpp"


def count(checkpoint: Checkpoint, overrides: Sequence[Override] = ()) -> Count:
    """What one batch-1 decode step of `checkpoint` reads. Never raises for what a checkpoint contains.

    `overrides` replace the rules' role or share of the tensors they name; the figure without them is kept.
    """
    facts = gather(checkpoint)
    seen, gguf = facts.survey, checkpoint.gguf is not None
    verdicts = judge_all(facts)
    factor = resident_factor(seen, facts.config, gguf)
    factors = [factor(group.pattern) for group in seen.groups]
    account = draw_up(checkpoint.tensors, seen.group_of, verdicts, factors)
    faults = find_faults(checkpoint, facts, verdicts, account)
    found = Count(
        runtime=LLAMA_CPP if gguf else MLX_LM,
        rows=account.rows,
        disk_bytes=account.disk_bytes,
        resident_bytes=account.resident_bytes,
        weight_bytes=account.weight_bytes,
        lookup_bytes=account.lookup_bytes,
        by_role=account.by_role,
        tied=facts.vocabulary.tied,
        experts=faults.experts,
        experts_per_token=(facts.config.experts_per_token or 0) if faults.experts else 0,
        seed=seed_count(checkpoint),
        findings=faults.findings,
        refusal=faults.refusal,
        weight_bytes_without_overrides=account.weight_bytes,
    )
    return (
        _overridden(found, checkpoint, facts, list(zip(verdicts, factors, strict=True)), overrides)
        if overrides
        else found
    )


def gather(checkpoint: Checkpoint) -> Facts:
    """What the rules may know: the configuration's view, the survey of names, the vocabulary matrices."""
    config = view_of(checkpoint)
    seen = survey(checkpoint.tensors)
    return Facts(config, seen, find_vocabulary(seen, config))


def view_of(checkpoint: Checkpoint) -> ModelConfig:
    """The typed view of whichever configuration the checkpoint has."""
    return view(checkpoint.config) if checkpoint.gguf is None else view_gguf(checkpoint.gguf)


def judge_all(facts: Facts) -> list[Verdict]:
    """The verdict on every group, by its number; equal groups of a pattern are judged once."""
    config, seen = facts.config, facts.survey
    depth = config.layers
    first_shared = depth - config.kv_shared_layers if depth and config.kv_shared_layers else 0
    verdicts: list[Verdict] = []
    known: dict[tuple[int, int, int, bool, bool], Verdict] = {}
    for group in seen.groups:
        path = group.pattern.path
        layer = seen.layers.get((path.stack, group.written)) if path.position is not None else None
        if layer is None:
            verdicts.append(judge(Subject(group), facts))
            continue
        main = path.stack == seen.stack
        beyond = main and depth is not None and layer.index >= depth
        shared = main and layer.index >= first_shared > 0
        key = (id(group.pattern), layer.kind, group.tensors, beyond, shared)
        crossing = main and layer.index in config.cross_attention_layers
        if crossing or key not in known:
            verdict = judge(Subject(group, layer.index, layer.kind, main, beyond, shared), facts)
            if crossing:
                verdicts.append(verdict)
                continue
            known[key] = verdict
        verdicts.append(known[key])
    return verdicts


def _overridden(
    found: Count,
    checkpoint: Checkpoint,
    facts: Facts,
    judged: list[tuple[Verdict, int]],
    overrides: Sequence[Override],
) -> Count:
    """The same count with overrides in force: the tensors that they name leave their group.

    `judged` has each group's verdict and resident factor, by its number.
    """
    patterns = matcher(overrides)
    hits = dict.fromkeys(overrides, 0)
    groups: list[Group] = []
    moved: dict[tuple[int, tuple[Override, ...]], Group] = {}
    for tensor, group in zip(checkpoint.tensors, facts.survey.group_of, strict=True):
        named = tuple(matching(tensor.name, patterns))
        for override in named:
            hits[override] += 1
        key = (group.number, named)
        if named and key not in moved:
            verdict, factor = judged[group.number]
            moved[key] = Group(len(judged), group.pattern, group.written, group.first_bytes)
            judged.append((_apply(verdict, named), factor))
        groups.append(moved[key] if named else group)
    account = draw_up(
        checkpoint.tensors, groups, [verdict for verdict, _ in judged], [factor for _, factor in judged]
    )
    idle = (
        Finding("override_idle", f"The override of {override.tensors!r} names no tensor of this checkpoint.")
        for override, tensors in hits.items()
        if not tensors
    )
    return replace(
        found,
        rows=account.rows,
        resident_bytes=account.resident_bytes,
        weight_bytes=account.weight_bytes,
        lookup_bytes=account.lookup_bytes,
        by_role=account.by_role,
        findings=(*found.findings, *idle),
        overrides=tuple(
            AppliedOverride(override.tensors, override.role, override.share, override.reason, tensors)
            for override, tensors in hits.items()
        ),
    )


def _apply(verdict: Verdict, overrides: Sequence[Override]) -> Verdict:
    role, share = verdict.role, verdict.share
    for override in overrides:
        role = override.role or role
        share = share if override.share is None else override.share
    return Verdict(role, share, "override", verdict.loaded or share > 0, 0 if share else verdict.rows)
