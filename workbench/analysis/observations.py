"""What a reader of a verdict must also know: spread, stalls, quarters, warnings, synthetic weights.

Each function gives one sentence or nothing; none of them decides the verdict's word.
"""

from collections.abc import Iterator

from workbench.ledger.record import Record
from workbench.ledger.words import percent, rate

MEAN_MEDIAN_LIMIT = 0.03
"""The headline is the mean; a median that differs by more hides stalls or hides speed."""
QUARTER_LIMIT = 0.05


def observations(record: Record) -> Iterator[str]:
    """The sentences that apply to this record."""
    for sentence in (_tokens, _repeats, _quarters, _witness, _synthetic, _not_here):
        if found := sentence(record):
            yield found
    for warning in record.warnings:
        yield f"The count warns: {warning.message.rstrip('.')}."


def _tokens(record: Record) -> str:
    tps, tokens = record.generation_tps, record.inter_token_ms
    if not tps or tokens is None or tokens.p50 <= 0:
        return ""
    of_median = 1e3 / tokens.p50
    if abs(of_median / tps - 1) <= MEAN_MEDIAN_LIMIT:
        return ""
    stalls = f" ({record.stalls} stalls)" if record.stalls else ""
    return (
        f"The mean rate ({rate(tps)} tok/s) and the median token's ({rate(of_median)}) differ by"
        f" {percent(abs(of_median / tps - 1))}{stalls}: some tokens took much longer than others."
    )


def _repeats(record: Record) -> str:
    mean, median = record.tps_mean, record.tps_median
    if not mean or not median or abs(median / mean - 1) <= MEAN_MEDIAN_LIMIT:
        return ""
    return (
        f"The repeats' mean ({rate(mean)} tok/s) and median ({rate(median)}) differ by"
        f" {percent(abs(median / mean - 1))}: one repeat stands apart."
    )


def _quarters(record: Record) -> str:
    first, last = record.tps_first_quarter, record.tps_last_quarter
    if not first or not last or abs(last / first - 1) <= QUARTER_LIMIT:
        return ""
    if last < first:
        return (
            f"The last quarter ran at {rate(last)} tok/s after {rate(first)} in the first"
            f" ({percent(last / first)}): throttling, or something else took the bus."
        )
    return (
        f"The first quarter ran at {rate(first)} tok/s, the last at {rate(last)}"
        f" ({percent(last / first)}): it was still warming up."
    )


def _witness(record: Record) -> str:
    witness = record.witness
    if witness is None or witness.status != "differs":
        return ""
    tensors = ", ".join(witness.differs[:3])
    more = " ..." if len(witness.differs) > 3 else ""
    return f"The count and the decode graph differ{f' in {tensors}{more}' if tensors else ''}."


def _synthetic(record: Record) -> str:
    if not record.synthetic_weights:
        return ""
    return "The weights are synthetic: the rate says something of this machine, nothing of a model."


def _not_here(record: Record) -> str:
    if record.experiment != "external" and record.status != "imported":
        return ""
    return "Not measured here: the figures are as they were given."
