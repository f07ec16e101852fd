"""Predict, run and record one checkpoint: the whole protocol without the screens.

Without --bandwidth the figure comes from the settings, the chip table or an earlier probe; failing these,
from a probe now. Exit codes: 0 ok, 1 flagged as a counting error, 2 no prediction, 3 checkpoint unreadable,
4 the worker failed, 5 no power source for --energy, 128 + n ended by signal n.
"""

import argparse
from dataclasses import replace

from workbench.cli import metering, options, planning, run_options, running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    run_options.add_run(parser)


def run(args: argparse.Namespace) -> int:
    """Measure one checkpoint; nothing is loaded before the prediction is on disk."""
    return measure(args, args.checkpoint, experiment="energy" if args.energy else "single")


def measure(args: argparse.Namespace, name: str, *, experiment: str) -> int:
    """The run of `measure` and `demo`, from the words of the command line to the record."""
    predictions = run_options.predictions_of(args.predict)
    stated = options.figure(args)
    power = metering.choice_of(args)
    settings = run_options.settings_of(args, power)
    ledger = options.ledger_path(args.ledger)
    planning.welcome(ledger)
    plan = planning.planned(args, name, settings, experiment=experiment)
    plan = replace(plan, bandwidths=planning.bandwidths(stated, ledger))
    return running.drive(plan, predictions, args, ledger, power)
