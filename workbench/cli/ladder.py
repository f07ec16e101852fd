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

from workbench.cli import console, metering, options, planning
from workbench.errors import LedgerError, PredictionMissingError, UsageError
from workbench.exits import ExitCode
from workbench.ledger.record import Record

if TYPE_CHECKING:
    from workbench.protocol.plan import Plan


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("checkpoints", nargs="+", help="as `measure` takes them")
    options.add_models(parser)
    planning.add_run(parser, several=True)


def run(args: argparse.Namespace) -> int:
    """Lock every prediction, then climb; a rung that fails does not stop the others."""
    from workbench.protocol.headless import exit_code_of

    said = args.predict or []
    if len(said) != len(args.checkpoints):
        raise PredictionMissingError(
            f"{len(args.checkpoints)} checkpoints, {len(said)} predictions: each needs one before any loads.",
            "Give --predict TPS once for every checkpoint, in their order.",
        )
    if args.energy:
        raise UsageError(
            "A ladder has no energy pass.", "`workbench measure --energy` measures one checkpoint's."
        )
    predictions = [planning.predictions_of(text) for text in said]
    ledger = options.ledger_path(args.ledger)
    planning.welcome(ledger)
    power = metering.choice_of(args)
    plans = [planning.planned(args, name, power, experiment="ladder") for name in args.checkpoints]
    figures = asyncio.run(planning.bandwidths(options.figure(args), ledger=ledger))
    plans = [replace(plan, bandwidths=figures) for plan in plans]
    outcomes, code = asyncio.run(_climb(plans, predictions, args.by, ledger))
    _show(outcomes, as_json=args.json)
    if code is not None:
        return code
    codes = [exit_code_of(one) if isinstance(one, Record) else ExitCode.USAGE for one in outcomes]
    return max(codes, default=ExitCode.OK)


async def _climb(
    plans: "list[Plan]", predictions: list[Sequence[tuple[str, float]]], by: str | None, ledger: Path
) -> tuple[list[Record | LedgerError], int | None]:
    from workbench.cli.narrator import Narrator
    from workbench.protocol.ladder import Ladder
    from workbench.protocol.signals import ending_signals
    from workbench.protocol.steps import Measurement

    narrators = [Narrator(plan, said) for plan, said in zip(plans, predictions, strict=True)]
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
    from workbench.ledger.table import HEADERS, RIGHT_ALIGNED, cells, row_of

    records = [one for one in outcomes if isinstance(one, Record)]
    for failure in outcomes:
        if isinstance(failure, LedgerError):
            console.say(f"workbench: {failure.message}")
    if as_json:
        from msgspec.json import encode

        console.out(encode(records).decode())
        return
    right = "".join(">" if header in RIGHT_ALIGNED else "<" for header in HEADERS)
    console.out(console.table(HEADERS, [cells(row_of(record)) for record in records], right=right))
