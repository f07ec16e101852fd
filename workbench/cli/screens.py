"""The screens: pick a checkpoint, see what a token reads, say a number, run, keep the record."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from workbench.cli import console, options
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `workbench` without a command."""
    options.add_models(parser)
    options.add_ledger(parser)
    options.add_bandwidth(parser)
    options.add_rule(parser)
    options.add_overrides(parser)
    options.add_json(parser)
    options.add_hz(parser)
    parser.add_argument("--theme", choices=("dark", "light", "high-contrast"), help="colours (dark)")
    parser.add_argument("--blind", action="store_true", help="paint nothing while a run measures")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def run(args: argparse.Namespace) -> int:
    """Open the screens, or say why they cannot open here."""
    if args.json:
        raise UsageError("--json goes with a command.", "`workbench --help` lists them.")
    if not (console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr)):
        raise UsageError(
            "The screens need a terminal, and this is none.",
            "`workbench measure CHECKPOINT --predict TPS` runs the protocol without one.",
        )
    return show(args)


def require_capable_terminal() -> None:
    """Raise UsageError where the terminal could not show screens."""
    if os.environ.get("TERM", "") in {"", "dumb"}:
        raise UsageError(
            f"The terminal calls itself {os.environ.get('TERM') or 'nothing'}: it cannot show screens.",
            "Set TERM (xterm-256color, tmux-256color), or use the commands.",
        )
    encoding = (getattr(sys.__stderr__, "encoding", None) or "").lower().replace("-", "")
    if encoding != "utf8":
        raise UsageError(
            f"The terminal's encoding is {encoding or 'unknown'}: the screens need UTF-8.",
            "Set LC_ALL=C.UTF-8 or PYTHONUTF8=1, or use the commands.",
        )


def show(
    args: argparse.Namespace,
    *,
    checkpoint: str | None = None,
    prediction: str | None = None,
    settings: "Settings | None" = None,
    demo: bool = False,
) -> int:
    """Open the screens on this terminal, with the user's settings or these; returns the exit code."""
    require_capable_terminal()
    from workbench.cli.planning import command
    from workbench.settings import load_settings
    from workbench.tui.app import run as run_screens
    from workbench.tui.options import Options

    stated = options.figure(args)
    return run_screens(
        Options(
            models=tuple(args.models),
            ledger=args.ledger,
            checkpoint=checkpoint,
            prediction=prediction,
            bandwidths=() if stated is None else (stated,),
            rule=args.rule,
            overrides=options.overrides(args.overrides),
            demo=demo,
            blind=getattr(args, "blind", False),
            hz=getattr(args, "hz", None),
            theme=getattr(args, "theme", None),
            mouse=not getattr(args, "no_mouse", False),
            command=command(),
            settings=settings or load_settings(),
        )
    )
