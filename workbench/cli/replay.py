"""Play a recorded run again: on a terminal through the screens, elsewhere as a story on stdout.

Without a ledger: the shipped example, run 1 of the source documents and its correction. No GPU, no model, and
nothing is recorded: the screens say *replay* on every page, and take numbers of your own for a class.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import console, options
from workbench.errors import LedgerError
from workbench.escape import visible

if TYPE_CHECKING:
    from workbench.ledger.record import Record
    from workbench.ledger.table import Table
    from workbench.protocol.replaying import Replay


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "ledger",
        nargs="?",
        type=Path,
        metavar="LEDGER",
        help="a ledger's file (default: the shipped example)",
    )
    parser.add_argument(
        "--record", metavar="ID", help="the beginning of a record's id (default: the newest run)"
    )
    parser.add_argument("--speed", type=float, default=1.0, metavar="N", help="times as fast as it was (1)")
    parser.add_argument("--headless", action="store_true", help="the story, even on a terminal")
    options.add_hz(parser)
    parser.add_argument("--theme", choices=("dark", "light", "high-contrast"), help="colours (dark)")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Find the record, then play it or tell it."""
    from workbench.ledger.table import load
    from workbench.protocol.playback import Tempo
    from workbench.protocol.replaying import replay_of

    Tempo(args.speed)  # says what is wrong with the speed
    ledger = _ledger(args.ledger)
    table = load(ledger)
    record = _chosen(ledger, table, args.record, shipped=args.ledger is None)
    because = table.discarded.get(record.record_id)
    replay = replay_of(record)
    if args.json:
        console.out_json({"schema_version": 1, "replay": True, "discarded": because, "record": record})
        return 0
    if args.headless or not (console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr)):
        console.out_lines(story(replay, because))
        return 0
    return _screens(args, ledger, record, because)


def _ledger(named: Path | None) -> Path:
    from workbench.ledger.example import OFFICE_RUN_1

    if named is None:
        return OFFICE_RUN_1
    if not named.exists():
        raise LedgerError(
            f"There is no ledger {visible(str(named))}.", "Check the path.", code="ledger_missing"
        )
    return named


def _chosen(ledger: Path, table: "Table", wanted: str | None, *, shipped: bool) -> "Record":
    """The record with this id; else the example's first, or a ledger's newest run that can be played."""
    from workbench.ledger.corrections import find
    from workbench.ledger.table import record_of
    from workbench.protocol.replaying import why_not

    if wanted is not None:
        return record_of(ledger, find(table.rows, wanted))
    for row in table.rows if shipped else reversed(table.rows):
        if row.generation_tps and row.weight_bytes_per_token:
            with suppress(LedgerError):  # damaged behind what the table reads of a line
                record = record_of(ledger, row)
                if not why_not(record):
                    return record
    raise LedgerError(
        "The ledger holds no run that can be replayed.",
        "A run needs a rate, its bytes per token and a bandwidth figure; `workbench ledger` lists them.",
        code="no_record",
    )


def _screens(args: argparse.Namespace, ledger: Path, record: "Record", because: str | None) -> int:
    from workbench.cli.planning import command
    from workbench.cli.screens import require_capable_terminal
    from workbench.settings import load_settings
    from workbench.tui.options import Options
    from workbench.tui.replay_app import run as play

    require_capable_terminal()
    wishes = Options(
        ledger=ledger,
        hz=args.hz,
        theme=args.theme,
        mouse=not args.no_mouse,
        command=command(),
        settings=load_settings(),
    )
    return play(wishes, record, because, args.speed)


def story(replay: "Replay", because: str | None = None) -> Iterator[str]:
    """The run in lines, in the protocol's order: nothing measured before what was predicted."""
    from workbench.cli.verdict_words import verdict_lines
    from workbench.ledger.card import build, order, prediction, versions, warm_up
    from workbench.ledger.words import gb, percent, rate
    from workbench.prediction.ceiling import ceiling_tps

    record, plan = replay.record, replay.plan
    yield "REPLAY: a recorded run. Nothing is measured, nothing is recorded."
    alias, name = visible(record.alias or "unnamed", 40), visible(plan.checkpoint.name)
    yield f"stamp    {alias}, {visible(record.date or 'no date')}: {build(record)}; {versions(record)}"
    yield f"count    {name}: a token reads {gb(plan.weight_bytes)} by the rule {plan.rule}"
    for row in plan.count.rows:
        yield f"         {row.name:<18} {gb(row.disk_bytes):>12} on disk, share {percent(float(row.share))}"
    yield f"predict  {prediction(record)}{'; ' + order(record) if record.predicted_at else ''}"
    for figure in plan.bandwidths:
        ceiling = ceiling_tps(figure.gbps, plan.weight_bytes)
        yield f"         ceiling {rate(ceiling)} tok/s at {figure.name} ({visible(figure.source)})"
    load = f"loaded in {record.load_s:.1f} s, " if record.load_s is not None else ""
    yield f"warm up  {load}{warm_up(record)}"
    yield from _measured(replay)
    lines = list(verdict_lines(record))
    yield f"record   {lines[0]}"
    yield from (f"       {line}" for line in lines[1:])
    if because:
        yield f"         discarded later: {visible(because)}"


def _measured(replay: "Replay") -> Iterator[str]:
    """One line a repeat, and its rate as it went: a number for each tenth of the tokens."""
    from workbench.analysis.rates import decode_tps, rates
    from workbench.ledger.words import rate
    from workbench.worker.messages import RepeatDone

    repeats = [cue.report.repeat for cue in replay.cues if isinstance(cue.report, RepeatDone)]
    for repeat in repeats:
        token_times = repeat.token_times_ns
        found = rates(token_times)
        words = f"{rate(found.tps)} tok/s" if found is not None else "no rate"
        yield f"measure  repeat {repeat.index + 1} of {len(repeats)}: {len(token_times)} tokens, {words}"
        step = max(2, len(token_times) // 10)
        parts = [
            decode_tps(token_times[at : at + step + 1]) for at in range(0, len(token_times) - step, step)
        ]
        yield f"         as it went: {' '.join(rate(part) for part in parts if part is not None)}"
    if replay.is_even:
        yield "         (token times are synthesized evenly from the rate)"
