"""What is missing on this machine and how to mend it. Reads and prints; changes nothing."""

import argparse
import asyncio
import os
import platform
import shutil
import sys

from workbench.cli import console, options
from workbench.locations import ledger_path, settings_path, shown


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """One line a subject: good, or what is wrong and what to do."""
    checks = [*_places(), *_terminal(), _backend(), *_power()]
    if args.json:
        console.out_json([{"subject": name, "ok": ok, "words": words} for name, ok, words in checks])
        return 0
    for name, ok, words in checks:
        console.out(f"{'ok' if ok else '--'}  {name:12} {words}")
    if platform.system() == "Darwin":
        from workbench.power.sudoers import doctor_text

        console.out("")
        console.out(doctor_text())
    return 0


Check = tuple[str, bool, str]


def _places() -> list[Check]:
    from workbench.errors import LedgerError, UsageError
    from workbench.ledger.verify import verify
    from workbench.settings import load_settings

    ledger = ledger_path()
    try:
        problems = verify(ledger).problems if ledger.exists() else ()
        found = (
            (
                "ledger",
                not problems,
                f"{shown(ledger)}: {len(problems)} problems, see `workbench ledger verify`",
            )
            if problems
            else ("ledger", True, shown(ledger))
        )
    except LedgerError as error:
        found = ("ledger", False, error.message)
    try:
        warnings = load_settings().warnings
        mine = ("settings", not warnings, "; ".join(warnings) or shown(settings_path()))
    except UsageError as error:
        mine = ("settings", False, f"{error.message} {error.hint}")
    return [found, mine]


def _terminal() -> list[Check]:
    encoding = (getattr(sys.__stdout__, "encoding", None) or "unknown").lower()
    term, colours = os.environ.get("TERM", ""), os.environ.get("COLORTERM", "")
    size = shutil.get_terminal_size()
    return [
        ("encoding", encoding.replace("-", "") == "utf8", f"{encoding} (the screens need UTF-8)"),
        (
            "terminal",
            term not in {"", "dumb"},
            f"{term or 'none'}, {size.columns}x{size.lines}, "
            + (
                "24-bit colour"
                if colours in {"truecolor", "24bit"}
                else "COLORTERM unset: 256 colours or fewer"
            ),
        ),
    ]


def _backend() -> Check:
    from workbench.errors import WorkerError
    from workbench.protocol.prepare import worker_stamp

    try:
        stamp = asyncio.run(worker_stamp())
    except WorkerError as error:
        return ("backend", False, f"{error.message} {error.hint}")
    return ("backend", True, f"mlx {stamp.mlx} ({stamp.backend}), mlx-lm {stamp.mlx_lm}, {stamp.device}")


def _power() -> list[Check]:
    from workbench.power.choice import look

    choice = look()
    found = [(f"{source.name}", True, "power source") for source in choice.sources]
    return found + [(name, False, why) for name, why in choice.looked_for]
