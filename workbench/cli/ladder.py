"""Several checkpoints in one go: one prediction each before anything loads, one record each, then a table.

workbench ladder synthetic/dense-20mb synthetic/dense-60mb --predict 200 --predict 70
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import console, options, planning, run_options
from workbench.errors import LedgerError, PredictionMissingError
from workbench.ledger.record import Record

if TYPE_CHECKING:
    from workbench.protocol.plan import Plan


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "checkpoints", nargs="+", metavar="CHECKPOINT", type=str, help="as `measure` takes them"
    )
    options.add_models(parser)
    run_options.add_run(parser, several=True)


def run(args: argparse.Namespace) -> int:
    """Lock every prediction, then climb; a rung that fails does not stop the others."""
    said = args.predict or []
    if len(said) != len(args.checkpoints):
        raise PredictionMissingError(
            f"{len(args.checkpoints)} checkpoints, {len(said)} predictions: each needs one before any loads.",
            "Give --predict TPS once for every checkpoint, in their order.",
        )
    predictions = [run_options.predictions_of(text) for text in said]
    stated = options.figure(args)
    settings = run_options.settings_of(args)
    ledger = options.ledger_path(args.ledger)
    planning.welcome(ledger)
    plans = [planning.planned(args, name, settings, experiment="ladder") for name in args.checkpoints]
    figures = planning.bandwidths(stated, ledger)
    plans = [replace(plan, bandwidths=figures) for plan in plans]
    outcomes, signalled = asyncio.run(_climb(plans, predictions, args.by, ledger))
    _show(outcomes, as_json=args.json)
    return _exit_code(outcomes) if signalled is None else signalled


async def _climb(
    plans: "list[Plan]", predictions: list[Sequence[tuple[str, float]]], by: str | None, ledger: Path
) -> tuple[list[Record | LedgerError], int | None]:
    from workbench.cli.narrator import Narrator
    from workbench.protocol.ladder import Ladder
    from workbench.protocol.signals import ending_signals
    from workbench.protocol.steps import Measurement

    narrators = [Narrator() for _ in plans]
    ladder = Ladder(
        plans,
        on_change=lambda index, run: narrators[index](run),
        make=partial(Measurement, ledger=ledger),
    )
    async with ladder:
        with ending_signals(ladder.cancel) as caught:
            await ladder.prepare()
            for index, said in enumerate(predictions):
                ladder.lock(index, said, by)
            outcomes = await ladder.measure()
    return outcomes, caught.exit_code


def _show(outcomes: list[Record | LedgerError], *, as_json: bool) -> None:
    from workbench.cli.record_table import record_table
    from workbench.ledger.table import row_of

    for failure in outcomes:
        if isinstance(failure, LedgerError):
            console.fail(failure, as_json=False)
    records = [one for one in outcomes if isinstance(one, Record)]
    if as_json:
        console.out_json(records)
    else:
        console.out(record_table([row_of(record) for record in records]))


def _exit_code(outcomes: list[Record | LedgerError]) -> int:
    """The gravest of the rungs' codes."""
    from workbench.protocol.headless import exit_code_of

    codes = [exit_code_of(one) if isinstance(one, Record) else one.exit_code for one in outcomes]
    return max(codes)
