"""The source documents' tables, made again from records: bytes, ceilings, fractions, the ledger row.

Text in cells, as those pages print it; what a record does not hold is an empty cell.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from workbench.analysis.derive import derive
from workbench.ledger.export import markdown_table
from workbench.ledger.record import Record
from workbench.ledger.status import COMPLETE
from workbench.prediction.ceiling import ceiling_tps, effective_gbps, fraction


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its title, its headers, its rows of texts, and which headers stand over numbers."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[str] = frozenset()


def source_tables(
    records: Sequence[Record], taken_back: Set[str] = frozenset(), gbps: float | None = None
) -> str:
    """All four tables as Markdown, at each record's own bandwidth figure or at `gbps` GB/s.

    Runs that were `taken_back` stand in the third table only, as they do in the source document.
    """
    runs = [record for record in records if record.status in COMPLETE and record.experiment != "bandwidth"]
    standing = [record for record in runs if record.record_id not in taken_back]
    tables = (
        bytes_table(standing),
        fraction_table(standing, gbps),
        prediction_table(runs, taken_back, gbps),
        ledger_table(standing, gbps),
    )
    return "\n\n".join(
        f"## {table.title}\n\n{markdown_table(table.headers, table.rows, table.right)}" for table in tables
    )


def bytes_table(records: Sequence[Record]) -> Table:
    """The first table of "The Decode Ceiling": what of a checkpoint one token reads, in GB."""
    headers = ("Model", "On disk", "Vision", "Embedding", "Experts (k/E)", "Bytes per token", "Evidence")
    rows = tuple(
        (
            short_name(record),
            _gb(record.weight_bytes_total),
            _gb(record.weight_bytes_vision) or "—",
            _embedding(record),
            _experts(record),
            _gb(record.weight_bytes_per_token),
            "from the headers" if record.in_force != "override" else "with overrides",
        )
        for record in _each_checkpoint(records)
    )
    return Table("Which bytes count", headers, rows, frozenset(headers[1:6]))


def fraction_table(records: Sequence[Record], gbps: float | None = None) -> Table:
    """The second table of "The Decode Ceiling": measured / ceiling; `gbps` overrules the record's figure."""
    named = f"{gbps:g} GB/s ÷ bytes" if gbps is not None else "bandwidth ÷ bytes"
    headers = ("Model", f"Ceiling ({named})", "Measured", "Measured ÷ ceiling", "Evidence")
    rows = []
    for record in records:
        ceiling = _ceiling(record, gbps)
        tps = record.generation_tps
        rows.append(
            (
                short_name(record),
                f"{ceiling:,.0f}" if ceiling is not None else "",
                _measured(tps),
                f"{fraction(tps, ceiling):.0%}" if tps and ceiling else "",
                _evidence(record),
            )
        )
    return Table("Prediction against measurement", headers, tuple(rows), frozenset(headers[1:4]))


def prediction_table(
    records: Sequence[Record], discarded_ids: Set[str] = frozenset(), gbps: float | None = None
) -> Table:
    """The table of "Write the Prediction Before the Number": bytes, predicted ceiling, measured, fraction."""
    named = f"{gbps:g} GB/s" if gbps is not None else "own figure"
    headers = ("Model", "Bytes per token", f"Predicted ceiling ({named})", "Measured", "Fraction", "Evidence")
    rows = []
    for record in records:
        ceiling = _ceiling(record, gbps)
        tps = record.generation_tps
        part = fraction(tps, ceiling) if tps and ceiling else None
        wrong = " — impossible" if part is not None and part > 1 else ""
        rows.append(
            (
                short_name(record) + (f" ({record.rule})" if record.rule not in {None, "count"} else ""),
                f"{record.weight_bytes_per_token / 1e9:.2f} GB" if record.weight_bytes_per_token else "",
                _tps(ceiling),
                f"{tps:,.1f}" if tps else "",
                f"{part:.0%}{wrong}" if part is not None else "",
                _evidence(record) + (", discarded" if record.record_id in discarded_ids else ""),
            )
        )
    return Table("The prediction before the number", headers, tuple(rows), frozenset(headers[1:5]))


def ledger_table(records: Sequence[Record], gbps: float | None = None) -> Table:
    """The row of "Bandwidth Ledger": bytes per forward pass, predicted, measured, utilization, GB/s used."""
    headers = ("Model", "Bytes per pass", "Predicted tok/s", "Measured tok/s", "Utilization", "GB/s used")
    rows = []
    for record in map(derive, records):
        tps, nbytes = record.generation_tps, record.weight_bytes_per_token
        ceiling = record.predicted_decode_tps if gbps is None else _ceiling(record, gbps)
        rows.append(
            (
                short_name(record),
                _gb(nbytes),
                _tps(ceiling),
                f"{tps:,.1f}" if tps else "",
                f"{fraction(tps, ceiling):.0%}" if tps and ceiling else "",
                f"{effective_gbps(tps, nbytes):,.1f}" if tps and nbytes else "",
            )
        )
    return Table("Bandwidth ledger", headers, tuple(rows), frozenset(headers[1:]))


def short_name(record: Record) -> str:
    """The model's name without its publisher."""
    return (record.model or "unnamed").rsplit("/", 1)[-1]


def _each_checkpoint(records: Sequence[Record]) -> list[Record]:
    """One record for each checkpoint: the last whose bytes are the count's, else the first that has any."""
    known: dict[str, Record] = {}
    for record in records:
        name, is_count = short_name(record), record.rule in {None, "count"}
        if record.weight_bytes_per_token is not None and (is_count or name not in known):
            known[name] = record
    return list(known.values())


def _ceiling(record: Record, gbps: float | None) -> float | None:
    if gbps is not None and record.weight_bytes_per_token:
        return ceiling_tps(gbps, record.weight_bytes_per_token)
    return derive(record).predicted_decode_tps


def _gb(nbytes: int | None) -> str:
    """GB with four significant digits, three decimals at most, as the pages print them; empty for nothing."""
    if not nbytes:
        return ""
    value = nbytes / 1e9
    decimals = 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".")


def _embedding(record: Record) -> str:
    if not record.weight_bytes_embed:
        return "—"
    how = "tied (counted)" if record.tied_embeddings else "untied (excluded)"
    return f"{_gb(record.weight_bytes_embed)}, {how}"


def _experts(record: Record) -> str:
    if not record.weight_bytes_experts:
        return "—"
    return f"{_gb(record.weight_bytes_experts)} at {record.experts_per_token}/{record.experts}"


def _measured(tps: float | None) -> str:
    if not tps:
        return ""
    return f"{tps:,.1f}" if tps < 50 else f"{tps:,.0f}"


def _tps(ceiling: float | None) -> str:
    if ceiling is None:
        return ""
    return f"{ceiling:,.1f}" if ceiling < 100 else f"{ceiling:,.0f}"


def _evidence(record: Record) -> str:
    date = f" {record.date[:10]}" if record.date else ""
    return f"{record.status}{date}"
