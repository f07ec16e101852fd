"""The count: every tensor gets a role, a share and a rule; totals follow, and what is wrong is said.

Pure: a Checkpoint in, a Count out. The rules live in rules/, the structural proofs in vocabulary.py,
experts.py and checks.py, the arithmetic in account.py.
"""

from collections.abc import Sequence

from workbench.accounting.account import Entry, Rows, add_up, alike, merge
from workbench.accounting.caches import find_context
from workbench.accounting.checks import find_faults
from workbench.accounting.count import Count
from workbench.accounting.loading import Factor, loading_of
from workbench.accounting.overrides import Override
from workbench.accounting.rules import judge
from workbench.accounting.rules.rule import Facts, Subject
from workbench.accounting.seedrule import seed_count
from workbench.accounting.survey import survey
from workbench.accounting.verdict import Verdict
from workbench.accounting.vocabulary import find_vocabulary
from workbench.checkpoint.checkpoint import Checkpoint, Finding
from workbench.checkpoint.model_config import ModelConfig, view, view_gguf
from workbench.collector import no_collector

MLX_LM = "mlx-lm 0.32.2"
LLAMA_CPP = "llama.cpp"


def count(checkpoint: Checkpoint, overrides: Sequence[Override] = ()) -> Count:
    """What one batch-1 decode step of `checkpoint` reads. Never raises for what a checkpoint contains.

    `overrides` replace the rules' role or share of the tensors they name; the figure without them is kept.
    """
    with no_collector():
        return _count(checkpoint, overrides)


def _count(checkpoint: Checkpoint, overrides: Sequence[Override]) -> Count:
    facts = gather(checkpoint)
    seen, gguf = facts.survey, checkpoint.gguf is not None
    loading = loading_of(seen, facts.config, gguf)
    entries = judge_all(facts, loading.factor)
    parts = merge(entries)
    totals = add_up(parts)
    faults = find_faults(checkpoint, facts, entries, totals, loading.change)
    context = find_context(facts, parts)
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
        alike=alike(parts),
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


def judge_all(facts: Facts, factor: Factor) -> list[Entry]:
    """The account's entries, by their groups' numbers; equal groups of a pattern are judged once."""
    config, seen = facts.config, facts.survey
    depth = config.layers
    first_shared = depth - config.kv_shared_layers if depth and config.kv_shared_layers else 0
    entries: dict[int, Entry] = {}
    for pattern in seen.patterns:
        stack, kept = pattern.path.stack, factor(pattern)
        main = stack == seen.stack
        known: dict[tuple[int, int, bool, bool, bool], Verdict] = {}
        for written, group in pattern.groups.items():
            layer = seen.layers.get((stack, written))
            index = layer.index if layer else -1
            kind = layer.kind if layer else -1
            beyond = main and depth is not None and index >= depth
            shared = main and index >= first_shared > 0
            alike = (kind, group.listed, beyond, shared, index in config.cross_attention_layers)
            verdict = known.get(alike)
            if verdict is None:
                subject = Subject(group, layer.index if layer else None, kind, main, beyond, shared)
                verdict = known[alike] = judge(subject, facts)
            entries[group.number] = Entry(group, verdict, kept)
    return [entries[number] for number in range(len(seen.groups))]
