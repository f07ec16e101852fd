"""The whole protocol on a synthetic checkpoint: no download, no model of your own.

On a terminal: the screens, with a synthetic checkpoint chosen and `--predict` already in the box (not yet
locked). Elsewhere: the protocol as `measure` runs it, ending in a record and a verdict.
"""

import argparse
import sys

from workbench.cli import options, planning
from workbench.cli.measure import measure


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--checkpoint", default=None, metavar="NAME", help="another synthetic checkpoint than the first"
    )
    parser.add_argument("--headless", action="store_true", help="no screens, even on a terminal")
    options.add_models(parser)
    planning.add_run(parser)


def run(args: argparse.Namespace) -> int:
    """Show the screens on a terminal, run headless elsewhere."""
    from workbench.shelf.synthetic import PREFIX, SPECS

    name = args.checkpoint or next(name for name, spec in SPECS.items() if spec.listed)
    name = name if name.startswith(PREFIX) else PREFIX + name
    if sys.stdin.isatty() and sys.stderr.isatty() and not (args.headless or args.json):
        from workbench.cli.screens import show

        return show(args, checkpoint=name, prediction=args.predict, demo=True)
    return measure(args, name, experiment="demo")
