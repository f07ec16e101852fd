"""The count: every tensor gets a role, a share and a rule; totals follow, and what is wrong is said.

Pure: a Checkpoint in, a Count out. The rules live in rules/, the structural proofs in vocabulary.py,
experts.py and checks.py, the arithmetic in account.py.
"""

from collections.abc import Sequence

from workbench.accounting.account import Entry, Rows, add_up, alike
from workbench.accounting.caches import find_context
from workbench.accounting.checks import find_faults
from workbench.accounting.count import Count
from workbench.accounting.loading import loading_of
from workbench.accounting.overrides import Override
from workbench.accounting.rules import judge
from workbench.accounting.rules.rule import Facts, Subject
from workbench.accounting.seedrule import seed_count
from workbench.accounting.survey import survey
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
    loading = loading_of(seen, facts.config, gguf)
    verdicts = judge_all(facts)
    entries = [
        Entry(group, verdict, loading.factor(group.pattern))
        for group, verdict in zip(seen.groups, verdicts, strict=True)
    ]
    totals = add_up(entries)
    faults = find_faults(checkpoint, facts, entries, totals, loading.change)
    context = find_context(facts, entries)
    found = Count(
        runtime=LLAMA_CPP if gguf else MLX_LM,
        rows=Rows(checkpoint.tensors, seen.group_of, entries),
        disk_bytes=totals.disk,
        resident_bytes=totals.resident,
        weight_bytes=totals.weight,
        lookup_bytes=totals.lookup,
        by_role=totals.by_role,
        tied=facts.vocabulary.tied,
        experts=faults.experts,
        experts_per_token=(facts.config.experts_per_token or 0) if faults.experts else 0,
        seed=seed_count(checkpoint, ((group.pattern.path.name, group.bytes) for group in seen.groups)),
        findings=(*faults.findings, *(Finding("context_not_known", note) for note in context.notes)),
        refusal=faults.refusal,
        weight_bytes_without_overrides=totals.weight,
        alike=alike(entries),
        stored_by_share=totals.by_share,
        context=context,
    )
    if not overrides:
        return found
    from workbench.accounting.overriding import override

    return override(found, checkpoint.tensors, seen.group_of, entries, overrides)


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
        key = (id(group.pattern), layer.kind, group.listed, beyond, shared)
        crossing = main and layer.index in config.cross_attention_layers
        if crossing or key not in known:
            verdict = judge(Subject(group, layer.index, layer.kind, main, beyond, shared), facts)
            if crossing:
                verdicts.append(verdict)
                continue
            known[key] = verdict
        verdicts.append(known[key])
    return verdicts
