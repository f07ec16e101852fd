"""What the screens do in threads: read headers, count, look for power, recover. Each posts messages only."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from textual.message import Message

from workbench.accounting.overrides import Override
from workbench.errors import CheckpointError, WorkbenchError
from workbench.ledger.record import Record
from workbench.tui.messages import Compared, Counted, Found, Notice, Offered, PowerFound
from workbench.tui.options import Options
from workbench.worker.messages import Stamp

Post = Callable[[Message], object]
BATCH_S = 0.1
"""Rows are handed on at least this often, so that hundreds of entries appear without freezing the screen."""


def scan(model_dirs: Sequence[Path], post: Post, cancelled: Callable[[], bool]) -> None:
    """Every checkpoint of this machine, row by row."""
    from workbench.shelf.directories import unsearchable
    from workbench.shelf.entries import Entry
    from workbench.shelf.entries import scan as entries

    for why in filter(None, map(unsearchable, model_dirs)):
        post(Notice(f"{why}.", problem=True))
    batch: list[Entry] = []
    handed = 0.0
    try:
        for entry in entries(model_dirs):
            if cancelled():
                return
            batch.append(entry)
            now = time.monotonic()
            if now - handed > BATCH_S:
                post(Found(batch))
                batch, handed = [], now
    except WorkbenchError as error:
        post(Notice(error.words, problem=True))
    post(Found(batch, done=True))


def count(path: Path, overrides: Sequence[Override], post: Post) -> None:
    """Open and count one checkpoint, overridden; whatever is wrong with it becomes a sentence."""
    from workbench.accounting.engine import count as counted
    from workbench.shelf.supported import open_for_mlx_lm

    try:
        checkpoint = open_for_mlx_lm(path)
        post(Counted(path, checkpoint, counted(checkpoint, overrides)))
    except WorkbenchError as error:
        post(Counted(path, problem=error))
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, RecursionError) as error:
        problem = CheckpointError(
            f"{path.name} could not be counted ({type(error).__name__}: {error}).",
            "This is a defect of the workbench; `workbench bytes` on it says the same.",
        )
        post(Counted(path, problem=problem))


async def build(name: str, path: Path, post: Post) -> bool:
    """Build one synthetic checkpoint in the worker; whether it is there now."""
    from workbench.protocol.prepare import ensure_built

    try:
        await ensure_built([name])
    except WorkbenchError as error:
        post(Counted(path, problem=error))
        return False
    post(Notice(f"{name} is built: synthetic weights, kept in this machine's cache."))
    return True


async def offer(stamp: Stamp, options: Options, post: Post) -> None:
    """The bandwidth figures known of the machine that the worker's stamp names, or what to ask."""
    from workbench.machine.stamp import compose, facts
    from workbench.protocol.bandwidths import known_figures

    machine = compose(await facts(), stamp)
    with suppress(WorkbenchError):  # an unreadable ledger: its own screen says what is wrong with it
        known = await asyncio.to_thread(known_figures, machine, options.settings.bandwidth, options.ledger)
        post(Offered(known))


def beside(record: Record, ledger: Path | None, post: Post) -> None:
    """The office rows and this ledger's own that read about as many bytes a token as this record."""
    from workbench.analysis.reference import ledger_beside, office_beside
    from workbench.ledger.table import load
    from workbench.locations import ledger_path

    weight_bytes = record.weight_bytes_per_token
    if not weight_bytes:
        return
    rows = office_beside(weight_bytes, bool(record.experts))
    with suppress(WorkbenchError):  # an unreadable ledger: its own screen says what is wrong with it
        table = load(ledger or ledger_path())
        rows += ledger_beside(table.rows, weight_bytes, table.discarded, but=record.record_id)
    post(Compared(record.record_id, rows))


def look_for_power(post: Post) -> None:
    """Which power sources there are."""
    from workbench.power.choice import look

    post(PowerFound(look()))


def recover(ledger: Path | None, post: Post) -> None:
    """Close what an earlier start left open, and say so."""
    from workbench.protocol.recover import recover as close_open_runs

    recovery = close_open_runs(ledger)
    for record in recovery.records:
        post(Notice(f"An interrupted run of {record.model} was kept in the ledger, with its prediction."))
    for problem in recovery.problems:
        post(Notice(problem, problem=True))
