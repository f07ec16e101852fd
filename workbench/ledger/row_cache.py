"""Rows that were read once are kept beside other caches, so that a long ledger opens at once.

A ledger only grows: what lies before `end` need not be read again while its last bytes are still the same.
Anything doubtful and the whole ledger is read; nothing here is ever needed.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import astuple, replace

from workbench.ledger.row import Row, RowQuantization

WORTH_KEEPING_BYTES = 8_000_000
"""Less than this is read again in a few hundredths of a second."""
_TAIL_BYTES = 4_096
_ROWS_A_FRAME = 4_000
_LARGEST_FRAME_BYTES = 64_000_000


class KeptRow(Row, frozen=True, gc=False, array_like=True):
    """A row without its field names: a third of the size."""


class Extent(msgspec.Struct, frozen=True):
    """How much of a ledger is kept: its first `end` bytes, `lines` whole lines, some of them `damaged`."""

    end: int = 0
    lines: int = 0
    damaged: tuple[tuple[int, str], ...] = ()
    form: str = ""
    tail: str = ""


def read_rows(ledger: Path, folder: Path, take: Callable[[Sequence[Row]], None]) -> Extent:
    """Give `take` the kept rows of a ledger, some at a time, and say how far they go.

    An extent that ends at 0: they do not fit the ledger any more, and what `take` got counts for nothing.
    """
    try:
        with _place(ledger, folder).open("rb") as stream:
            extent = _EXTENT.decode(_frame(stream))
            if extent.form != _FORM or extent.tail != _tail(ledger, extent.end):
                return Extent()
            for frame in iter(lambda: _frame(stream), b""):
                take(_ROWS.decode(frame))
    except (OSError, msgspec.MsgspecError, EOFError):
        return Extent()
    return extent


def keep_rows(ledger: Path, folder: Path, extent: Extent, rows: Sequence[Row]) -> None:
    """Keep the rows for the next time; a full or read-only disk keeps nothing."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        extent = replace(extent, form=_FORM, tail=_tail(ledger, extent.end))
        descriptor, name = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                _write_frame(stream, msgspec.msgpack.encode(extent))
                for at in range(0, len(rows), _ROWS_A_FRAME):
                    kept = [KeptRow(*astuple(row)) for row in rows[at : at + _ROWS_A_FRAME]]
                    _write_frame(stream, msgspec.msgpack.encode(kept))
            Path(name).replace(_place(ledger, folder))
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise


def _write_frame(stream: BinaryIO, content: bytes) -> None:
    stream.write(len(content).to_bytes(8, "little") + content)


def _frame(stream: BinaryIO) -> bytes:
    """The next frame, empty at the end of the file; `EOFError` where it was cut off."""
    head = stream.read(8)
    if not head:
        return b""
    length = int.from_bytes(head, "little")
    content = stream.read(length) if length <= _LARGEST_FRAME_BYTES else b""
    if len(head) < 8 or len(content) < length or not length:
        raise EOFError
    return content


def _place(ledger: Path, folder: Path) -> Path:
    return folder / f"rows-{hashlib.sha256(os.fsencode(ledger.absolute())).hexdigest()[:16]}.msgpack"


def _tail(ledger: Path, end: int) -> str:
    """A digest of the last bytes before `end`; they are not there any more where a ledger was exchanged."""
    with ledger.open("rb") as stream:
        stream.seek(max(0, end - _TAIL_BYTES))
        tail = stream.read(min(end, _TAIL_BYTES))
    return f"{len(tail)}:{hashlib.sha256(tail).hexdigest()}"


_FORM = ",".join((*Row.__struct_fields__, *RowQuantization.__struct_fields__))
"""Another version of this program may keep other fields."""
_EXTENT = msgspec.msgpack.Decoder(Extent)
_ROWS = msgspec.msgpack.Decoder(list[KeptRow])
