"""The memory bandwidth this machine achieves: several kernels, the best of them is the figure.

Every figure says its kernel, dtype and size: a kernel's limit is not the memory's. The probe is recorded, and
later predictions on this machine offer it by name.
"""

import argparse
import asyncio

from workbench.cli import console, options
from workbench.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--quick", action="store_true", help="only the kernel that reaches the limit")
    parser.add_argument("--repeats", type=int, default=8, metavar="N", help="timed batches a kernel (8)")
    parser.add_argument(
        "--megabytes", type=int, default=0, metavar="N", help="size (default: beyond every cache)"
    )
    options.add_ledger(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Probe, record, and print every kernel beside the chip's published figures."""
    from workbench.cli.planning import command
    from workbench.machine.spoiled import spoiled_by
    from workbench.prediction.chips import figures_for
    from workbench.protocol.prepare import probe
    from workbench.settings import load_settings

    if args.repeats < 1 or args.megabytes < 0:
        raise UsageError("--repeats and --megabytes count upwards from 1.")
    ledger = options.ledger_path(args.ledger)
    figure, record = asyncio.run(
        probe(
            quick=args.quick,
            repeats=args.repeats,
            size_bytes=args.megabytes * 1_000_000,
            alias=load_settings().alias,
            command=command(),
            ledger=ledger,
        )
    )
    if args.json:
        from msgspec.json import encode

        console.out(encode(record).decode())
        return 0
    rows = [
        (
            k.kernel,
            k.dtype,
            f"{k.bytes / 1e6:.0f}",
            str(k.batched),
            f"{k.best_gbps:.1f}",
            f"{k.median_gbps:.1f}",
        )
        for k in record.kernels or []
    ]
    headers = ("kernel", "dtype", "MB", "batched", "best GB/s", "median GB/s")
    console.out(console.table(headers, rows, right="<<>>>>"))
    console.out(f"{figure.name} ({figure.source})")
    for published in figures_for(record.device, record.gpu_cores, record.memory_bytes).figures:
        console.out(f"  {figure.gbps / published.gbps:.0%} of {published.name} ({published.source})")
    for sentence in spoiled_by(record):
        console.say(f"note: {sentence}")
    return 0
