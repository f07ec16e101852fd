"""What one decode step of a checkpoint reads, by role: from headers and config.json, without any weight."""

import argparse

from workbench.accounting.count import Count
from workbench.accounting.roles import LETTERS
from workbench.checkpoint.checkpoint import Checkpoint, State
from workbench.cli import console, options
from workbench.escape import visible
from workbench.exits import ExitCode
from workbench.ledger.words import gb


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    options.add_rule(parser)
    options.add_overrides(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the three byte totals by role, the seed rule beside them, and every warning."""
    checkpoint, count = options.counted(args.checkpoint, args.models, args.overrides)
    if args.json:
        console.out_json(fields(checkpoint, count, args.rule))
        return ExitCode.OK if options.is_countable(checkpoint, count) else ExitCode.CHECKPOINT
    for line in _lines(checkpoint, count):
        console.out(line)
    for finding in (*checkpoint.findings, *count.findings):
        console.say(f"warning: {finding.message}")
    options.require_countable(checkpoint, count)
    return ExitCode.OK


def fields(checkpoint: Checkpoint, count: Count, rule: str = "count") -> dict[str, object]:
    """The record's bytes group with `complete` and `warnings`; figures that are not honest are null."""
    from msgspec import to_builtins

    from workbench.protocol.accounts import bytes_fields, model_fields
    from workbench.protocol.plan import Plan

    group = bytes_fields(Plan(checkpoint=checkpoint, count=count, rule=rule))
    if not options.is_countable(checkpoint, count):
        group["weight_bytes_per_token"] = group["weight_bytes_per_token_without_overrides"] = None
    model = model_fields(checkpoint)
    builtins: dict[str, object] = to_builtins(
        {
            "schema_version": 1,
            "model": model["model"],
            "architecture": model["architecture"],
            "format": model["format"],
            "quantization": model["quantization"],
            "runtime": count.runtime,
            **group,
            "complete": checkpoint.state is not State.INCOMPLETE,
            "state": str(checkpoint.state),
            "reason": checkpoint.reason or None,
            "not_counted": [
                {"name": skipped.name, "bytes": skipped.bytes, "why": skipped.why}
                for skipped in checkpoint.skipped
            ],
        }
    )
    return builtins


def _lines(checkpoint: Checkpoint, count: Count) -> list[str]:
    rows = [
        (
            LETTERS.get(role, ""),
            str(role),
            gb(totals.on_disk),
            gb(totals.resident),
            gb(totals.per_token),
        )
        for role, totals in count.by_role.items()
    ]
    rows.append(
        (
            "",
            "total",
            gb(count.disk_bytes),
            gb(count.resident_bytes),
            gb(count.weight_bytes) if count.refusal is None else "-",
        )
    )
    experts = f", experts {count.experts_per_token} of {count.experts}" if count.experts else ""
    tied = "tied" if count.tied else "untied"
    lines = [
        f"{visible(checkpoint.name)}: {checkpoint.state}"
        f"{' (' + visible(checkpoint.reason) + ')' if checkpoint.reason else ''}",
        f"{count.runtime}, batch 1, {tied} embedding{experts}",
        "",
        console.table(("", "role", "on disk", "resident", "per token"), rows, right="<<>>>"),
        "",
        f"look-up rows    {count.lookup_bytes:,} bytes a token, not in the ceiling",
        f"seed rule       {gb(count.seed.weight_bytes)} per token, taken literally",
    ]
    lines += [f"not counted     {visible(s.name)} ({gb(s.bytes)}): {s.why}" for s in checkpoint.skipped]
    return lines
