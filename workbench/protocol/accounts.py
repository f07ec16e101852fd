"""A plan as the record's groups: model, bytes, the prediction's figures, settings.

One place for these fields: the record and the JSON of other commands take them from here.
"""

import re
from pathlib import Path
from typing import Any

from workbench.accounting.count import AppliedOverride, Count
from workbench.accounting.roles import Role
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.checkpoint.config import CONFIG_LIMIT_BYTES
from workbench.checkpoint.dtypes import matrix_dtypes
from workbench.checkpoint.files import read_small
from workbench.checkpoint.model_config import ModelConfig, view, view_gguf
from workbench.errors import CheckpointError
from workbench.ledger.parts import FileEntry, NamedCeiling, Quantization, RoleBytes, Warn
from workbench.prediction.ceiling import ceilings
from workbench.protocol.plan import RULES, Plan
from workbench.shelf.synthetic import MARK

SAME = 0.001
"""Bytes per token that differ by less are one figure, as for count and graph."""

_VISION = (Role.VISION, Role.PROJECTOR)
_NAMED = (*_VISION, Role.EMBEDDING, Role.EXPERT, Role.DRAFT)
_SNAPSHOT = re.compile(r"[0-9a-f]{40}")


def model_fields(checkpoint: Checkpoint) -> dict[str, Any]:
    """The record's model group."""
    return {
        **format_fields(checkpoint),
        "revision": revision(checkpoint.path),
        "files": [FileEntry(file.name, file.bytes) for file in checkpoint.files],
        "config_sha256": config_sha256(checkpoint.path),
        "dtype": _dtype(checkpoint, _config_of(checkpoint)),
        "synthetic_weights": checkpoint.config.get(MARK) is True,
    }


def format_fields(checkpoint: Checkpoint) -> dict[str, Any]:
    """The model group's name and form: what stands in JSON beside every count."""
    config = _config_of(checkpoint)
    return {
        "model": checkpoint.name,
        "architecture": config.architecture or config.model_type or None,
        "format": checkpoint.format,
        "quantization": _quantization(config),
    }


def bytes_fields(plan: Plan) -> dict[str, Any]:
    """The record's bytes group: the count, the seed rule beside it, and what the plan's rule makes of it.

    `weight_bytes_per_token_without_overrides` is always the count's own figure, so that a rule chosen on
    purpose or an override never hides it.
    """
    count = plan.count
    return {
        "weight_bytes_total": count.disk_bytes,
        "weight_bytes_resident": count.resident_bytes,
        "weight_bytes_vision": _on_disk(count, *_VISION),
        "weight_bytes_embed": _on_disk(count, Role.EMBEDDING),
        "weight_bytes_experts": _on_disk(count, Role.EXPERT),
        "weight_bytes_draft": _on_disk(count, Role.DRAFT),
        "weight_bytes_other_skipped": _other_skipped(count),
        "tied_embeddings": count.tied,
        "experts": count.experts,
        "experts_per_token": count.experts_per_token,
        "weight_bytes_per_token": plan.weight_bytes,
        "lookup_row_bytes": count.lookup_bytes,
        "roles": {
            str(role): RoleBytes(totals.on_disk, totals.resident, totals.per_token)
            for role, totals in count.by_role.items()
        },
        "seed_rule_bytes_per_token": count.seed.weight_bytes,
        "witness": plan.witness,
        "rule": plan.rule,
        "in_force": plan.in_force,
        "weight_bytes_per_token_without_overrides": count.weight_bytes_by_rules,
        "rule_version": count.rule_version,
        **context_fields(plan),
        "overrides": [_override_fields(override) for override in count.overrides] or None,
        "warnings": warnings(plan.checkpoint, count),
    }


def context_fields(plan: Plan) -> dict[str, int]:
    """Bytes that a step reads of KV cache and recurrent state: after the prompt, and at the last token."""
    context = plan.count.context
    return {
        "context_bytes_per_token_start": context.at(plan.settings.prompt_tokens).read_bytes,
        "context_bytes_per_token_end": context.at(plan.end_tokens).read_bytes,
    }


def warnings(checkpoint: Checkpoint, count: Count) -> list[Warn]:
    """What the reader and the count warn of, each once."""
    found = (*checkpoint.findings, *count.findings, *([count.refusal] if count.refusal else []))
    return [Warn(code, message) for code, message in dict.fromkeys((f.code, f.message) for f in found)]


def figure_fields(plan: Plan) -> dict[str, Any]:
    """The bandwidth figures and their ceilings: the plan's rule first, then others that differ from it."""
    named = plan_ceilings(plan)
    principal = plan.bandwidths[0] if plan.bandwidths else None
    return {
        "bandwidth_gbps": principal.gbps if principal else None,
        "bandwidth_kind": str(principal.kind) if principal else None,
        "bandwidth_source": principal.source if principal else None,
        "predicted_decode_tps": named[0].tps if named else None,
        "ceilings": named,
        "fit_estimate": plan.fit_estimate,
    }


def plan_ceilings(plan: Plan) -> list[NamedCeiling]:
    """Every figure's ceiling by the plan's rule, then by each other rule that counts other bytes.

    A rule that differs from one shown already by less than `SAME` (a header's length) is not another ceiling.
    """
    by_rule = {plan.rule: plan.weight_bytes}
    for rule in RULES:
        other = plan.weight_bytes_by(rule)
        if all(abs(other - shown) > SAME * shown for shown in by_rule.values()):
            by_rule[rule] = other
    if plan.count.is_overridden:
        by_rule["count without overrides"] = plan.count.weight_bytes_by_rules
    return [NamedCeiling(c.name, c.gbps, c.tps) for c in ceilings(plan.bandwidths, by_rule)]


def settings_fields(plan: Plan) -> dict[str, Any]:
    """The record's settings group, as far as the plan fixes it."""
    s = plan.settings
    return {
        "max_tokens": s.max_tokens,
        "warmup_tokens": s.warmup_tokens,
        "repeats": s.repeats,
        "sampler": "greedy",
        "seed": s.seed,
        "eos_ignored": True,
        "prefill_step_size": s.prefill_step_size,
        "batch": 1,
        "hosts": 1,
        "ui_hz": s.ui_hz,
        "blind": s.blind,
        "cooldown_s": s.cooldown_s,
    }


def revision(path: Path) -> str | None:
    """The commit of a Hugging Face snapshot folder, None for any other path."""
    is_snapshot = path.parent.name == "snapshots" and _SNAPSHOT.fullmatch(path.name) is not None
    return path.name if is_snapshot else None


def config_sha256(path: Path) -> str | None:
    """SHA-256 of the checkpoint's config.json, None where there is none."""
    import hashlib  # brings OpenSSL: only who records pays for it

    folder = path if path.is_dir() else path.parent
    try:
        content = read_small(folder / "config.json", "config.json", CONFIG_LIMIT_BYTES)
    except CheckpointError:
        return None
    return hashlib.sha256(content).hexdigest()


def _config_of(checkpoint: Checkpoint) -> ModelConfig:
    return view(checkpoint.config) if checkpoint.gguf is None else view_gguf(checkpoint.gguf)


def _quantization(config: ModelConfig) -> Quantization | None:
    stated = config.quantization
    if stated is None:
        return None
    return Quantization(stated.bits, stated.group_size, stated.mode or None, stated.mixed)


def _dtype(checkpoint: Checkpoint, config: ModelConfig) -> str | None:
    if config.quantization is not None and config.quantization.bits is not None:
        return None
    return next(iter(matrix_dtypes(checkpoint.tensors)), None)


def _override_fields(override: AppliedOverride) -> dict[str, Any]:
    return {
        "tensors": override.pattern,
        "role": None if override.role is None else str(override.role),
        "share": None if override.share is None else str(override.share),
        "reason": override.reason,
        "matched": override.tensors,
    }


def _on_disk(count: Count, *roles: Role) -> int:
    return sum(count.by_role[role].on_disk for role in roles if role in count.by_role)


def _other_skipped(count: Count) -> int:
    """Bytes on disk that no token reads and that no field beside this one names."""
    return sum(
        max(0, totals.on_disk - totals.per_token)
        for role, totals in count.by_role.items()
        if role not in _NAMED
    )
