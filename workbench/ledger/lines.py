"""The ledger's file as lines with their numbers and places: bounded reads, damage named, nothing decoded.

What a line means is the business of `store`, `table` and `verify`.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from workbench.errors import LedgerError
from workbench.locations import shown

LONGEST_LINE_BYTES = 64_000_000
"""A longer line is damage: a record with 16,000 token times in each of three repeats has half a megabyte."""


class Line(NamedTuple):
    """One line without its newline. `number` counts from 1; `raw` is None for a line that is too long."""

    number: int
    offset: int
    raw: bytes | None
    ended: bool


def lines_of(path: Path, offset: int = 0, number: int = 0) -> Iterator[Line]:
    """The lines of a ledger in file order; a ledger that does not exist yet has none.

    Begins at `offset` bytes, where the line after line `number` begins. Raises `LedgerError` when the file
    cannot be opened or is no regular file.
    """
    try:
        stream = open_ledger(path)
    except FileNotFoundError:
        return
    with stream:
        stream.seek(offset)
        yield from _lines(stream, path, offset, number)


def open_ledger(path: Path) -> BinaryIO:
    """Open a ledger for reading; `FileNotFoundError` passes, everything else becomes a `LedgerError`."""
    try:
        if not path.is_file() and path.exists():
            raise LedgerError(f"{shown(path)} is not a regular file.", "Name another ledger.")
        return path.open("rb", buffering=1 << 20)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> LedgerError:
    """The error for a ledger that the system does not let us read."""
    return LedgerError(
        f"The ledger {shown(path)} cannot be read: {os.strerror(error.errno or 0).lower()}.",
        "Check the file's permissions, or name another ledger.",
        code="ledger_unreadable",
    )


def line_at(path: Path, offset: int) -> bytes:
    """The line that begins at `offset` bytes, without its newline."""
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            return stream.readline(LONGEST_LINE_BYTES).rstrip(b"\n")
    except OSError as error:
        raise unreadable(path, error) from error


def _lines(stream: BinaryIO, path: Path, offset: int, number: int) -> Iterator[Line]:
    try:
        while raw := stream.readline(LONGEST_LINE_BYTES):
            number += 1
            length = len(raw)
            ended = raw.endswith(b"\n")
            if not ended and length == LONGEST_LINE_BYTES:
                more, ended = _skip(stream)
                length += more
                yield Line(number, offset, None, ended)
            else:
                yield Line(number, offset, raw[:-1] if ended else raw, ended)
            offset += length
    except OSError as error:
        raise unreadable(path, error) from error


def _skip(stream: BinaryIO) -> tuple[int, bool]:
    """Read to the end of a line that is too long: how many bytes, and whether a newline ended it."""
    length = 0
    while part := stream.readline(1 << 20):
        length += len(part)
        if part.endswith(b"\n"):
            return length, True
    return length, False
