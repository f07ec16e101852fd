"""The ledger's writing actions: add, import, merge, discard. Each appends; none rewrites a line."""

import argparse
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import console, options
from workbench.errors import UsageError
from workbench.escape import visible
from workbench.exits import ExitCode

if TYPE_CHECKING:
    from workbench.ledger.record import Record
    from workbench.prediction.ceiling import BandwidthFigure


def configure_add(group: options.Parser) -> None:
    """The options that describe a typed row."""
    group.add_argument("--model", metavar="NAME", help="what ran, with its format")
    group.add_argument("--device", metavar="NAME", help="on which machine")
    group.add_argument("--runtime", metavar="NAME", help="in which runtime: llama.cpp, mlx-lm, ...")
    group.add_argument("--commit", metavar="ID", help="the runtime's commit or version")
    group.add_argument("--run-command", metavar="WORDS", help="the command that was run")
    group.add_argument("--date", metavar="DATE", help="when, as an ISO date")
    group.add_argument("--measured", metavar="TPS", help="decode rate in tok/s")
    group.add_argument("--weight-bytes", type=float, metavar="N", help="bytes that a token reads: 1.16e9")
    group.add_argument("--bits", type=float, metavar="N", help="bits per weight")
    options.add_rule(group, default="whole-file")
    options.add_bandwidth(group)


def add(args: argparse.Namespace, ledger: Path) -> int:
    """Append one typed row, marked as not measured here, and judge it."""
    from workbench.analysis.verdict import judged
    from workbench.cli.verdict_words import verdict_lines
    from workbench.ledger.external import external_row
    from workbench.ledger.store import append
    from workbench.prediction.parse import parse_rate
    from workbench.protocol.headless import exit_code_of

    record = judged(
        external_row(
            model=args.model or "",
            device=args.device or "",
            runtime=args.runtime or "",
            measured_by=args.by or "",
            figure=options.figure(args),
            weight_bytes=None if args.weight_bytes is None else _whole(args.weight_bytes),
            tps=None if args.measured is None else parse_rate(args.measured),
            rule=args.rule,
            runtime_commit=args.commit,
            command=args.run_command,
            date=args.date,
            bits=args.bits,
        )
    )
    record = append(ledger, record)
    console.say(f"record: {record.record_id}, marked as not measured here")
    if args.json:
        console.out_json(record)
    else:
        console.out_lines(verdict_lines(record))
    return exit_code_of(record)


def _whole(weight_bytes: float) -> int:
    if not isfinite(weight_bytes):
        raise UsageError(f"{weight_bytes} bytes per token is no size.", "Give the bytes of the weights.")
    return round(weight_bytes)


def import_files(args: argparse.Namespace, ledger: Path) -> int:
    """Append the rows of llama-bench's or the source documents' files that are not in the ledger yet, judged.

    `--bandwidth` is the figure of rows that name none, as llama-bench's do.
    """
    from workbench.analysis.verdict import Word
    from workbench.ledger.imports import import_file
    from workbench.ledger.merge import add_new

    hint = "llama-bench's JSON or JSONL, or the source documents' JSONL."
    bandwidth = options.figure(args)
    files, wrong = [], 0
    for path in _files(args, "import", hint):
        imported = import_file(path, args.by)
        records = [_judged(record, bandwidth) for record in imported.records]
        added, known = add_new(ledger, records)
        _say_taken(path, added, known, imported.refused)
        files.append(_taken(path, added, known, imported.refused))
        wrong += sum(record.verdict == Word.COUNTING_ERROR for record in records)
    if wrong:
        console.say(f"{wrong} of them are above 100 % of a ceiling: `workbench ledger list verdict:counting`")
    return _end(args, files) or (ExitCode.FLAGGED if wrong else ExitCode.OK)


def _judged(record: "Record", bandwidth: "BandwidthFigure | None") -> "Record":
    """An imported row with its verdict; as it was where there is nothing to judge it by."""
    from msgspec.structs import replace

    from workbench.analysis.verdict import Word, judged

    if record.bandwidth_gbps is None and bandwidth is not None:
        record = replace(
            record,
            bandwidth_gbps=bandwidth.gbps,
            bandwidth_kind=str(bandwidth.kind),
            bandwidth_source=bandwidth.source,
        )
    found = judged(record)
    return record if found.verdict == Word.NONE else found


def merge_ledgers(args: argparse.Namespace, ledger: Path) -> int:
    """Append the records of other machines' ledgers that this one does not hold, as they are."""
    from workbench.ledger.merge import merge

    files = []
    for path in _files(args, "merge", "Another machine's ledger.jsonl."):
        merged = merge(ledger, path)
        _say_taken(path, merged.added, merged.known, merged.damaged)
        for record_id in merged.conflicting:
            console.say(f"  record {visible(record_id, 60)} differs in both: this ledger's stays")
        taken = _taken(path, merged.added, merged.known, merged.damaged)
        files.append({**taken, "conflicting": merged.conflicting})
    return _end(args, files)


def discard_record(args: argparse.Namespace, ledger: Path) -> int:
    """Append a record that takes another one back, with its reason."""
    from workbench.ledger.discard import discard

    if len(args.words) != 1:
        raise UsageError("`ledger discard` needs one record id and --reason.")
    record = discard(ledger, args.words[0], args.reason or "")
    console.say_wrapped(
        f"record {record.discards} is discarded by {record.record_id}: {visible(record.reason or '')}"
    )
    if args.json:
        console.out_json(record)
    return ExitCode.OK


def _files(args: argparse.Namespace, action: str, hint: str) -> list[Path]:
    if not args.words:
        raise UsageError(f"`ledger {action}` needs a file.", hint)
    return [Path(name) for name in args.words]


def _say_taken(path: Path, added: int, known: int, refused: Sequence[tuple[int, str]]) -> None:
    console.say(f"{visible(str(path))}: {added} records added, {known} were here already")
    for number, why in refused:
        console.say_wrapped(f"line {number} was left out: {why}", "  ", "    ")


def _taken(path: Path, added: int, known: int, refused: Sequence[tuple[int, str]]) -> dict[str, object]:
    left_out = [{"line": number, "why": why} for number, why in refused]
    return {"path": str(path), "added": added, "known": known, "refused": left_out}


def _end(args: argparse.Namespace, files: list[dict[str, object]]) -> int:
    if args.json:
        console.out_json({"schema_version": 1, "files": files})
    return ExitCode.OK
