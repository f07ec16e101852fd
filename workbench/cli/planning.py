"""From the words of a command line to a plan: prediction, checkpoint, count, witness, bandwidth, settings."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.cli import console, metering, options
from workbench.errors import PowerError, PredictionMissingError, UsageError
from workbench.power.choice import Choice
from workbench.prediction.ceiling import BandwidthFigure
from workbench.prediction.parse import parse_predictions
from workbench.protocol.plan import Plan, RunSettings, require_runnable
from workbench.settings import load_settings


def add_run(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """The options of a run; `several` wants a prediction for each checkpoint."""
    parser.add_argument(
        "--predict",
        metavar="TPS",
        action="append" if several else "store",
        help='your number: "143", "7 ms", or a class\'s "ana=120 bo=300"',
    )
    parser.add_argument("--by", metavar="NAME", help="who predicts")
    options.add_bandwidth(parser, required=False)
    parser.add_argument("--tokens", type=int, metavar="N", help="tokens decoded in each repeat (200)")
    parser.add_argument("--repeats", type=int, metavar="N", help="timed repeats (3)")
    parser.add_argument("--cooldown", type=float, metavar="S", help="seconds of rest between repeats (0)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (0)")
    parser.add_argument(
        "--energy", action="store_true", help="one more pass after the repeats, with the power sources on"
    )
    parser.add_argument(
        "--idle", type=float, default=20.0, metavar="S", help="seconds of idle before the energy pass (20)"
    )
    parser.add_argument(
        "--energy-seconds", type=float, metavar="S", help="its window (default: what the sources need)"
    )
    metering.add_meter(parser)
    options.add_rule(parser)
    options.add_overrides(parser)
    parser.add_argument("--no-witness", action="store_true", help="do not ask the decode graph first")
    options.add_ledger(parser)
    options.add_json(parser)


def settings_of(args: argparse.Namespace, power: Choice) -> RunSettings:
    """The run's settings: the command line first, then the user's file, then the protocol's defaults."""
    mine = load_settings()
    settings = RunSettings(
        prompt_tokens=mine.prompt_tokens,
        max_tokens=args.tokens if args.tokens is not None else mine.tokens,
        repeats=args.repeats if args.repeats is not None else mine.repeats,
        cooldown_s=args.cooldown if args.cooldown is not None else mine.cooldown_s,
        seed=args.seed,
        warm_until_stable=True,
        blind=True,
    )
    return _with_energy(settings, args, power)


def _with_energy(settings: RunSettings, args: argparse.Namespace, power: Choice) -> RunSettings:
    if not args.energy:
        return settings
    if not power.sources:
        raise PowerError(
            power.unavailable_reason or "No power source.", "Run without --energy, or name a --meter."
        )
    window_s = args.energy_seconds if args.energy_seconds is not None else power.window_for_all_s
    if not 0 < window_s <= 3600 or not 0 <= args.idle <= 3600:
        raise UsageError("The energy pass takes between 0 and 3600 seconds, its idle window too.")
    return replace(settings, idle_s=args.idle, energy_min_s=window_s)


def predictions_of(text: str | None) -> Sequence[tuple[str, float]]:
    """The person's numbers; PredictionMissingError where there is none."""
    if text is None:
        raise PredictionMissingError(
            "A run needs a prediction: a number nobody predicted cannot surprise.",
            "Say yours with --predict TPS; `workbench predict CHECKPOINT --bandwidth GBPS` shows a ceiling.",
        )
    return parse_predictions(text)


def welcome(ledger: Path) -> None:
    """What every run begins with: close what the last one left open, and name what is odd in the settings."""
    from workbench.protocol.recover import recover

    recovery = recover(ledger)
    for record in recovery.records:
        console.say(f"note: an interrupted run of {record.model} was recorded as {record.record_id}")
    for problem in (*recovery.problems, *load_settings().warnings):
        console.say(f"note: {problem}")


def planned(args: argparse.Namespace, name: str, power: Choice, *, experiment: str) -> Plan:
    """The plan of one checkpoint, without its bandwidth figures; CheckpointError where it cannot run."""
    from workbench.accounting.engine import count
    from workbench.accounting.overrides import read_overrides
    from workbench.shelf.supported import open_for_mlx_lm

    corrections = read_overrides(args.overrides) if args.overrides else ()
    checkpoint = open_for_mlx_lm(options.find(name, args.models))
    plan = Plan(
        checkpoint=checkpoint,
        count=count(checkpoint, corrections),
        rule=args.rule,
        settings=settings_of(args, power),
        experiment=experiment,
        command=command(),
        alias=load_settings().alias,
    )
    require_runnable(plan)
    return plan if args.no_witness else asyncio.run(_witnessed(plan))


async def _witnessed(plan: Plan) -> Plan:
    from workbench.accounting.engine import count
    from workbench.protocol.witnessing import as_recorded, sealed

    by_rules = count(plan.checkpoint) if plan.count.overrides else plan.count
    agreement = await sealed(plan.checkpoint, by_rules)
    console.say(
        f"count: the decode graph {agreement.status}{': ' + agreement.reason if agreement.reason else ''}"
    )
    for one in agreement.disagreements:
        console.say(f"  {one.words}")
    return replace(plan, graph_bytes=agreement.bytes_in_force, witness=as_recorded(agreement))


async def bandwidths(stated: BandwidthFigure | None, *, ledger: Path) -> tuple[BandwidthFigure, ...]:
    """The stated figure with the settings' own; else what is known of this machine; else a probe now."""
    from workbench.protocol import prepare
    from workbench.protocol.bandwidths import known_figures

    mine = load_settings()
    if stated is not None:
        return (stated, *(figure for figure in mine.bandwidth if figure != stated))
    stamp = await prepare.machine_stamp(mine.alias)
    known = known_figures(stamp, mine.bandwidth, ledger)
    if known.figures:
        return known.figures
    console.say(f"bandwidth: {known.question or 'no figure is known here.'} Probing it now ...")
    figure, _ = await prepare.probe(alias=mine.alias, command=command(), ledger=ledger)
    return (figure,)


def command() -> tuple[str, ...]:
    """The command line as the stamp records it."""
    return ("workbench", *sys.argv[1:])
