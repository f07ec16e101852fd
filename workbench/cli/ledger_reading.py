"""The ledger's reading actions: list, card, report, verify, compare, tables, path."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import console
from workbench.errors import UsageError
from workbench.escape import visible
from workbench.exits import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.ledger.card import Line
    from workbench.ledger.record import Record
    from workbench.ledger.row import Row
    from workbench.ledger.table import Table


def show_list(args: argparse.Namespace, ledger: Path) -> int:
    """The table of records, filtered by words."""
    from workbench.cli.record_table import record_table
    from workbench.ledger.export import as_csv, as_markdown
    from workbench.ledger.query import parse_query, select
    from workbench.ledger.table import load

    query = parse_query(" ".join(args.words))
    table = load(ledger)
    rows, damaged = select(table, query), list(table.damaged)
    if args.json:
        console.out_json_array(_records_of(ledger, rows, damaged))
    elif args.format == "csv":
        console.out(as_csv(_records_of(ledger, rows, damaged, token_times=False)).rstrip("\n"))
    elif args.format == "markdown":
        console.out(as_markdown(rows, table.discarded))
    else:
        console.out(record_table(rows, table.discarded) if rows else "No records.")
    for number, why in damaged:
        console.say_wrapped(f"line {number} is damaged and was skipped: {why}")
    return ExitCode.OK


def show_card(args: argparse.Namespace, ledger: Path) -> int:
    """One record as the source documents' card."""
    from workbench.ledger.card import card
    from workbench.ledger.table import load

    table = load(ledger)
    record = _wanted(ledger, table, args.words[0] if args.words else "latest")
    return _show_lines(args, record, card(record, table.discarded.get(record.record_id)))


def show_report(args: argparse.Namespace, ledger: Path) -> int:
    """One record as the bandwidth ledger's report, with its row below it."""
    from workbench.ledger.report import report, row
    from workbench.ledger.table import load

    record = _wanted(ledger, load(ledger), args.words[0] if args.words else "latest")
    return _show_lines(args, record, [*report(record), *row(record)])


def show_verification(args: argparse.Namespace, ledger: Path) -> int:
    """Everything that is wrong with the ledger; exit code 1 where anything is."""
    from dataclasses import asdict

    from workbench.ledger.verify import verify

    result = verify(ledger)
    if args.json:
        problems = [asdict(problem) for problem in result.problems]
        console.out_json({"schema_version": 1, "records": result.records, "problems": problems})
    else:
        for problem in result.problems:
            console.out(f"line {problem.line}: {problem.message} ({problem.code})")
        console.out(f"{result.records} records, {len(result.problems)} problems")
    return ExitCode.OK if result.is_sound else ExitCode.FLAGGED


def show_comparison(args: argparse.Namespace, ledger: Path) -> int:
    """Two records, field by field: what differs."""
    from workbench.ledger.difference import compare, shown
    from workbench.ledger.table import load

    if len(args.words) != 2:
        raise UsageError("`ledger compare` needs two record ids.", "`workbench ledger` lists them.")
    table = load(ledger)
    left, right = (_wanted(ledger, table, word) for word in args.words)
    differences = compare(left, right)
    if args.json:
        fields = {one.field: [one.left, one.right] for one in differences}
        console.out_json(
            {"schema_version": 1, "records": [left.record_id, right.record_id], "differs": fields}
        )
        return ExitCode.OK
    rows = [
        (one.field, *(_cell(shown(value)) for value in (one.left, one.right)), _ratio(one.ratio))
        for one in differences
    ]
    console.out(
        console.table(("field", left.record_id[:8], right.record_id[:8], "ratio"), rows, right="<<<>")
    )
    return ExitCode.OK


def show_tables(args: argparse.Namespace, ledger: Path) -> int:
    """The source documents' tables, made again from the records that the words leave."""
    from workbench.analysis.tables import source_tables
    from workbench.cli.options import figure
    from workbench.ledger.query import parse_query, select
    from workbench.ledger.table import load

    bandwidth = figure(args)
    table = load(ledger)
    rows = select(table, parse_query(" ".join(args.words)))
    records = list(_records_of(ledger, rows, [], token_times=False))
    tables = source_tables(records, table.discarded.keys(), None if bandwidth is None else bandwidth.gbps)
    if args.json:
        console.out_json({"schema_version": 1, "markdown": tables})
    else:
        console.out(tables)
    return ExitCode.OK


def show_path(args: argparse.Namespace, ledger: Path) -> int:
    """Where the ledger lies."""
    if args.json:
        console.out_json({"schema_version": 1, "path": str(ledger)})
    else:
        console.out(str(ledger))
    return ExitCode.OK


def _wanted(ledger: Path, table: "Table", wanted: str) -> "Record":
    """The one record of this id, or the latest: the others of a long ledger are not decoded for it."""
    from workbench.ledger.corrections import find
    from workbench.ledger.table import record_of

    return record_of(ledger, find(table.rows, wanted))


def _records_of(
    ledger: Path, rows: "Sequence[Row]", damaged: list[tuple[int, str]], *, token_times: bool = True
) -> "Iterator[Record]":
    """The records of many rows, one after the other; `damaged` becomes every line that holds none."""
    from workbench.ledger.store import records

    wanted = {row.record_id for row in rows}
    damaged.clear()
    for record in records(ledger, damaged, token_times=token_times):
        if record.record_id in wanted:
            yield record


def _show_lines(args: argparse.Namespace, record: "Record", lines: "list[Line]") -> int:
    from workbench.ledger.report import as_markdown

    if args.json:
        console.out_json(record)
    elif args.format == "markdown":
        console.out(as_markdown(lines, visible(record.model or record.record_id)))
    else:
        console.out_lines(console.pairs(lines))
    return ExitCode.OK


def _cell(text: str) -> str:
    return visible(text, 36) if text else ""


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
