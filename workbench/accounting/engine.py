"""The count: every tensor gets a role, a share and a rule; the totals follow, and what is wrong is said.

Pure: a Checkpoint in, a Count out. The rules live in rules.py, the structural proofs in vocabulary.py, experts.py
and checks.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from workbench.accounting.checks import find_faults
from workbench.accounting.count import AppliedOverride, Count, RoleTotals, Row
from workbench.accounting.loading import Loading, loading
from workbench.accounting.overrides import Override, matcher, matching
from workbench.accounting.roles import Role
from workbench.accounting.rules import Facts, Subject, judge
from workbench.accounting.seedrule import seed_count
from workbench.accounting.survey import survey
from workbench.accounting.verdict import ONE, ZERO, Verdict
from workbench.accounting.vocabulary import find_vocabulary
from workbench.checkpoint.checkpoint import Checkpoint, Finding
from workbench.checkpoint.model_config import ModelConfig, view, view_gguf

MLX_LM = "mlx-lm 0.32.2"
LLAMA_CPP = "llama.cpp"

Judged = dict[tuple[int, str], Verdict]


def count(checkpoint: Checkpoint, overrides: Sequence[Override] = ()) -> Count:
    """What one batch-1 decode step of `checkpoint` reads. Never raises for what a checkpoint contains.

    `overrides` replace the rules' role or share of the tensors they name; the figure without them is kept.
    """
    gguf = checkpoint.gguf
    config = view_gguf(gguf) if gguf is not None else view(checkpoint.config)
    seen = survey(checkpoint.tensors)
    vocabulary = find_vocabulary(seen, config)
    facts = Facts(config, seen, vocabulary, gguf is not None)
    judged = judge_all(facts)
    verdicts = [judged[key] for key in zip(map(id, seen.pattern_of), seen.layer_of, strict=True)]
    account = _account(checkpoint, verdicts, loading(checkpoint, config))
    faults = find_faults(checkpoint, facts, judged)
    found = Count(
        runtime=MLX_LM if gguf is None else LLAMA_CPP,
        rows=account.rows,
        disk_bytes=sum(totals.on_disk for totals in account.by_role.values()),
        resident_bytes=sum(totals.resident for totals in account.by_role.values()),
        weight_bytes=account.weight_bytes,
        lookup_bytes=sum(row.lookup_bytes for row in account.rows),
        by_role=account.by_role,
        tied=vocabulary.tied,
        experts=faults.experts,
        experts_per_token=config.experts_per_token or 0 if faults.experts else 0,
        seed=seed_count(checkpoint),
        findings=faults.findings,
        refusal=faults.refusal,
        weight_bytes_without_overrides=account.weight_bytes,
    )
    return _overridden(checkpoint, found, verdicts, overrides) if overrides else found


def judge_all(facts: Facts) -> Judged:
    """The verdict on every pattern at every layer; equal layers are judged once."""
    judged: Judged = {}
    config, seen = facts.config, facts.survey
    first_shared = (config.layers or 0) - config.kv_shared_layers if config.kv_shared_layers else None
    for pattern in seen.patterns:
        known: dict[tuple[int, int, bool, bool], Verdict] = {}
        in_stack = bool(seen.stack) and pattern.path.stack == seen.stack
        for written, listed in pattern.layers.items():
            layer = seen.layers.get(written) if in_stack else None
            index = None if layer is None else layer.index
            beyond = index is not None and config.layers is not None and index >= config.layers
            shared = index is not None and first_shared is not None and index >= first_shared > 0
            key = (-1 if layer is None else layer.kind, listed, beyond, shared)
            if key not in known:
                subject = Subject(pattern, index, key[0], listed, beyond, shared)
                known[key] = _looped(judge(subject, facts), subject, config)
            judged[id(pattern), written] = known[key]
    return judged


def _looped(verdict: Verdict, subject: Subject, config: ModelConfig) -> Verdict:
    if config.loops == 1 or subject.layer is None or not verdict.share:
        return verdict
    return replace(verdict, share=verdict.share * config.loops, rule="looped")


@dataclass(frozen=True, slots=True)
class _Account:
    rows: tuple[Row, ...]
    by_role: dict[Role, RoleTotals]
    weight_bytes: int


def _account(checkpoint: Checkpoint, verdicts: Sequence[Verdict], loads: Loading) -> _Account:
    """The rows, and totals exact to the byte: bytes of one verdict are added up before its share is taken."""
    rows: list[Row] = []
    disk: dict[int, int] = {}
    resident: dict[int, int] = {}
    by_id = {id(verdict): verdict for verdict in verdicts}
    for tensor, verdict in zip(checkpoint.tensors, verdicts, strict=True):
        size, share = tensor.nbytes, verdict.share
        kept = 0
        if verdict.loaded:
            kept = loads.resident_bytes(tensor) if loads.changes else size
        weight = size if share is ONE else 0 if share is ZERO else size * share.numerator // share.denominator
        rows.append(
            Row(
                tensor.name,
                tensor.dtype,
                tensor.shape,
                size,
                kept,
                weight,
                size // verdict.rows if verdict.rows else 0,
                verdict.role,
                share,
                verdict.rule,
            )  # fmt: skip
        )
        key = id(verdict)
        disk[key] = disk.get(key, 0) + size
        resident[key] = resident.get(key, 0) + kept
    totals: dict[tuple[Role, Fraction], tuple[int, int]] = {}
    for key, verdict in by_id.items():
        of = (verdict.role, verdict.share)
        on_disk, in_memory = totals.get(of, (0, 0))
        totals[of] = (on_disk + disk[key], in_memory + resident[key])
    by_role = {
        role: RoleTotals(
            on_disk=sum(size for (of, _), (size, _) in totals.items() if of is role),
            resident=sum(size for (of, _), (_, size) in totals.items() if of is role),
            per_token=sum(int(size * share) for (of, share), (size, _) in totals.items() if of is role),
        )
        for role in Role
        if any(of is role for of, _ in totals)
    }
    return _Account(tuple(rows), by_role, sum(total.per_token for total in by_role.values()))


def _overridden(
    checkpoint: Checkpoint, found: Count, verdicts: Sequence[Verdict], overrides: Sequence[Override]
) -> Count:
    """The same count with the overrides in force. An override that settles a refusal lifts it."""
    patterns = matcher(overrides)
    hits = dict.fromkeys(overrides, 0)
    changed: dict[tuple[int, Override], Verdict] = {}
    after: list[Verdict] = []
    for tensor, verdict in zip(checkpoint.tensors, verdicts, strict=True):
        for override in matching(tensor.name, patterns):
            hits[override] += 1
            key = (id(verdict), override)
            if key not in changed:
                changed[key] = _apply(verdict, override)
            verdict = changed[key]  # noqa: PLW2901
        after.append(verdict)
    config = view_gguf(checkpoint.gguf) if checkpoint.gguf is not None else view(checkpoint.config)
    account = _account(checkpoint, after, loading(checkpoint, config))
    idle = tuple(
        Finding("override_idle", f"The override of {override.tensors!r} names no tensor of this checkpoint.")
        for override, tensors in hits.items()
        if not tensors
    )
    return replace(
        found,
        rows=account.rows,
        resident_bytes=sum(totals.resident for totals in account.by_role.values()),
        weight_bytes=account.weight_bytes,
        lookup_bytes=sum(row.lookup_bytes for row in account.rows),
        by_role=account.by_role,
        findings=(*found.findings, *idle),
        overrides=tuple(
            AppliedOverride(override.tensors, override.role, override.share, override.reason, tensors)
            for override, tensors in hits.items()
        ),
    )


def _apply(verdict: Verdict, override: Override) -> Verdict:
    role = verdict.role if override.role is None else override.role
    share = verdict.share if override.share is None else override.share
    return Verdict(role, share, "override", verdict.loaded or share > 0, 0 if share else verdict.rows)
