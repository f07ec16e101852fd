"""A record's outcome in lines of plain text: measured, predicted, fractions, verdict and its reasons."""

from collections.abc import Iterator
from pathlib import Path

from workbench.escape import visible
from workbench.ledger.record import Record
from workbench.ledger.words import gb, gbps, percent, rate, signed_percent


def verdict_lines(record: Record) -> Iterator[str]:
    """The lines `measure` and `check` print, the verdict first."""
    name = visible(record.model or "unnamed model")
    weights = " (synthetic weights)" if record.synthetic_weights else ""
    yield f"{name}{weights}: {(record.verdict or record.status).upper()}"
    if record.generation_tps is not None:
        yield f"  measured    {rate(record.generation_tps)} tok/s{_spread(record)}"
    for prediction in record.predictions:
        error = (
            "" if prediction.error is None else f" (measured is {signed_percent(prediction.error)} off it)"
        )
        who = f" by {visible(prediction.name)}" if prediction.name else ""
        yield f"  predicted   {rate(prediction.tps)} tok/s{who}{error}"
    if record.weight_bytes_per_token is not None:
        effective = f", effective {gbps(record.effective_gbps)}" if record.effective_gbps else ""
        yield f"  a token reads {gb(record.weight_bytes_per_token)} by the rule {record.rule}{effective}"
    tps_of = {ceiling.name: ceiling.tps for ceiling in record.ceilings}
    for fraction in record.fractions:
        ceiling = f" ({rate(tps_of[fraction.of])} tok/s)" if fraction.of in tps_of else ""
        yield f"  {percent(fraction.value):>7} of {fraction.of}{ceiling}"
    for reason in record.verdict_reasons:
        yield f"  - {reason}"
    if record.reason:
        yield f"  - {record.reason}"
    if record.energy_unavailable_reason and not record.power:
        yield f"  energy: none. {record.energy_unavailable_reason}"


def _spread(record: Record) -> str:
    if len(record.repeats_tps) < 2:
        return ""
    return f" (repeats {', '.join(rate(tps) for tps in record.repeats_tps)})"


def beside_lines(record: Record, ledger: Path) -> Iterator[str]:
    """Rows to set the fraction beside: the source documents' office machine and this ledger's own."""
    from workbench.analysis.reference import ledger_beside, office_beside
    from workbench.ledger.table import load

    if not record.weight_bytes_per_token:
        return
    table = load(ledger)
    rows = [
        *office_beside(record.weight_bytes_per_token, bool(record.experts)),
        *ledger_beside(table.rows, record.weight_bytes_per_token, table.discarded, but=record.record_id),
    ]
    if rows:
        yield "  beside"
    for row in rows:
        model = f"{visible(row.model, 40)} ({gb(row.weight_bytes)} a token)"
        yield f"  {percent(row.fraction):>7} of {row.of}: {model}, {visible(row.machine, 40)}, {row.date}"
