"""What one decode step of a checkpoint reads, by role: from headers and config.json, without any weight."""

import argparse
from collections.abc import Iterator

from workbench.accounting.compare import against_seed
from workbench.accounting.count import Count
from workbench.accounting.roles import LETTERS
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.cli import console, opening, options
from workbench.cli.rule_table import bytes_by_rule, rule_table
from workbench.escape import visible
from workbench.exits import ExitCode
from workbench.ledger.words import gb


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    options.add_bandwidth(parser)
    options.add_rule(parser)
    options.add_overrides(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the three byte totals by role, the seed rule beside them, and every warning."""
    figure = options.figure(args)
    checkpoint, count = opening.counted(args.checkpoint, args.models, args.overrides)
    if args.json:
        from workbench.cli.bytes_json import fields

        console.out_json(fields(checkpoint, count, args.rule, figure))
        return ExitCode.OK if opening.is_countable(checkpoint, count) else ExitCode.CHECKPOINT
    console.out_lines(_account(checkpoint, count))
    if opening.is_countable(checkpoint, count):
        console.out("")
        console.out(rule_table(bytes_by_rule(checkpoint, count), chosen=args.rule, figure=figure))
    console.out_lines(_beside(checkpoint))
    opening.warn(checkpoint, count)
    opening.require_countable(checkpoint, count)
    return ExitCode.OK


def title(checkpoint: Checkpoint, count: Count) -> list[str]:
    """Name and state, then what the count holds for."""
    reason = f" ({visible(checkpoint.reason, 300)})" if checkpoint.reason else ""
    tied = "tied" if count.tied else "untied"
    experts = f", {count.experts_per_token} of {count.experts} experts a token" if count.experts else ""
    return [
        *console.wrapped(f"{visible(checkpoint.name)}: {checkpoint.state}{reason}", later="  "),
        f"counted for {count.runtime} at batch 1; embedding {tied}{experts}",
    ]


def _account(checkpoint: Checkpoint, count: Count) -> Iterator[str]:
    yield from title(checkpoint, count)
    yield ""
    honest = opening.is_countable(checkpoint, count)
    by_seed = {one.role: one.right_bytes for one in against_seed(count)}
    rows = [
        (
            LETTERS.get(role, ""),
            str(role),
            gb(totals.on_disk),
            gb(totals.resident),
            gb(totals.per_token),
            gb(by_seed.pop(role, totals.per_token)),
        )
        for role, totals in count.by_role.items()
    ]
    rows += [("", f"{role}, not loaded", "", "", "", gb(nbytes)) for role, nbytes in by_seed.items()]
    per_token = gb(count.weight_bytes) if honest else "-"
    totals = (gb(count.disk_bytes), gb(count.resident_bytes), per_token, gb(count.seed.weight_bytes))
    rows.append(("", "total", *totals))
    yield console.table(("", "role", "on disk", "resident", "per token", "seed rule"), rows, right="<<>>>>")
    if count.lookup_bytes:
        yield f"   look-up rows: {count.lookup_bytes:,} bytes a token, not in the ceiling"


def _beside(checkpoint: Checkpoint) -> Iterator[str]:
    if checkpoint.skipped:
        yield "\nnot counted"
    for file in checkpoint.skipped:
        yield from console.wrapped(f"{visible(file.name, 60)} ({gb(file.bytes)}): {file.why}", "  ", "    ")
