"""Which power sources a command uses: those found here, with the user's own meter where one is named."""

import argparse

from workbench.cli.options import Parser
from workbench.errors import UsageError
from workbench.power.choice import Choice, look
from workbench.power.external import External


def add_meter(parser: Parser) -> None:
    """`--watts`, `--watts-command` and `--meter`."""
    parser.add_argument("--watts", type=float, metavar="W", help="a meter's reading that you type")
    parser.add_argument(
        "--watts-command", metavar="COMMAND", type=str, help="a command that prints watts when called"
    )
    parser.add_argument("--meter", metavar="WORDS", help="which meter, and what stands behind it")


def choice_of(args: argparse.Namespace) -> Choice:
    """The sources found on this machine and the meter that the command line names."""
    if args.watts is None and args.watts_command is None:
        if args.meter is not None:
            raise UsageError("--meter names a meter without its watts.", "Add --watts or --watts-command.")
        return look()
    return look(meter=External(method=args.meter or "", watts=args.watts, command=args.watts_command))
