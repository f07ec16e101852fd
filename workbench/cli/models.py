"""Which checkpoints this machine has: Hugging Face cache, --models directories, and the synthetic ones."""

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.cli import console, options
from workbench.escape import visible
from workbench.exits import ExitCode
from workbench.ledger.words import gb

if TYPE_CHECKING:
    from workbench.shelf.entries import Entry


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_models(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List every checkpoint that can be found, complete or not."""
    from workbench.shelf.entries import scan

    entries = list(scan(options.model_dirs(args.models)))
    if args.json:
        console.out_json([_fields(entry) for entry in entries])
    else:
        console.out_lines(_lines(entries))
    return ExitCode.OK


def _fields(entry: "Entry") -> dict[str, object]:
    return {
        "name": entry.name,
        "path": str(entry.path),
        "bytes": entry.bytes,
        "architecture": entry.architecture,
        "quantization": entry.quantization,
        "experts": entry.experts,
        "state": str(entry.state),
        "reason": entry.reason or None,
    }


def _lines(entries: "Sequence[Entry]") -> Iterator[str]:
    """A row a checkpoint; what keeps one from running stands below its row."""
    from workbench.checkpoint.checkpoint import State
    from workbench.shelf.entries import TO_BE_BUILT

    headers = ("name", "on disk", "architecture", "quantization", "experts", "state")
    rows = [
        (
            visible(entry.name, 48),
            gb(entry.bytes) if entry.bytes is not None else "-",
            visible(entry.architecture or "-", 20),
            visible(entry.quantization or "-", 20),
            str(entry.experts or "-"),
            "not built yet" if entry.reason == TO_BE_BUILT else str(entry.state),
        )
        for entry in entries
    ]
    head, *lines = console.table(headers, rows, right="<><<>").splitlines()
    yield head
    for entry, line in zip(entries, lines, strict=True):
        yield line
        if entry.state is not State.COMPLETE:
            yield from console.wrapped(visible(entry.reason, 400), "    ")
