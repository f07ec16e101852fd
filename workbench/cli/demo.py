"""The whole protocol on a synthetic checkpoint: no download, no model of your own.

On a terminal: the screens, with a synthetic checkpoint chosen and `--predict` already in the box (not yet
locked). Elsewhere: the protocol as `measure` runs it, ending in a record and a verdict.
"""

import argparse
import sys

from workbench.cli import console, options, run_options
from workbench.cli.measure import measure
from workbench.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--checkpoint", metavar="NAME", help="another synthetic checkpoint than the first")
    parser.add_argument("--headless", action="store_true", help="no screens, even on a terminal")
    options.add_models(parser)
    run_options.add_run(parser)


def run(args: argparse.Namespace) -> int:
    """Show the screens on a terminal, run headless elsewhere."""
    from workbench.shelf.synthetic import NAMES, PREFIX

    name = PREFIX + (args.checkpoint or NAMES[0]).removeprefix(PREFIX)
    headless = args.headless or args.json
    if not headless and console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr):
        from workbench.cli.screens import show

        _require_headless_for_its_options(args)
        settings = run_options.user_settings(args)
        return show(args, checkpoint=name, prediction=args.predict, settings=settings, demo=True)
    return measure(args, name, experiment="demo")


def _require_headless_for_its_options(args: argparse.Namespace) -> None:
    """Raise UsageError for what the screens ask in their own way: there the option would do nothing."""
    given = {
        "--by": args.by is not None,
        "--seed": args.seed != 0,
        "--no-witness": args.no_witness,
        "--energy": args.energy,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(
                f"{option} is for a run without the screens.", "Add --headless, or leave the option out."
            )
