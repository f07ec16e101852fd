"""Which checkpoints this machine has: Hugging Face cache, --models directories, and the synthetic ones."""

import argparse

from workbench.cli import console, options
from workbench.escape import visible
from workbench.ledger.words import gb


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_models(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List every checkpoint that can be found, complete or not."""
    from workbench.shelf.entries import scan

    entries = list(scan(options.model_dirs(args.models)))
    if args.json:
        console.out_json(
            [
                {
                    "name": entry.name,
                    "path": str(entry.path),
                    "bytes": entry.bytes,
                    "architecture": entry.architecture,
                    "quantization": entry.quantization,
                    "experts": entry.experts,
                    "state": str(entry.state),
                    "reason": entry.reason,
                }
                for entry in entries
            ]
        )
        return 0
    rows = [
        (
            visible(entry.name, 60),
            gb(entry.bytes) if entry.bytes is not None else "-",
            visible(entry.architecture or "-", 24),
            entry.quantization or "-",
            str(entry.experts or "-"),
            f"{entry.state}{': ' + visible(entry.reason) if entry.reason else ''}",
        )
        for entry in entries
    ]
    console.out(
        console.table(
            ("name", "on disk", "architecture", "quantization", "experts", "state"), rows, right="<>"
        )
    )
    return 0
