"""Other ledgers and imported rows into this one: by record id, lines as they are, nothing twice."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from workbench.errors import LedgerError
from workbench.ledger.lines import lines_of
from workbench.ledger.record import Record, sealed
from workbench.ledger.store import UNDECODABLE, append_lines, each
from workbench.locations import shown

Found = TypeVar("Found")

ATTEMPTS = 20
"""How often a ledger that grows meanwhile is read anew: what two programs add at once gets in once."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did: records added, records that were there already, and what was not taken over."""

    added: int
    known: int
    damaged: tuple[tuple[int, str], ...]
    conflicting: tuple[str, ...]
    """Ids that both ledgers hold with different contents: this ledger's stay."""


def merge(into: Path, source: Path) -> Merged:
    """Append the records of `source` that `into` does not hold, as they are, in their order, in one write.

    Raises `LedgerError` when `source` is not there, cannot be read, or is the ledger itself.
    """
    if not source.exists():
        raise LedgerError(f"There is no ledger {shown(source)}.", "Check the path.", code="ledger_missing")
    if into.exists() and source.samefile(into):
        raise LedgerError(
            f"{shown(source)} is this ledger itself.", "Name the other machine's file.", code="same_ledger"
        )
    return _appended(into, lambda: _compared(into, source))


def add_new(into: Path, records: Iterable[Record]) -> tuple[int, int]:
    """Append imported records that the ledger does not hold yet: how many were new, how many known."""
    given = list(records)
    lines = {record.record_id: msgspec.json.encode(sealed(record)) for record in given}

    def compared() -> tuple[tuple[int, int], list[bytes]]:
        known = {one.record_id for one in _seals(into)}
        new = [line for record_id, line in lines.items() if record_id not in known]
        return (len(new), len(given) - len(new)), new

    return _appended(into, compared)


def _compared(into: Path, source: Path) -> tuple[Merged, list[bytes]]:
    """What a merge would do, and the lines that it would append."""
    seals = {one.record_id: one.sha256 for one in _seals(into)}
    damaged: list[tuple[int, str]] = []
    added: list[bytes] = []
    conflicting: list[str] = []
    known = 0
    for line, record in each(source):
        if isinstance(record, str):
            damaged.append((line.number, record))
        elif record.record_id not in seals:
            seals[record.record_id] = record.sha256
            added.append(line.raw or b"")
        elif seals[record.record_id] == record.sha256:
            known += 1
        else:
            conflicting.append(record.record_id)
    return Merged(len(added), known, tuple(damaged), tuple(conflicting)), added


def _appended(into: Path, compared: Callable[[], tuple[Found, list[bytes]]]) -> Found:
    """Append what `compared` gives while the ledger is as it was compared with; say what that was."""
    for _ in range(ATTEMPTS):
        size = _size(into)
        found, lines = compared()
        if append_lines(into, lines, only_at=size):
            return found
    raise LedgerError(
        f"Other programs keep appending to {shown(into)}: nothing was added.",
        "Try again when their runs have ended.",
        code="busy_ledger",
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


class _Sealed(msgspec.Struct, frozen=True):
    record_id: str
    sha256: str | None = None


_DECODER = msgspec.json.Decoder(_Sealed)


def _seals(path: Path) -> Iterator[_Sealed]:
    """Ids and seals only: a ledger of a hundred thousand records need not be in memory for them."""
    for line in lines_of(path):
        with contextlib.suppress(*UNDECODABLE):
            yield _DECODER.decode(line.raw or b"")
