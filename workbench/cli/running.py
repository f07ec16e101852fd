"""A run on the command line: drive the protocol, show the record, give the exit code."""

import argparse
import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from workbench.cli import console
from workbench.cli.narrator import Narrator
from workbench.cli.verdict_words import beside_lines, verdict_lines
from workbench.ledger.record import Record
from workbench.locations import shown
from workbench.power.choice import Choice
from workbench.protocol.headless import measured
from workbench.protocol.plan import Plan
from workbench.protocol.steps import Measurement


def drive(
    plan: Plan,
    predictions: Sequence[tuple[str, float]],
    args: argparse.Namespace,
    ledger: Path,
    power: Choice,
) -> int:
    """Run the plan through the protocol, show the record, and return the exit code."""
    outcome = asyncio.run(
        measured(
            plan,
            predictions,
            args.by,
            on_change=Narrator(),
            make=partial(Measurement, ledger=ledger, power=power),
        )
    )
    if outcome.record is not None:
        _show(outcome.record, as_json=args.json, ledger=ledger)
    return outcome.exit_code


def _show(record: Record, *, as_json: bool, ledger: Path) -> None:
    """The record on stdout: one JSON line, or the verdict in words."""
    console.say(f"record: {record.record_id} in {shown(ledger)}")
    if as_json:
        console.out_json(record)
    else:
        console.out_lines(verdict_lines(record))
        console.out_lines(beside_lines(record, ledger))
