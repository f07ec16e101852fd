"""The ledger as a table: a hundred thousand rows in under a second, a row's whole record when asked.

Rows are text and numbers for whoever paints them; no terminal library enters here.
"""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import force_setattr

from workbench.errors import LedgerError
from workbench.ledger.corrections import discarded
from workbench.ledger.lines import lines_of
from workbench.ledger.record import Record
from workbench.ledger.store import UNDECODABLE, decode, read_at
from workbench.ledger.words import percent, rate
from workbench.prediction.ceiling import fraction


class RowQuantization(msgspec.Struct, frozen=True, gc=False):
    """The bits of a row's weights."""

    bits: float | None = None


class Row(msgspec.Struct, frozen=True, gc=False):
    """What a table shows of a record. Names and units are the record's; `offset` is its line's place."""

    record_id: str
    experiment: str
    status: str
    run_group_id: str | None = None
    discards: str | None = None
    reason: str | None = None
    date: str | None = None
    alias: str | None = None
    device: str | None = None
    model: str | None = None
    quantization: RowQuantization | None = None
    rule: str | None = None
    weight_bytes_per_token: int | None = None
    predicted_tps_human: float | None = None
    predicted_decode_tps: float | None = None
    bandwidth_gbps: float | None = None
    bandwidth_kind: str | None = None
    generation_tps: float | None = None
    achieved_gbps: float | None = None
    verdict: str | None = None
    offset: int = 0

    @property
    def machine(self) -> str:
        """The alias, else the chip's name."""
        return self.alias or self.device or "unnamed"

    @property
    def denominator(self) -> str:
        """The principal bandwidth figure's name, for example `spec 819 GB/s`."""
        if self.bandwidth_gbps is None:
            return "no bandwidth figure"
        return f"{self.bandwidth_kind or 'stated'} {self.bandwidth_gbps:g} GB/s"

    @property
    def fraction(self) -> float | None:
        """Measured / the principal ceiling; None where either is missing."""
        if not self.generation_tps or not self.predicted_decode_tps:
            return None
        return fraction(self.generation_tps, self.predicted_decode_tps)


@dataclass(frozen=True, slots=True)
class Table:
    """A ledger's rows in file order, its damaged lines, and {record id: reason} of what was discarded."""

    rows: Sequence[Row] = ()
    damaged: Sequence[tuple[int, str]] = ()
    discarded: Mapping[str, str] = field(default_factory=dict)


HEADERS = ("date", "machine", "model", "bits", "GB/token", "said", "tok/s", "of ceiling", "verdict", "status")
"""What `cells` returns, in order."""
RIGHT_ALIGNED = frozenset({"bits", "GB/token", "said", "tok/s", "of ceiling"})


def load(path: Path) -> Table:
    """Every line of a ledger as a row: 100,000 records take about half a second and 60 MB.

    Raises `LedgerError` when the file cannot be read; damaged lines are listed, not raised.
    """
    rows: list[Row] = []
    damaged: list[tuple[int, str]] = []
    texts: dict[str, str] = {}
    with _no_collector():
        for line in lines_of(path):
            try:
                row = _DECODER.decode(line.raw or b"")
                force_setattr(row, "offset", line.offset)
            except UNDECODABLE:
                if line.raw is not None and not line.raw.strip():
                    continue
                try:
                    row = row_of(decode(line), line.offset)
                except LedgerError as error:
                    damaged.append((line.number, error.message))
                    continue
            _share_texts(row, texts)
            rows.append(row)
    return Table(rows, damaged, discarded(rows))


def row_of(record: Record, offset: int = 0) -> Row:
    """The row of a record that is in memory."""
    fields = {name: getattr(record, name) for name in Row.__struct_fields__ if hasattr(record, name)}
    bits = record.quantization.bits if record.quantization is not None else None
    return Row(**{**fields, "quantization": RowQuantization(bits), "offset": offset})


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


@contextmanager
def _no_collector() -> Iterator[None]:
    """No cycle can arise among rows; the collector would look through all of them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
