"""Who measures here, with what: the stamp that every record carries."""

import argparse
import asyncio
from typing import TYPE_CHECKING

from workbench.cli import console, options
from workbench.exits import ExitCode

if TYPE_CHECKING:
    from workbench.machine.stamp import MachineStamp


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the stamp; without a backend its mlx fields are null and stderr says why."""
    from dataclasses import asdict

    fields = asdict(asyncio.run(_stamp()))
    if args.json:
        console.out_json({"schema_version": 1, **fields})
    else:
        console.out_lines(console.pairs([(name, _shown(value)) for name, value in fields.items()]))
    return ExitCode.OK


async def _stamp() -> "MachineStamp":
    from workbench.cli.planning import command
    from workbench.errors import WorkerError
    from workbench.machine.stamp import compose, facts
    from workbench.protocol.prepare import worker_stamp
    from workbench.settings import load_settings

    known = await facts()
    try:
        backend = await worker_stamp()
    except WorkerError as error:
        console.fail(error, as_json=False)
        backend = None
    return compose(known, backend, alias=load_settings().alias, command=command())


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)
