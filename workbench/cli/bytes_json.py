"""`workbench bytes --json`: the record's bytes group, its model before it, what is wrong with it behind."""

from typing import Any

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint, State
from workbench.cli import opening
from workbench.cli.rule_table import bytes_by_rule
from workbench.ledger.parts import Witness
from workbench.prediction.ceiling import BandwidthFigure, ceilings
from workbench.protocol.accounts import bytes_fields, format_fields
from workbench.protocol.plan import Plan

SCHEMA_VERSION = 1


def fields(
    checkpoint: Checkpoint,
    count: Count,
    rule: str = "count",
    figure: BandwidthFigure | None = None,
    *,
    graph_bytes: int | None = None,
    witness: Witness | None = None,
) -> dict[str, Any]:
    """The bytes group with `complete` and `warnings`; figures that would not be honest are null."""
    plan = Plan(checkpoint, count, rule=rule, graph_bytes=graph_bytes, witness=witness or Witness())
    group = bytes_fields(plan)
    honest = opening.is_countable(checkpoint, count)
    if not honest:
        group["weight_bytes_per_token"] = group["weight_bytes_per_token_without_overrides"] = None
    return {
        "schema_version": SCHEMA_VERSION,
        **format_fields(checkpoint),
        "runtime": count.runtime,
        **group,
        **(ceiling_fields(bytes_by_rule(checkpoint, count), plan, figure) if figure and honest else {}),
        "complete": checkpoint.state not in (State.INCOMPLETE, State.UNREADABLE),
        "state": str(checkpoint.state),
        "reason": checkpoint.reason or None,
        "not_counted": [
            {"name": skipped.name, "bytes": skipped.bytes, "why": skipped.why}
            for skipped in checkpoint.skipped
        ],
    }


def ceiling_fields(by_rule: dict[str, int], plan: Plan, figure: BandwidthFigure) -> dict[str, Any]:
    """The bandwidth figure with the ceiling by the plan's rule, and every rule's by name."""
    by_rule = {plan.rule: plan.weight_bytes} | {rule: n for rule, n in by_rule.items() if rule != plan.rule}
    named = ceilings([figure], by_rule)
    return {
        "bandwidth_gbps": figure.gbps,
        "bandwidth_kind": str(figure.kind),
        "bandwidth_source": figure.source,
        "predicted_decode_tps": named[0].tps if named else None,
        "ceilings": named,
    }
