"""What this machine can say about power: every source that works, what it covers, and why the others do not.

Never asks for a password: powermetrics is tried with `sudo -n` only.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict

from workbench.cli import console, metering, options
from workbench.cli.unwinding import signals_unwind
from workbench.errors import UsageError
from workbench.exits import ExitCode
from workbench.power.choice import METER_HELPS
from workbench.power.report import RowReport, measure_for


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="how long to read (10)")
    metering.add_meter(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Read every source for some seconds and report each as its own row."""
    if not 0 < args.seconds <= 3600:
        raise UsageError(f"--seconds {args.seconds:g} is not between 0 and 3600.", "10 is a good start.")
    with signals_unwind():
        report = measure_for(args.seconds, metering.choice_of(args))
    if args.json:
        console.out_json({"schema_version": 1, **asdict(report)})
        return ExitCode.OK
    for row in report.rows:
        console.out_lines(_lines(row))
    if not report.rows:
        console.out("No power source on this machine.")
        console.say_wrapped(METER_HELPS, later="")
    for name, why in report.looked_for:
        console.say_wrapped(f"{name}: {why}", "  ", "    ")
    return ExitCode.OK


def _lines(row: RowReport) -> Iterator[str]:
    watts = "no reading" if row.mean_w is None else f"{row.mean_w:.2f} W"
    yield f"{row.key}: {watts} over {row.samples} samples"
    yield from console.wrapped(
        f"covers {row.scope}{' (an estimate)' if row.is_estimate else ''}", "  ", "    "
    )
    for rail, rail_w in row.rails_w.items():
        yield f"  {rail:12} {rail_w:.3f} W"
    if row.rails_missing:
        yield from console.wrapped(f"missing: {', '.join(row.rails_missing)}", "  ", "    ")
    needed = "" if row.window_needed_s is None else f"; a valid claim needs {row.window_needed_s:.0f} s"
    yield f"  over these seconds: claim {row.reading.claim}{needed}"
    trouble = [row.trouble] if row.trouble and row.trouble not in row.reading.claim_reasons else []
    for words in (*row.reading.claim_reasons, *row.notes, *trouble):
        yield from console.wrapped(words, "  ", "    ")
