"""The memory bandwidth this machine achieves: several kernels, the best of them is the figure.

Every figure says its kernel, dtype and size: a kernel's limit is not the memory's. The probe is recorded, and
later predictions on this machine offer it by name.
"""

import argparse
import asyncio
from typing import TYPE_CHECKING

from workbench.cli import console, options
from workbench.errors import UsageError
from workbench.exits import ExitCode
from workbench.ledger.words import gbps_figure, megabytes

if TYPE_CHECKING:
    from workbench.ledger.parts import KernelFigure


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--quick", action="store_true", help="only the kernel that reaches the limit")
    parser.add_argument("--repeats", type=int, default=8, metavar="N", help="timed batches a kernel (8)")
    parser.add_argument("--megabytes", type=int, metavar="N", help="size (default: beyond every cache)")
    options.add_ledger(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Probe, record, and print every kernel beside the chip's published figures."""
    from workbench.cli.planning import command
    from workbench.machine.spoiled import spoiled_by
    from workbench.protocol.bandwidths import published_figures
    from workbench.protocol.prepare import probe
    from workbench.settings import load_settings

    if args.repeats < 1 or (args.megabytes is not None and args.megabytes < 1):
        raise UsageError("--repeats and --megabytes count upwards from 1.")
    figure, record = asyncio.run(
        probe(
            quick=args.quick,
            repeats=args.repeats,
            size_bytes=(args.megabytes or 0) * 1_000_000,
            alias=load_settings().alias,
            command=command(),
            ledger=options.ledger_path(args.ledger),
        )
    )
    for sentence in spoiled_by(record):
        console.say_wrapped(sentence, "note: ")
    if args.json:
        console.out_json(record)
        return ExitCode.OK
    headers = ("kernel", "dtype", "MB", "batched", "best GB/s", "median GB/s")
    console.out(console.table(headers, [_cells(kernel) for kernel in record.kernels or []], right="<<>>>>"))
    console.out_lines(console.wrapped(f"{figure.name}: {figure.source}", later="  "))
    for published in published_figures(record.device, record.gpu_cores, record.memory_bytes).figures:
        share = f"{figure.gbps / published.gbps:.0%} of {published.name}: {published.source}"
        console.out_lines(console.wrapped(share, "  ", "    "))
    return ExitCode.OK


def _cells(kernel: "KernelFigure") -> tuple[str, ...]:
    best, median = map(gbps_figure, (kernel.best_gbps, kernel.median_gbps))
    return kernel.kernel, kernel.dtype, megabytes(kernel.bytes), str(kernel.batched), best, median
