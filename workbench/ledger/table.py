"""The ledger as a table: a hundred thousand rows in under a second, a row's whole record when asked.

Rows are text and numbers for whoever paints them; no terminal library enters here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import force_setattr

from workbench.collector import no_collector
from workbench.errors import LedgerError
from workbench.ledger.corrections import discarded
from workbench.ledger.lines import Line, lines_of
from workbench.ledger.record import Record
from workbench.ledger.row import Row, RowQuantization
from workbench.ledger.row_cache import WORTH_KEEPING_BYTES, Extent, keep_rows, read_rows
from workbench.ledger.store import UNDECODABLE, decode, read_at
from workbench.ledger.words import percent, rate
from workbench.locations import cache_dir


@dataclass(frozen=True, slots=True)
class Table:
    """A ledger's rows in file order, its damaged lines, and {record id: reason} of what was discarded."""

    rows: Sequence[Row] = ()
    damaged: Sequence[tuple[int, str]] = ()
    discarded: Mapping[str, str] = field(default_factory=dict)


HEADERS = ("date", "machine", "model", "bits", "GB/token", "said", "tok/s", "of ceiling", "verdict", "status")
"""What `cells` returns, in order."""
RIGHT_ALIGNED = frozenset({"bits", "GB/token", "said", "tok/s", "of ceiling"})


def load(path: Path, keep: Path | None = None) -> Table:
    """Every line of a ledger as a row: 100,000 records take well under a second and 100 MB.

    `keep` is the folder where the rows of a long ledger are kept once they were read (`row_cache`; default:
    below the user's cache). Raises `LedgerError` when the file cannot be read; damaged lines are listed, not
    raised.
    """
    texts: dict[str, str] = {}
    rows: list[Row] = []

    def take(some: Sequence[Row]) -> None:
        for row in some:
            _share_texts(row, texts)
        rows.extend(some)

    is_long = path.is_file() and path.stat().st_size > WORTH_KEEPING_BYTES
    folder = (keep or cache_dir() / "ledger-rows") if is_long else None
    with no_collector():
        kept = read_rows(path, folder, take) if folder is not None else Extent()
        if kept.end == 0:
            rows.clear()
        damaged = list(kept.damaged)
        end, number, sound, odd = kept.end, kept.lines, len(rows), len(damaged)
        for line in lines_of(path, kept.end, kept.lines):
            found = _row_or_why(line)
            if isinstance(found, str):
                damaged.append((line.number, found))
            elif found is not None:
                _share_texts(found, texts)
                rows.append(found)
            if line.ended and line.raw is not None:
                end, number = line.offset + len(line.raw) + 1, line.number
                sound, odd = len(rows), len(damaged)
        if folder is not None and end - kept.end > WORTH_KEEPING_BYTES:
            keep_rows(path, folder, Extent(end, number, tuple(damaged[:odd])), rows[:sound])
    return Table(rows, damaged, discarded(rows))


def row_of(record: Record, offset: int = 0) -> Row:
    """The row of a record that is in memory."""
    fields = {name: getattr(record, name) for name in Row.__struct_fields__ if name != "offset"}
    quantization = None if record.quantization is None else RowQuantization(record.quantization.bits)
    return Row(**{**fields, "quantization": quantization, "offset": offset})


def record_of(path: Path, row: Row) -> Record:
    """The whole record of a row of this ledger."""
    record = read_at(path, row.offset)
    if record.record_id != row.record_id:
        raise LedgerError(
            "The ledger was exchanged for another file while it was open.", "Open the ledger again."
        )
    return record


def cells(row: Row, discarded_ids: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The row's texts under `HEADERS`; what was not measured is empty."""
    bits = row.quantization.bits if row.quantization is not None else None
    status = "discarded" if discarded_ids and row.record_id in discarded_ids else row.status
    measured = row.generation_tps
    return (
        (row.date or "")[:16].replace("T", " "),
        row.machine,
        row.model or ("bandwidth probe" if row.experiment == "bandwidth" else ""),
        f"{bits:g}" if bits is not None else "",
        f"{row.weight_bytes_per_token / 1e9:.3f}" if row.weight_bytes_per_token is not None else "",
        rate(row.predicted_tps_human) if row.predicted_tps_human is not None else "",
        rate(measured) if measured is not None else "",
        percent(row.fraction) if row.fraction is not None else "",
        row.verdict or "",
        status,
    )


_DECODER = msgspec.json.Decoder(Row)
_REPEATED = (
    "experiment",
    "status",
    "alias",
    "device",
    "model",
    "rule",
    "verdict",
    "reason",
    "bandwidth_kind",
)


def _share_texts(row: Row, texts: dict[str, str]) -> None:
    """Keep one copy of a text that comes again and again: it halves the table's memory."""
    for name in _REPEATED:
        text = getattr(row, name)
        if text is not None:
            force_setattr(row, name, texts.setdefault(text, text))


def _row_or_why(line: Line) -> Row | str | None:
    """A line's row, why it has none, or nothing for a blank line."""
    raw = line.raw
    if raw is not None and not raw.strip():
        return None
    try:
        row = _DECODER.decode(_headline(raw or b""))
    except UNDECODABLE:
        try:
            return row_of(decode(line), line.offset)
        except LedgerError as error:
            return error.message
    force_setattr(row, "offset", line.offset)
    return row


def _headline(raw: bytes) -> bytes:
    """What a record's line begins with, as an object of its own; nothing where the line may be damaged.

    The rest, nine tenths of a line, is only looked at for what tears, power cuts and other encodings leave
    (UnicodeDecodeError): its other damage shows when the record is opened, and to `verify`.
    """
    end = raw.find(_BEHIND_HEADLINE)
    if end < 0 or not raw.endswith(b"}") or b"\0" in raw:
        return b""
    if not raw.isascii():
        raw.decode()
    return raw[:end] + b"}"


_BEHIND_HEADLINE = b',"schema_version":'
