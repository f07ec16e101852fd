"""From the words of a command line to a plan: checkpoint, count, witness, settings, bandwidth figures."""

import argparse
import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from workbench.cli import console, opening, options
from workbench.cli.unwinding import run_unwinding
from workbench.ledger.words import gb
from workbench.prediction.ceiling import BandwidthFigure
from workbench.protocol.plan import Plan, RunSettings, require_runnable
from workbench.settings import load_settings


def welcome(ledger: Path) -> None:
    """What every run begins with: close what the last one left open, and name what is odd in the settings."""
    from workbench.protocol.recover import recover

    recovery = recover(ledger)
    for record in recovery.records:
        console.say_wrapped(f"note: an interrupted run of {record.model} was recorded as {record.record_id}")
    for problem in (*recovery.problems, *load_settings().warnings):
        console.say_wrapped(problem, "note: ")


def planned(args: argparse.Namespace, name: str, settings: RunSettings, *, experiment: str) -> Plan:
    """The plan of one checkpoint, without its bandwidth figures; CheckpointError where it cannot run."""
    from workbench.accounting.engine import count
    from workbench.shelf.supported import open_for_mlx_lm

    corrections = options.overrides(args.overrides)
    checkpoint = open_for_mlx_lm(opening.find(name, args.models))
    plan = Plan(
        checkpoint=checkpoint,
        count=count(checkpoint, corrections),
        rule=args.rule,
        settings=settings,
        experiment=experiment,
        command=command(),
        alias=load_settings().alias,
    )
    require_runnable(plan)
    opening.warn(checkpoint, plan.count)
    return plan if args.no_witness else _witnessed(plan)


def _witnessed(plan: Plan) -> Plan:
    from workbench.protocol.witnessing import as_recorded, seals

    [seal] = run_unwinding(seals(plan.checkpoint, plan.count))
    witnessed = replace(plan, graph_bytes=seal.bytes_in_force, witness=as_recorded(seal))
    graph = f"the decode graph {seal.status}" if seal.reason is None else f"{seal.status}: {seal.reason}"
    if witnessed.in_force == "graph" and plan.rule == "count":
        graph += f", and the ceiling uses it: {gb(witnessed.weight_bytes)}"
    counted = f"count: {plan.checkpoint.name}, {gb(plan.count.weight_bytes)} a token; {graph}"
    console.say_wrapped(counted)
    for one in seal.disagreements:
        console.say_wrapped(one.words, "  ", "    ")
    return witnessed


def bandwidths(stated: BandwidthFigure | None, ledger: Path) -> tuple[BandwidthFigure, ...]:
    """The stated figure with the settings' own; else what is known of this machine; else a probe now."""
    mine = load_settings()
    if stated is not None:
        return (stated, *(figure for figure in mine.bandwidth if figure != stated))
    return asyncio.run(_known(ledger))


async def _known(ledger: Path) -> tuple[BandwidthFigure, ...]:
    from workbench.protocol import prepare
    from workbench.protocol.bandwidths import known_figures

    mine = load_settings()
    stamp = await prepare.machine_stamp(mine.alias)
    known = known_figures(stamp, mine.bandwidth, ledger)
    if known.figures:
        return known.figures
    console.say(f"bandwidth: {known.question or 'no figure is known here.'} Probing it now ...")
    figure, _ = await prepare.probe(alias=mine.alias, command=command(), ledger=ledger)
    return (figure,)


def command() -> tuple[str, ...]:
    """The command line as the stamp records it."""
    return ("workbench", *map(console.as_text, sys.argv[1:]))
