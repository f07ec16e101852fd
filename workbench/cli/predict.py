"""The ceilings of a checkpoint at a bandwidth: what it cannot beat, before anything runs."""

import argparse
from typing import TYPE_CHECKING

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.cli import console, opening, options
from workbench.cli.rule_table import bytes_by_rule, rule_table
from workbench.cli.unwinding import run_unwinding
from workbench.escape import visible
from workbench.exits import ExitCode

if TYPE_CHECKING:
    from workbench.witness.agreement import Agreement


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    options.add_bandwidth(parser, required=True)
    options.add_rule(parser)
    options.add_overrides(parser)
    parser.add_argument(
        "--witness",
        action="store_true",
        help="ask the decode graph too; where it differs, the ceiling uses it",
    )
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the ceiling by the chosen rule, and by every other rule beside it."""
    figure = options.stated_figure(args)
    checkpoint, count = opening.counted(args.checkpoint, args.models, args.overrides)
    opening.require_countable(checkpoint, count)
    by_rule = bytes_by_rule(checkpoint, count)
    seal = _seal(checkpoint, count) if args.witness else None
    graph_bytes = seal.bytes_in_force if seal and not count.is_overridden else None
    if args.json:
        from workbench.cli.bytes_json import SCHEMA_VERSION, ceiling_fields
        from workbench.ledger.parts import Witness
        from workbench.protocol.plan import Plan
        from workbench.protocol.witnessing import as_recorded

        plan = Plan(checkpoint, count, rule=args.rule, graph_bytes=graph_bytes)
        console.out_json(
            {
                "schema_version": SCHEMA_VERSION,
                "model": checkpoint.name,
                "runtime": count.runtime,
                "rule": args.rule,
                "in_force": plan.in_force,
                "weight_bytes_per_token": plan.weight_bytes,
                "witness": as_recorded(seal) if seal else Witness(),
                **ceiling_fields(by_rule, plan, figure),
            }
        )
        return ExitCode.OK
    console.out(f"{visible(checkpoint.name)} on {count.runtime}, batch 1")
    console.out_lines(console.wrapped(f"at {figure.name}: {visible(figure.source)}"))
    console.out("")
    chosen = "graph" if graph_bytes and args.rule == "count" else args.rule
    by_graph = seal.graph_bytes if seal else None
    console.out(rule_table(by_rule, chosen=chosen, graph_bytes=by_graph, figure=figure))
    if seal:
        from workbench.cli.audit_words import agreement

        console.out_lines(agreement(seal, in_force=chosen == "graph"))
    opening.warn(checkpoint, count)
    return ExitCode.OK


def _seal(checkpoint: Checkpoint, count: Count) -> "Agreement":
    from workbench.protocol.witnessing import seals

    [seal] = run_unwinding(seals(checkpoint, count))
    return seal
