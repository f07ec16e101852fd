"""The ceilings of a checkpoint at a bandwidth: what it cannot beat, before anything runs."""

import argparse

from workbench.cli import console, options


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    options.add_bandwidth(parser, required=True)
    options.add_rule(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the ceiling by the chosen rule, and by every other rule beside it."""
    from workbench.ledger.words import gb, gbps, rate
    from workbench.prediction.ceiling import ceiling_tps
    from workbench.protocol.plan import Plan

    checkpoint, count = options.counted(args.checkpoint, args.models)
    plan = Plan(checkpoint=checkpoint, count=count, rule=args.rule)
    options.require_countable(checkpoint, count)
    figure = options.figure(args)
    assert figure is not None  # the option is required
    by_rule = {rule: plan.weight_bytes_by(rule) for rule in options.RULES}
    ceilings = {rule: ceiling_tps(figure.gbps, n) for rule, n in by_rule.items() if n > 0}
    if args.json:
        console.out_json(
            {
                "schema_version": 1,
                "model": checkpoint.name,
                "runtime": count.runtime,
                "rule": args.rule,
                "weight_bytes_per_token": by_rule[args.rule],
                "bandwidth_gbps": figure.gbps,
                "bandwidth_kind": str(figure.kind),
                "bandwidth_source": figure.source,
                "predicted_decode_tps": ceilings.get(args.rule),
                "ceilings": [
                    {"name": f"{figure.name}, rule {rule}", "gbps": figure.gbps, "tps": tps}
                    for rule, tps in ceilings.items()
                ],
            }
        )
        return 0
    console.out(f"{checkpoint.name} at {gbps(figure.gbps)} ({figure.kind}: {figure.source})")
    rows = [
        ("*" if rule == args.rule else "", rule, gb(by_rule[rule]), rate(ceilings[rule])) for rule in ceilings
    ]
    console.out(console.table(("", "rule", "a token reads", "ceiling tok/s"), rows, right="<<>>"))
    return 0
