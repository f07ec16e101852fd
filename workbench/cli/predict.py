"""The ceilings of a checkpoint at a bandwidth: what it cannot beat, before anything runs."""

import argparse

from workbench.cli import console, opening, options
from workbench.cli.rule_table import bytes_by_rule, rule_table
from workbench.escape import visible
from workbench.exits import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    options.add_bandwidth(parser, required=True)
    options.add_rule(parser)
    options.add_overrides(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the ceiling by the chosen rule, and by every other rule beside it."""
    figure = options.stated_figure(args)
    checkpoint, count = opening.counted(args.checkpoint, args.models, args.overrides)
    opening.require_countable(checkpoint, count)
    by_rule = bytes_by_rule(checkpoint, count)
    if args.json:
        from workbench.cli.bytes_json import SCHEMA_VERSION, ceiling_fields
        from workbench.protocol.plan import Plan

        plan = Plan(checkpoint, count, rule=args.rule)
        console.out_json(
            {
                "schema_version": SCHEMA_VERSION,
                "model": checkpoint.name,
                "runtime": count.runtime,
                "rule": args.rule,
                "weight_bytes_per_token": by_rule[args.rule],
                **ceiling_fields(by_rule, plan, figure),
            }
        )
        return ExitCode.OK
    console.out(f"{visible(checkpoint.name)} on {count.runtime}, batch 1")
    console.out_lines(console.wrapped(f"at {figure.name}: {visible(figure.source)}"))
    console.out("")
    console.out(rule_table(by_rule, chosen=args.rule, figure=figure))
    opening.warn(checkpoint, count)
    return ExitCode.OK
