"""The options of a run, and what they ask for: a prediction, settings, an energy pass."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from workbench.cli import console, metering, options
from workbench.errors import PowerError, PredictionMissingError, UsageError
from workbench.power.choice import Choice
from workbench.prediction.parse import parse_predictions
from workbench.protocol.plan import RunSettings
from workbench.settings import LIMITS, Settings, load_settings

LONGEST_S = 3600.0
IDLE_S = 20.0
SEEDS = 1 << 64


def add_run(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Declare them; `several` wants a prediction for each checkpoint, and knows no energy pass."""
    parser.add_argument(
        "--predict",
        metavar="TPS",
        action="append" if several else "store",
        help='your number: "143", "7 ms", or a class\'s "ana=120 bo=300"'
        + ("; once for each checkpoint, in their order" if several else ""),
    )
    parser.add_argument("--by", metavar="NAME", help="who predicts")
    options.add_bandwidth(parser)
    parser.add_argument("--tokens", type=int, metavar="N", help="tokens decoded in each repeat (200)")
    parser.add_argument("--repeats", type=int, metavar="N", help="timed repeats (3)")
    parser.add_argument("--cooldown", type=float, metavar="S", help="seconds of rest between repeats (0)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (0)")
    parser.add_argument("--blind", action="store_true", help="show no rate while the run measures")
    if not several:
        _add_energy(parser)
    options.add_rule(parser)
    options.add_overrides(parser)
    parser.add_argument("--no-witness", action="store_true", help="do not ask the decode graph first")
    options.add_ledger(parser)
    options.add_json(parser)


def _add_energy(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("energy")
    group.add_argument(
        "--energy", action="store_true", help="one more pass after the repeats, with the power sources on"
    )
    group.add_argument(
        "--idle", type=float, metavar="S", help=f"seconds of idle before that pass ({IDLE_S:.0f})"
    )
    group.add_argument(
        "--energy-seconds", type=float, metavar="S", help="its window (default: what the sources need)"
    )
    metering.add_meter(group)


def predictions_of(text: str | None) -> Sequence[tuple[str, float]]:
    """The person's numbers in tok/s; PredictionMissingError where there is none."""
    if text is None:
        raise PredictionMissingError(
            "A run needs a prediction: a number nobody predicted cannot surprise.",
            "Say yours with --predict TPS; `workbench predict CHECKPOINT --bandwidth GBPS` shows a ceiling.",
        )
    return parse_predictions(text)


def settings_of(args: argparse.Namespace, power: Choice | None = None) -> RunSettings:
    """The run's settings: the command line first, then the user's file, then the protocol's defaults.

    With `power` and --energy they ask for an energy pass; PowerError where nothing can measure it.
    """
    mine = user_settings(args)
    if not 0 <= args.seed < SEEDS:
        raise UsageError(f"--seed takes a whole number from 0 to 2^64 - 1, not {args.seed}.", "Use --seed 0.")
    settings = RunSettings(
        prompt_tokens=mine.prompt_tokens,
        max_tokens=mine.tokens,
        repeats=mine.repeats,
        cooldown_s=mine.cooldown_s,
        seed=args.seed,
        blind=args.blind or not console.can_say_over(),
    )
    return settings if power is None or not args.energy else _with_energy(settings, args, power)


def user_settings(args: argparse.Namespace) -> Settings:
    """The user's file, with what the command line says of tokens, repeats and rest over it."""
    _require_energy_for_its_options(args)
    said = {"tokens": args.tokens, "repeats": args.repeats, "cooldown_s": args.cooldown}
    for name, value in said.items():
        low, high = LIMITS[name]
        if value is not None and not low <= value <= high:
            raise UsageError(f"--{name.removesuffix('_s')} takes {low:,g} to {high:,g}, not {value}.")
    return replace(load_settings(), **{name: value for name, value in said.items() if value is not None})


def _require_energy_for_its_options(args: argparse.Namespace) -> None:
    """Raise UsageError for an option of the energy pass where none is asked for: it would do nothing."""
    if getattr(args, "energy", True):
        return
    for option in ("idle", "energy_seconds", "watts", "watts_command"):
        if getattr(args, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')} belongs to the energy pass.", "Add --energy.")


def _with_energy(settings: RunSettings, args: argparse.Namespace, power: Choice) -> RunSettings:
    if not power.sources:
        raise PowerError(
            power.unavailable_reason or "No power source on this machine.",
            "Run without --energy, or name a meter of your own: --meter with --watts or --watts-command.",
        )
    window_s = power.window_for_all_s if args.energy_seconds is None else args.energy_seconds
    idle_s = IDLE_S if args.idle is None else args.idle
    if not 0 < window_s <= LONGEST_S or not 0 <= idle_s <= LONGEST_S:
        raise UsageError(f"The energy pass takes up to {LONGEST_S:.0f} seconds, its idle window too.")
    return replace(settings, idle_s=idle_s, energy_min_s=window_s)
