"""The records: list, card, report, verify, compare, tables, path; add, import, merge, discard.

Without an action: the table of records. Words filter it: `workbench ledger list machine:office verdict:low`.
`add` takes a number that somebody else measured. Nothing is ever rewritten: a correction is a new record that
discards an older one.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from workbench.cli import ledger_reading, ledger_writing, options

ACTIONS: dict[str, Callable[[argparse.Namespace, Path], int]] = {
    "list": ledger_reading.show_list,
    "card": ledger_reading.show_card,
    "report": ledger_reading.show_report,
    "verify": ledger_reading.show_verification,
    "compare": ledger_reading.show_comparison,
    "tables": ledger_reading.show_tables,
    "path": ledger_reading.show_path,
    "add": ledger_writing.add,
    "import": ledger_writing.import_files,
    "merge": ledger_writing.merge_ledgers,
    "discard": ledger_writing.discard_record,
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("action", nargs="?", default="list", choices=tuple(ACTIONS), help="list, if none")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORDS",
        type=str,
        help="a filter, a record's id (its beginning will do, or `latest`), or files",
    )
    parser.add_argument("--format", choices=("text", "csv", "json", "markdown"), default="text")
    options.add_json(parser)
    options.add_ledger(parser)
    parser.add_argument("--reason", metavar="WORDS", help="discard: why")
    parser.add_argument("--by", metavar="NAME", help="add, import: who measured")
    ledger_writing.configure_add(parser.add_argument_group("add, a number that somebody else measured"))


def run(args: argparse.Namespace) -> int:
    """Do one action on the ledger."""
    args.json = args.json or args.format == "json"
    return ACTIONS[args.action](args, options.ledger_path(args.ledger))
