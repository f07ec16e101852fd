"""Judge a number somebody shows you: a README, a post, a benchmark. The first check on any decode number.

Nothing runs. The fraction says whether the claim fits on the bus that it names; with --record it is kept,
marked as external. Exit code 1 where the validator flags it as a counting error.
"""

import argparse

from workbench.cli import console, opening, options
from workbench.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    parser.add_argument(
        "--measured", required=True, metavar="TPS", help='the number you were shown: "89", "11 ms"'
    )
    options.add_bandwidth(parser, required=True)
    parser.add_argument("--by", metavar="NAME", help="who says so, and where")
    parser.add_argument("--device", metavar="NAME", help="the machine that it is said of")
    parser.add_argument("--runtime", default="unknown", metavar="NAME", help="mlx-lm, llama.cpp, ...")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="sequences at once (1)")
    parser.add_argument("--draft-model", metavar="NAME", help="what guessed ahead: a model, or its own MTP")
    parser.add_argument("--prompt-cache", action="store_true", help="a prompt cache was in use")
    parser.add_argument("--hosts", type=int, default=1, metavar="N", help="machines that shared it (1)")
    parser.add_argument("--record", action="store_true", help="keep it in the ledger, as external")
    options.add_rule(parser)
    options.add_overrides(parser)
    options.add_ledger(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the verdict, with rows to set it beside."""
    from workbench.analysis.check import check
    from workbench.analysis.excess import alternatives
    from workbench.cli.verdict_words import beside_lines, verdict_lines
    from workbench.ledger.store import append
    from workbench.prediction.parse import parse_rate
    from workbench.protocol.accounts import bytes_fields, figure_fields, model_fields
    from workbench.protocol.headless import exit_code_of
    from workbench.protocol.plan import Plan

    if args.batch < 1 or args.hosts < 1:
        raise UsageError("--batch and --hosts count upwards from 1.")
    measured_tps, figure = parse_rate(args.measured), options.stated_figure(args)
    checkpoint, count = opening.counted(args.checkpoint, args.models, args.overrides)
    opening.require_countable(checkpoint, count)
    plan = Plan(checkpoint=checkpoint, count=count, bandwidths=(figure,), rule=args.rule)
    record = check(
        model_fields(checkpoint) | bytes_fields(plan) | figure_fields(plan),
        measured_tps,
        alternatives=alternatives(count),
        measured_by=args.by,
        device=args.device,
        runtime=args.runtime,
        batch=args.batch,
        draft_model=args.draft_model,
        prompt_cache=args.prompt_cache,
        hosts=args.hosts,
    )
    ledger = options.ledger_path(args.ledger)
    if args.record:
        record = append(ledger, record)
        console.say(f"record: {record.record_id}")
    if args.json:
        console.out_json(record)
    else:
        console.out_lines(verdict_lines(record))
        console.out_lines(beside_lines(record, ledger))
    return exit_code_of(record)
