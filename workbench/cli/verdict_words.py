"""A record's outcome in lines of plain text: measured, predicted, fractions, verdict and its reasons."""

from collections.abc import Iterator
from pathlib import Path

from workbench.cli import console
from workbench.escape import visible
from workbench.ledger.card import fit_estimate, why_ended
from workbench.ledger.energy import energy
from workbench.ledger.record import Record
from workbench.ledger.status import COMPLETE
from workbench.ledger.words import gb, gbps, percent, rate


def verdict_lines(record: Record) -> Iterator[str]:
    """The lines `measure` and `check` print, the verdict first."""
    name = visible(record.model or "unnamed model")
    weights = " (synthetic weights)" if record.synthetic_weights else ""
    yield f"{name}{weights}: {visible(_word(record)).upper()}"
    if record.generation_tps is not None:
        yield f"  measured    {rate(record.generation_tps)} tok/s{_spread(record)}"
    yield from _predictions(record)
    if record.weight_bytes_per_token is not None:
        effective = f"; effective {gbps(record.effective_gbps)}" if record.effective_gbps else ""
        rule = visible(record.rule or "count")
        yield f"  a token     {gb(record.weight_bytes_per_token)} by the rule {rule}{effective}"
    if record.fit_estimate is not None:
        yield f"  fit says    {fit_estimate(record)}"
    tps_of = {ceiling.name: ceiling.tps for ceiling in record.ceilings}
    for fraction in record.fractions:
        ceiling = f" ({rate(tps_of[fraction.of])} tok/s)" if fraction.of in tps_of else ""
        yield f"  {percent(fraction.value):>10}  of {visible(fraction.of)}{ceiling}"
    for reason in _reasons(record):
        yield from console.wrapped(reason, "  - ", "    ")
    yield from _energy(record)


def beside_lines(record: Record, ledger: Path) -> Iterator[str]:
    """Rows to set the fraction beside: the source documents' office machine and this ledger's own."""
    from workbench.analysis.reference import ledger_beside, office_beside
    from workbench.ledger.table import load

    if not record.weight_bytes_per_token or not record.fractions:
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
        where = f"{visible(row.machine, 40)}, {visible(row.date or 'no date')}"
        yield f"  {percent(row.fraction):>10}  of {visible(row.of)}: {model}, {where}"


def _word(record: Record) -> str:
    """The verdict; for a run that came to none, how it ended."""
    if record.status not in COMPLETE and record.verdict in {None, "none"}:
        return record.status
    return record.verdict or record.status


def _reasons(record: Record) -> Iterator[str]:
    """The validator's sentences, and why the run ended early where none of them says so yet."""
    yield from record.verdict_reasons
    own = why_ended(record)
    if own and not any(own in said for said in record.verdict_reasons):
        yield f"{own}."


def _spread(record: Record) -> str:
    if len(record.repeats_tps) < 2:
        return ""
    return f" (repeats {', '.join(rate(tps) for tps in record.repeats_tps)})"


def _predictions(record: Record) -> Iterator[str]:
    """Everybody's number; after the reveal the nearest first."""
    if record.generation_tps is not None and len(record.predictions) > 1:
        from workbench.analysis.calibration import rank

        for placed in rank(record.predictions, record.generation_tps):
            who = f"{visible(placed.name, 40)} {rate(placed.tps)} tok/s"
            yield f"  {placed.place:>9}.  {who}{_off(placed.error)}"
        return
    for one in record.predictions:
        by = f" by {visible(one.name, 40)}" if one.name else ""
        yield f"  predicted   {rate(one.tps)} tok/s{by}{_off(one.error)}"


def _off(error: float | None) -> str:
    if error is None:
        return ""
    return f"; measured {percent(abs(error))} {'above' if error > 0 else 'below'} it"


def _energy(record: Record) -> Iterator[str]:
    for reading in record.power:
        yield from console.wrapped(energy(reading), "  energy      ", "              ")
    if record.status != "imported" and not record.power and record.energy_unavailable_reason:
        first, _, _ = record.energy_unavailable_reason.partition(". ")
        yield f"  energy      none: {visible(first.rstrip('.'))}."
