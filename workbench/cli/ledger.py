"""The records: list, card, report, verify, import, merge, compare, discard.

Without an action: the table of records. Words filter it: `workbench ledger list machine:office verdict:low`.
Nothing is ever rewritten: a correction is a new record that discards an older one.
"""

import argparse
from pathlib import Path

from workbench.cli import console, options
from workbench.errors import UsageError
from workbench.escape import visible
from workbench.exits import ExitCode

ACTIONS = ("list", "card", "report", "verify", "import", "merge", "compare", "discard", "tables", "path")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("action", nargs="?", default="list", choices=ACTIONS)
    parser.add_argument("words", nargs="*", help="a filter, record ids (their beginnings will do), or files")
    parser.add_argument("--reason", metavar="WORDS", help="why a record is discarded")
    parser.add_argument("--by", metavar="NAME", help="who measured imported rows")
    parser.add_argument("--format", choices=("text", "csv", "json", "markdown"), default="text")
    options.add_ledger(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Do one action on the ledger."""
    if args.json:
        args.format = "json"
    ledger = options.ledger_path(args.ledger)
    return _ACTIONS[args.action](args, ledger)


def _list(args: argparse.Namespace, ledger: Path) -> int:
    from workbench.ledger.export import as_csv, as_json, as_markdown
    from workbench.ledger.query import parse_query, select
    from workbench.ledger.table import HEADERS, RIGHT_ALIGNED, cells, load, record_of

    table = load(ledger)
    rows = select(table, parse_query(" ".join(args.words)))
    match args.format:
        case "json":
            console.out(as_json(record_of(ledger, row) for row in rows))
        case "csv":
            console.out(as_csv(record_of(ledger, row) for row in rows).rstrip("\n"))
        case "markdown":
            console.out(as_markdown(rows, table.discarded))
        case _:
            right = "".join(">" if header in RIGHT_ALIGNED else "<" for header in HEADERS)
            shown = [tuple(visible(c, 40) if c else "" for c in cells(row, table.discarded)) for row in rows]
            console.out(console.table(HEADERS, shown, right=right) if rows else "No records.")
    for number, why in table.damaged:
        console.say(f"line {number} is damaged and was skipped: {why}")
    return ExitCode.OK


def _card(args: argparse.Namespace, ledger: Path) -> int:
    from msgspec.json import encode

    from workbench.ledger.card import card
    from workbench.ledger.corrections import discarded, find
    from workbench.ledger.report import as_markdown, as_text, report
    from workbench.ledger.store import read

    records = read(ledger).records
    record = find(records, args.words[0] if args.words else "latest")
    lines = (
        card(record, discarded(records).get(record.record_id)) if args.action == "card" else report(record)
    )
    match args.format:
        case "json":
            console.out(encode(record).decode())
        case "markdown":
            console.out(as_markdown(lines, visible(record.model or record.record_id)))
        case _:
            console.out(as_text(lines))
    return ExitCode.OK


def _verify(args: argparse.Namespace, ledger: Path) -> int:
    from workbench.ledger.verify import verify

    result = verify(ledger)
    if args.format == "json":
        from dataclasses import asdict

        console.out_json(
            {"schema_version": 1, "records": result.records, "problems": [asdict(p) for p in result.problems]}
        )
    else:
        for problem in result.problems:
            console.out(f"line {problem.line}: {problem.message} ({problem.code})")
        console.out(f"{result.records} records, {len(result.problems)} problems")
    return ExitCode.FLAGGED if result.problems else ExitCode.OK


def _import(args: argparse.Namespace, ledger: Path) -> int:
    from workbench.ledger.imports import import_file
    from workbench.ledger.store import append

    if not args.words:
        raise UsageError("`ledger import` needs a file.", "llama-bench -o json or jsonl, or a JSONL ledger.")
    for name in args.words:
        imported = import_file(Path(name), args.by)
        for record in imported.records:
            append(ledger, record)
        for number, why in imported.refused:
            console.say(f"{visible(name)} line {number} was left out: {why}")
        console.say(f"{len(imported.records)} records from {visible(name)}, marked as not measured here")
    return ExitCode.OK


def _merge(args: argparse.Namespace, ledger: Path) -> int:
    from workbench.ledger.merge import merge

    if not args.words:
        raise UsageError("`ledger merge` needs another ledger's file.")
    for name in args.words:
        merged = merge(ledger, Path(name))
        console.say(f"{merged.added} records added from {visible(name)}, {merged.known} were here already")
        for number, why in merged.damaged:
            console.say(f"line {number} was not taken over: {why}")
    return ExitCode.OK


def _compare(args: argparse.Namespace, ledger: Path) -> int:
    from workbench.ledger.corrections import find
    from workbench.ledger.difference import compare, shown
    from workbench.ledger.store import read

    if len(args.words) != 2:
        raise UsageError("`ledger compare` needs two record ids.", "`workbench ledger list` shows them.")
    records = read(ledger).records
    left, right = (find(records, word) for word in args.words)
    differences = compare(left, right)
    if args.format == "json":
        console.out_json({d.field: [d.left, d.right] for d in differences})
        return ExitCode.OK
    rows = [
        (
            d.field,
            visible(shown(d.left), 40),
            visible(shown(d.right), 40),
            "" if d.ratio is None else f"{d.ratio:.3f}",
        )
        for d in differences
    ]
    console.out(
        console.table(("field", left.record_id[:8], right.record_id[:8], "ratio"), rows, right="<<<>")
    )
    return ExitCode.OK


def _discard(args: argparse.Namespace, ledger: Path) -> int:
    from workbench.ledger.discard import discard

    if len(args.words) != 1:
        raise UsageError("`ledger discard` needs one record id and --reason.")
    record = discard(ledger, args.words[0], args.reason or "")
    console.say(
        f"record {record.discards} is discarded by {record.record_id}: {visible(record.reason or '')}"
    )
    return ExitCode.OK


def _tables(args: argparse.Namespace, ledger: Path) -> int:  # noqa: ARG001
    from workbench.analysis.tables import source_tables
    from workbench.ledger.store import read

    console.out(source_tables(read(ledger).records))
    return ExitCode.OK


def _path(args: argparse.Namespace, ledger: Path) -> int:  # noqa: ARG001
    console.out(str(ledger))
    return ExitCode.OK


_ACTIONS = {
    "list": _list,
    "card": _card,
    "report": _card,
    "verify": _verify,
    "import": _import,
    "merge": _merge,
    "compare": _compare,
    "discard": _discard,
    "tables": _tables,
    "path": _path,
}
