"""The command line's front door: picks the command, turns errors into words, decides the exit code.

`--help` imports neither Textual nor mlx nor any room: a command's module is imported when it is called.
"""

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from workbench import __version__
from workbench.cli import console
from workbench.errors import UsageError, WorkbenchError
from workbench.escape import visible
from workbench.exits import ExitCode

_GARBAGE_AFTER = 300_000
"""Objects between two looks for garbage: headers of a hundred thousand tensors and the start of the screens
make none, and a tenth of the time went into looking."""

COMMANDS: dict[str, str] = {
    "demo": "the whole protocol on a synthetic checkpoint",
    "models": "which checkpoints this machine has",
    "bytes": "what one decode step of a checkpoint reads",
    "audit": "the byte rules tensor by tensor, and the decode graph as their witness",
    "compare": "two checkpoints side by side, by role",
    "predict": "the ceilings of a checkpoint at a bandwidth",
    "measure": "predict, run and record one checkpoint",
    "ladder": "predict and run several checkpoints in one go",
    "check": "judge a number somebody shows you",
    "ledger": "the records: list, card, report, verify, import, discard",
    "fit": "seconds per token = overhead + bytes / bandwidth, over the ledger",
    "replay": "play a recorded run through the screens",
    "bandwidth": "the memory bandwidth this machine achieves",
    "power": "what this machine can say about power",
    "stamp": "who measures here, with what",
    "doctor": "what is missing on this machine and how to mend it",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in words
    console.prepare_streams()
    try:
        return _run(words)
    except WorkbenchError as error:
        return _fail(error, as_json=as_json)
    except BrokenPipeError:
        # The reader of our stdout has left (`| head`): nothing to say, and nobody to say it to.
        console.abandon_stdout()
        return ExitCode.OK
    except OSError as error:
        return _fail_os(error, as_json=as_json)
    except KeyboardInterrupt:
        return 130


def _run(words: list[str]) -> int:
    if words[:1] in (["-V"], ["--version"]):
        console.out(f"decode-workbench {__version__}")
        return ExitCode.OK
    if words[:1] in (["-h"], ["--help"], ["help"]):
        console.out(_overview())
        return ExitCode.OK
    name, rest = (words[0], words[1:]) if words and not words[0].startswith("-") else ("screens", words)
    if name not in COMMANDS and name != "screens":
        raise UsageError(f"'{visible(name, 60)}' is no command of workbench.", _did_you_mean(name))
    gc.set_threshold(_GARBAGE_AFTER)
    module = importlib.import_module(f"workbench.cli.{name}")
    parser = _Parser(
        prog="workbench" if name == "screens" else f"workbench {name}",
        description=module.__doc__,
        formatter_class=_formatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    # Before Python 3.13 argparse stores an empty list for `--option=--`.
    if hollow := next((word for word in rest if word.startswith("--") and word.endswith("=--")), None):
        parser.error(f"argument {hollow.removesuffix('=--')}: -- is no value")
    return int(module.run(parser.parse_args(rest)))


class _Parser(argparse.ArgumentParser):
    """Says usage errors in the program's own form (words, or JSON with `--json`).

    What has no type is a person's words, which records keep: bytes that are no UTF-8 are replaced in them.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.register("type", None, console.as_text)

    def error(self, message: str) -> NoReturn:
        raise UsageError(visible(message, 400), f"`{self.prog} --help` explains it.")


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Help as wide as the terminal; without this argparse imports shutil for every command."""
    try:
        columns = os.get_terminal_size().columns
    except (OSError, ValueError):
        columns = 80
    return argparse.RawDescriptionHelpFormatter(prog, width=min(max(columns, 40), console.WIDTH) - 2)


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [
        "usage: workbench [command] [options]",
        "",
        "Predict how fast a model can decode on this machine, measure it, keep the record.",
        "Without a command: the screens.",
        "",
        "commands:",
        *(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()),
        "",
        "`workbench COMMAND --help` explains one command; `--json` gives data on stdout.",
    ]
    return "\n".join(lines)


def _did_you_mean(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    return f"Did you mean `workbench {near[0]}`?" if near else "`workbench --help` lists the commands."


def _fail_os(error: OSError, *, as_json: bool) -> int:
    """What the system refused, in words: a full disk, a folder that may not be read."""
    where = f"{visible(str(error.filename))}: " if error.filename else ""
    refused = WorkbenchError(f"{where}{error.strerror or error}", code="system")
    return _fail(refused, as_json=as_json)


def _fail(error: WorkbenchError, *, as_json: bool) -> int:
    try:
        code = console.fail(error, as_json=as_json)
        console.flush_stdout()
    except OSError:  # stdout itself cannot be written
        console.abandon_stdout()
        return console.fail(error, as_json=False) if as_json else int(error.exit_code)
    return code
