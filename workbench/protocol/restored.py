"""A recorded run's checkpoint, count and plan, put together again from its record alone: one row a role.

For showing a run where its checkpoint may be gone. Nothing is counted anew; no file is touched.
"""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from workbench.accounting.count import RECORDED, AppliedOverride, Count, RoleTotals, Row, SeedCount
from workbench.accounting.roles import Role
from workbench.checkpoint.checkpoint import Checkpoint, Finding, Tensor, WeightFile
from workbench.ledger.parts import Witness
from workbench.ledger.record import Record
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind, figure_and_rule
from workbench.protocol.plan import RULES, Plan, RunSettings
from workbench.shelf.synthetic import MARK


def plan_of(record: Record) -> Plan:
    """The plan that the record's run had, with its own bytes per token and bandwidth figures."""
    count = _count(record)
    checkpoint = _checkpoint(record, count)
    rule = record.rule if record.rule in RULES else RULES[0]
    return Plan(
        checkpoint,
        count,
        bandwidths=tuple(_figures(record)),
        rule=rule,
        settings=_settings(record),
        experiment=record.experiment,
        run_group_id=record.run_group_id,
        alias=record.alias,
        witness=record.witness or Witness(),
        graph_bytes=record.weight_bytes_per_token if record.in_force == "graph" else None,
        fit_estimate=record.fit_estimate,
    )


def _checkpoint(record: Record, count: Count) -> Checkpoint:
    whole = record.weight_bytes_per_token if record.rule == "whole-file" else record.weight_bytes_total
    return Checkpoint(
        path=Path(record.model or "unnamed"),
        name=record.model or "unnamed",
        format="safetensors",  # whatever it was: a replay loads nothing
        config={MARK: True} if record.synthetic_weights else {},
        files=(WeightFile("as recorded", whole or 0),),
        tensors=tuple(Tensor(row.name, row.dtype, row.shape, row.disk_bytes, 0) for row in count.rows),
    )


def _count(record: Record) -> Count:
    per_token = record.weight_bytes_per_token or 0
    untouched = record.weight_bytes_per_token_without_overrides
    is_count = record.rule in {None, "count"} and record.in_force != "graph"
    by_count = per_token if is_count or untouched is None else untouched
    by_role = dict(_roles(record, by_count))
    overrides = tuple(map(_override, record.overrides or ()))
    return Count(
        runtime=f"{record.runtime} {record.mlx_lm}" if record.mlx_lm else record.runtime,
        rows=[_row(role, totals, record) for role, totals in by_role.items()],
        disk_bytes=sum(totals.on_disk for totals in by_role.values()),
        resident_bytes=record.weight_bytes_resident or 0,
        weight_bytes=by_count,
        lookup_bytes=record.lookup_row_bytes or 0,
        by_role=by_role,
        tied=bool(record.tied_embeddings),
        experts=record.experts or 0,
        experts_per_token=record.experts_per_token or 0,
        seed=_seed(record),
        findings=tuple(Finding(warning.code, warning.message) for warning in record.warnings),
        overrides=overrides,
        weight_bytes_without_overrides=untouched if overrides else None,
    )


def _roles(record: Record, by_count: int) -> Iterator[tuple[Role, RoleTotals]]:
    """The record's roles; where it has none, the groups that the source documents name."""
    if record.roles:
        known = set(Role)
        yield from (
            (
                Role(name) if name in known else Role.OTHER,
                RoleTotals(one.on_disk, one.resident, one.per_token),
            )
            for name, one in record.roles.items()
        )
        return
    k, experts = record.experts_per_token or 0, record.experts or 0
    embedding = record.weight_bytes_embed or 0
    read = {
        Role.VISION: (record.weight_bytes_vision or 0, 0),
        Role.EMBEDDING: (embedding, embedding if record.tied_embeddings else 0),
        Role.EXPERT: (record.weight_bytes_experts or 0, 0),
        Role.DRAFT: (record.weight_bytes_draft or 0, 0),
    }
    if experts:
        disk = read[Role.EXPERT][0]
        read[Role.EXPERT] = (disk, disk * k // experts)
    rest = (record.weight_bytes_total or by_count) - sum(disk for disk, _ in read.values())
    rest_read = by_count - sum(part for _, part in read.values())
    read[Role.OTHER] = (max(0, rest), max(0, min(rest, rest_read)))
    for role, (disk, part) in read.items():
        if disk:
            yield role, RoleTotals(disk, disk, part)


def _row(role: Role, totals: RoleTotals, record: Record) -> Row:
    share = Fraction(totals.per_token, totals.on_disk) if totals.on_disk else Fraction(0)
    looked_up = (record.lookup_row_bytes or 0) if role is Role.EMBEDDING and not totals.per_token else 0
    return Row(
        role.replace("_", " "),
        "",
        (),
        totals.on_disk,
        totals.resident,
        totals.per_token,
        looked_up,
        role,
        share,
        RECORDED,
    )


def _seed(record: Record) -> SeedCount:
    """The seed rule's figure as recorded; 0 where the record has none."""
    by_seed = record.weight_bytes_per_token if record.rule == "seed" else record.seed_rule_bytes_per_token
    return SeedCount(
        record.weight_bytes_total or 0,
        record.weight_bytes_vision or 0,
        record.weight_bytes_embed or 0,
        record.weight_bytes_experts or 0,
        bool(record.tied_embeddings),
        record.experts or 0,
        record.experts_per_token or 0,
        by_seed or 0,
    )


def _override(fields: dict[str, Any]) -> AppliedOverride:
    matched = fields.get("matched")
    return AppliedOverride(
        str(fields.get("tensors", "")),
        None,
        None,
        str(fields.get("reason", "")),
        matched if isinstance(matched, int) else 0,
    )


def _figures(record: Record) -> Iterator[BandwidthFigure]:
    """The principal figure with its source, then those that only ceilings name."""
    seen = set()
    if record.bandwidth_gbps is not None and record.bandwidth_gbps > 0:
        kind = record.bandwidth_kind or ""
        known = BandwidthKind(kind) if kind in set(BandwidthKind) else BandwidthKind.STATED
        seen.add((known, record.bandwidth_gbps))
        yield BandwidthFigure(record.bandwidth_gbps, known, record.bandwidth_source or "as recorded")
    for ceiling in record.ceilings:
        kind_of, _ = figure_and_rule(ceiling.name)
        figure = (kind_of or BandwidthKind.STATED, ceiling.gbps)
        if figure not in seen and ceiling.gbps > 0:
            seen.add(figure)
            yield BandwidthFigure(ceiling.gbps, figure[0], "as recorded")


def _settings(record: Record) -> RunSettings:
    steps = record.token_times_ns or []
    tokens = max([len(repeat) + 1 for repeat in steps] + [record.max_tokens or record.generation_tokens or 2])
    return RunSettings(
        prompt_tokens=max(1, record.prompt_tokens or 1),
        max_tokens=max(2, tokens),
        warmup_tokens=max(0, record.warmup_tokens or 0),
        repeats=len(steps) or max(1, len(record.repeats_tps)),
        blind=bool(record.blind),
    )
