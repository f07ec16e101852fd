"""A run on the command line: what `measure` and `demo` share. Words go to stderr as the protocol advances."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from workbench.cli import console, metering, options
from workbench.cli.verdict_words import verdict_lines
from workbench.errors import PowerError, PredictionMissingError, UsageError
from workbench.ledger.record import Record
from workbench.ledger.words import gb, gbps, rate
from workbench.power.choice import Choice
from workbench.prediction.ceiling import BandwidthFigure, ceiling_tps
from workbench.prediction.parse import parse_predictions
from workbench.protocol.headless import measured
from workbench.protocol.plan import Plan, RunSettings, expected_seconds
from workbench.protocol.run import Phase, Run
from workbench.protocol.steps import Measurement


def add_run(parser: argparse.ArgumentParser) -> None:
    """The options of a run: the prediction, the bandwidth, and how much is measured."""
    parser.add_argument(
        "--predict", metavar="TPS", help='your number: "143", "7 ms", or a class\'s "ana=120 bo=300"'
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
    for line in verdict_lines(record):
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


class Narrator:
    """Says on stderr what the run is doing: a line a phase, and on a terminal the live rate."""

    def __init__(self, plan: Plan, predictions: Sequence[tuple[str, float]]) -> None:
        self._plan = plan
        self._predictions = predictions
        self._phase: Phase | None = None
        self._notices = 0
        self._live = sys.stderr.isatty()

    def __call__(self, run: Run) -> None:
        """Say what is new in `run`."""
        for notice in run.notices[self._notices :]:
            self._end_line()
            console.say(f"note: {notice}")
        self._notices = len(run.notices)
        if run.phase is not self._phase:
            self._phase = run.phase
            self._end_line()
            if run.phase is Phase.LOCKED:
                _say_lock(self._plan, self._predictions)
            elif run.phase is Phase.PREFILL:
                console.say(f"measure: repeat {(run.repeat_index or 0) + 1} of {self._plan.settings.repeats}")
            elif words := _WORDS.get(run.phase):
                console.say(words)
        if self._live and run.now is not None and run.now.tps_mean is not None:
            index = (run.repeat_index or 0) + 1
            sys.stderr.write(
                f"\r  repeat {index}: {run.now.tokens} tokens, {rate(run.now.tps_mean)} tok/s\x1b[K"
            )
            sys.stderr.flush()

    def _end_line(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")


_WORDS = {
    Phase.STARTING: "stamp: starting the worker",
    Phase.LOADING: "loading the model",
    Phase.WARMING: "warm up: these tokens are thrown away",
    Phase.IDLE: "energy: idle with the model loaded",
    Phase.ENERGY: "energy: decoding for the window",
}


def _say_lock(plan: Plan, predictions: Sequence[tuple[str, float]]) -> None:
    numbers = (f"{name} {rate(tps)} tok/s".strip() for name, tps in predictions)
    console.say(f"predict: {', '.join(numbers)}")
    console.say(f"  a token reads {gb(plan.weight_bytes)} by the rule {plan.rule}")
    for figure in plan.bandwidths:
        ceiling = ceiling_tps(figure.gbps, plan.weight_bytes)
        console.say(
            f"  ceiling {rate(ceiling)} tok/s at {gbps(figure.gbps)} ({figure.kind}: {figure.source})"
        )
    seconds = expected_seconds(plan, predictions[0][1])
    console.say(f"  expect about {seconds:.0f} s of decoding by your number")


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
