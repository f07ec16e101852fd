"""Predict, run and record one checkpoint: the whole protocol without the screens.

Without --bandwidth the figure comes from the settings, the chip table or an earlier probe; failing these,
from a probe now. Exit codes: 0 ok, 1 flagged as a counting error, 2 no prediction, 3 checkpoint unreadable,
4 the worker failed, 128 + n ended by a signal.
"""

import argparse
import asyncio
from dataclasses import replace

from workbench.cli import metering, options, planning, running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    planning.add_run(parser)


def run(args: argparse.Namespace) -> int:
    """Measure one checkpoint; nothing is loaded before the prediction is on disk."""
    return measure(args, args.checkpoint, experiment="energy" if args.energy else "single")


def measure(args: argparse.Namespace, name: str, *, experiment: str) -> int:
    """The run of `measure` and `demo`, from the words of the command line to the record."""
    predictions = planning.predictions_of(args.predict)
    ledger = options.ledger_path(args.ledger)
    planning.welcome(ledger)
    power = metering.choice_of(args)
    plan = planning.planned(args, name, power, experiment=experiment)
    plan = replace(plan, bandwidths=asyncio.run(planning.bandwidths(options.figure(args), ledger=ledger)))
    return running.drive(plan, predictions, args, ledger, power)
