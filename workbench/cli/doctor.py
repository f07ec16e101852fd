"""What is missing on this machine and how to mend it. Reads and prints; changes nothing."""

import argparse
import asyncio
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from workbench.cli import console, options
from workbench.exits import ExitCode
from workbench.locations import ledger_path, settings_path, shown


class Check(NamedTuple):
    """One subject: whether it is well, and in words what is there or what to do."""

    subject: str
    ok: bool
    words: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """One line a subject: good, or what is wrong and what to do."""
    checks = [_ledger(), _settings(), _encoding(), _terminal(), _backend(), *_power()]
    if args.json:
        console.out_json({"schema_version": 1, "checks": [check._asdict() for check in checks]})
        return ExitCode.OK
    for check in checks:
        mark = "ok" if check.ok else "--"
        console.out_lines(console.wrapped(check.words, f"{mark}  {check.subject:12} ", " " * 17))
    if platform.system() == "Darwin":
        from workbench.power.sudoers import doctor_text

        console.out("")
        console.out(doctor_text())
    return ExitCode.OK


def _ledger() -> Check:
    from workbench.errors import LedgerError
    from workbench.ledger.verify import verify

    path = ledger_path()
    if not path.exists():
        return _folder_for(path)
    try:
        result = verify(path)
    except LedgerError as error:
        return Check("ledger", False, error.words)
    if result.is_sound:
        return Check("ledger", True, f"{shown(path)}, {result.records:,} record{'s' * (result.records != 1)}")
    wrong = f"{shown(path)}: {len(result.problems)} problems, see `workbench ledger verify`"
    return Check("ledger", False, wrong)


def _folder_for(path: Path) -> Check:
    """Whether a ledger that is not begun yet could be."""
    nearest = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if not nearest.is_dir():
        return Check("ledger", False, f"{shown(path)} cannot be begun: {shown(nearest)} is no folder.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Check("ledger", False, f"{shown(path)} cannot be begun: {shown(nearest)} is not writable.")
    return Check("ledger", True, f"{shown(path)}, not begun yet")


def _settings() -> Check:
    from workbench.errors import UsageError
    from workbench.settings import load_settings

    try:
        warnings = load_settings().warnings
    except UsageError as error:
        return Check("settings", False, error.words)
    there = "" if settings_path().exists() else ", none: the defaults hold"
    return Check("settings", not warnings, " ".join(warnings) or f"{shown(settings_path())}{there}")


def _encoding() -> Check:
    encoding = (getattr(sys.__stdout__, "encoding", None) or "unknown").lower()
    is_utf8 = encoding.replace("-", "") == "utf8"
    help_words = "" if is_utf8 else ": the screens need UTF-8 (LC_ALL=C.UTF-8 or PYTHONUTF8=1)"
    return Check("encoding", is_utf8, f"{encoding}{help_words}")


def _terminal() -> Check:
    term, colours = os.environ.get("TERM", ""), os.environ.get("COLORTERM", "")
    size = shutil.get_terminal_size()
    depth = (
        "24-bit colour" if colours in {"truecolor", "24bit"} else "256 colours or fewer: COLORTERM is unset"
    )
    words = f"{term or 'TERM is unset'}, {size.columns}x{size.lines}, {depth}"
    return Check("terminal", term not in {"", "dumb"}, words)


def _backend() -> Check:
    from workbench.errors import WorkerError
    from workbench.protocol.prepare import worker_stamp

    try:
        stamp = asyncio.run(worker_stamp())
    except WorkerError as error:
        return Check("backend", False, error.words)
    words = f"mlx {stamp.mlx} ({stamp.backend}), mlx-lm {stamp.mlx_lm}, {stamp.device}"
    return Check("backend", True, words)


def _power() -> list[Check]:
    from workbench.power.choice import METER_HELPS, look

    choice = look()
    found = [Check("power", True, f"{source.name} can be read") for source in choice.sources]
    missing = [Check("power", False, f"no {name}: {why}") for name, why in choice.looked_for]
    return [*found, *missing, *([] if found else [Check("power", False, METER_HELPS)])]
