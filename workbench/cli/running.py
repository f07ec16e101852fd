"""A run on the command line: what `measure` and `demo` share. Words go to stderr as the protocol advances."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from workbench.cli import console, metering, options
from workbench.cli.narrator import Narrator
from workbench.cli.verdict_words import beside_lines, verdict_lines
from workbench.errors import PowerError, PredictionMissingError, UsageError
from workbench.ledger.record import Record
from workbench.power.choice import Choice
from workbench.prediction.ceiling import BandwidthFigure
from workbench.prediction.parse import parse_predictions
from workbench.protocol.headless import measured
from workbench.protocol.plan import Plan, RunSettings
from workbench.protocol.steps import Measurement


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
    options.add_ledger(parser)
    options.add_json(parser)


def settings_of(args: argparse.Namespace, power: Choice) -> RunSettings:
    """The run's settings: the command line first, then the user's file, then the protocol's defaults."""
    from workbench.settings import load_settings

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


def show(record: Record, *, as_json: bool, ledger: Path) -> None:
    """The record on stdout: one JSON line, or the verdict in words."""
    from msgspec.json import encode

    from workbench.locations import shown

    if as_json:
        console.out(encode(record).decode())
        return
    for line in (*verdict_lines(record), *beside_lines(record, ledger)):
        console.out(line)
    console.say(f"recorded as {record.record_id} in {shown(ledger)}")


async def bandwidths(stated: BandwidthFigure | None, *, ledger: Path) -> tuple[BandwidthFigure, ...]:
    """The stated figure with the settings' own; else what is known of this machine; else a probe now."""
    from workbench.protocol import prepare
    from workbench.protocol.bandwidths import known_figures
    from workbench.settings import load_settings

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


def drive(
    plan: Plan,
    predictions: Sequence[tuple[str, float]],
    args: argparse.Namespace,
    ledger: Path,
    power: Choice,
) -> int:
    """Run the plan through the protocol, show the record, and return the exit code."""
    narrator = Narrator(plan, predictions)
    outcome = asyncio.run(
        measured(
            plan,
            predictions,
            args.by,
            on_change=narrator,
            make=partial(Measurement, ledger=ledger, power=power),
        )
    )
    if outcome.record is not None:
        show(outcome.record, as_json=args.json, ledger=ledger)
    return outcome.exit_code
