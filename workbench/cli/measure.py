"""Predict, run and record one checkpoint: the whole protocol without the screens.

Without --bandwidth the figure comes from the settings, the chip table or an earlier probe; failing these,
from a probe now. Exit codes: 0 ok, 1 flagged as a counting error, 2 no prediction, 3 checkpoint unreadable,
4 the worker failed, 128 + n ended by a signal.
"""

import argparse
import asyncio
from dataclasses import replace

from workbench.cli import console, metering, options, running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    running.add_run(parser)


def run(args: argparse.Namespace) -> int:
    """Measure one checkpoint; nothing is loaded before the prediction is on disk."""
    return measure(args, args.checkpoint, experiment="single")


def measure(args: argparse.Namespace, name: str, *, experiment: str) -> int:
    """The run of `measure` and `demo`, from the words of the command line to the record."""
    from workbench.protocol.plan import Plan, require_runnable
    from workbench.protocol.recover import recover
    from workbench.settings import load_settings

    predictions = running.predictions_of(args.predict)
    ledger = options.ledger_path(args.ledger)
    for problem in recover(ledger).problems:
        console.say(f"workbench: {problem}")
    checkpoint, count = options.counted(name, args.models)
    stated = options.figure(args)
    power = metering.choice_of(args)
    plan = Plan(
        checkpoint=checkpoint,
        count=count,
        rule=args.rule,
        settings=running.settings_of(args, power),
        experiment="energy" if args.energy and experiment == "single" else experiment,
        command=running.command(),
        alias=load_settings().alias,
    )
    require_runnable(plan)
    plan = replace(plan, bandwidths=asyncio.run(running.bandwidths(stated, ledger=ledger)))
    return running.drive(plan, predictions, args, ledger, power)
