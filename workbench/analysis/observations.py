"""What a reader of a verdict must also know: spread, stalls, quarters, warnings, synthetic weights.

Each function gives one sentence or nothing; only `stood_still` decides the verdict's word.
"""

from collections.abc import Iterator

from workbench.ledger.record import Record
from workbench.ledger.words import gb, percent, rate

MEAN_MEDIAN_LIMIT = 0.03
"""The headline is the mean; a median that differs by more hides stalls or hides speed."""
QUARTER_LIMIT = 0.05
LARGEST_CACHE_BYTES = 500_000_000
"""Where a cache's size is not known: GPUs have tens of MB to a few hundred, so that more cannot fit one."""
PROMPT_CACHE = "prompt_cache"
"""The warning that comes from the claim and not from the count; `verdict` says what follows from it."""
STANDSTILL_MS = 1000.0
STANDSTILL_TOKENS = 20
"""A token that takes a second and as long as twenty others: no kernel does that, a stopped process does."""


def observations(record: Record) -> Iterator[str]:
    """The sentences that apply to this record."""
    for sentence in _SENTENCES:
        if found := sentence(record):
            yield found
    for warning in record.warnings:
        if warning.code != PROMPT_CACHE:
            yield f"The count warns: {warning.message.rstrip('.')}."


def stood_still(record: Record) -> str:
    """That the run stood still at a token, so that its mean tells of the pause; empty if it did not."""
    tokens = record.inter_token_ms
    if tokens is None or tokens.max < max(STANDSTILL_MS, STANDSTILL_TOKENS * tokens.p50):
        return ""
    return (
        f"One token took {tokens.max / 1e3:.1f} s, the median one {tokens.p50:.3g} ms: the run was suspended,"
        " or the machine stood still."
    )


def _ended_early(record: Record) -> str:
    if record.status not in {"cancelled", "failed", "interrupted"}:
        return ""
    done = len(record.repeats_tps or ())
    alone = "1 repeat" if done == 1 else f"{done} repeats"
    of_all = f"{done} of {record.repeats} repeats" if record.repeats else alone
    because = f": {record.reason.rstrip('.')}" if record.reason else ""
    return f"The run is {record.status}, its rate is that of {of_all}{because}."


def _tokens(record: Record) -> str:
    tps, tokens = record.generation_tps, record.inter_token_ms
    if not tps or tokens is None or tokens.p50 <= 0:
        return ""
    of_median = 1e3 / tokens.p50
    if abs(of_median / tps - 1) <= MEAN_MEDIAN_LIMIT:
        return ""
    stalls = f" ({record.stalls} stall{'' if record.stalls == 1 else 's'})" if record.stalls else ""
    some = "took much longer than others" if of_median > tps else "were much faster than the rest"
    return (
        f"The mean rate ({rate(tps)} tok/s) and the median token's ({rate(of_median)}) differ by"
        f" {percent(abs(of_median / tps - 1))}{stalls}: some tokens {some}."
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
    if not first or not last or abs(last / first - 1) <= QUARTER_LIMIT or stood_still(record):
        return ""
    if last < first:
        grown = ", or the context that each token reads grew" if _context_grew(record) else ""
        return (
            f"The last quarter ran at {rate(last)} tok/s after {rate(first)} in the first"
            f" ({percent(last / first)}): heat slowed the machine, or something else took the bus{grown}."
        )
    warming = "its warm-up had settled, so" if record.warmup_steady else "it was still warming up, or"
    return (
        f"The first quarter ran at {rate(first)} tok/s, the last at {rate(last)}"
        f" ({percent(last / first)}): {warming} the machine itself became faster on the way."
    )


def _context_grew(record: Record) -> bool:
    """Whether keys and values of one long repeat added bytes that a quarter shows."""
    start, end = record.context_bytes_per_token_start, record.context_bytes_per_token_end
    if start is None or end is None or not record.weight_bytes_per_token or len(record.repeats_tps) > 1:
        return False
    return end - start > QUARTER_LIMIT * record.weight_bytes_per_token


def _warm_up(record: Record) -> str:
    if record.warmup_steady is not False:
        return ""
    return (
        f"The warm-up's {record.warmup_passes} passes never came to one rate:"
        " kernels may have gone on compiling, or the machine is not steady."
    )


def _cache(record: Record) -> str:
    weights = record.weight_bytes_per_token
    if record.last_level_cache_bytes is not None or not weights or weights > LARGEST_CACHE_BYTES:
        return ""
    return (
        f"Not checked: whether the {gb(weights)} that a token reads fit the last-level cache, whose size is"
        " not known here. If they do, the memory bus is not the limit."
    )


def _witness(record: Record) -> str:
    witness = record.witness
    if witness is None or witness.status != "differs":
        return ""
    tensors = ", ".join(witness.differs[:3])
    more = f" and {len(witness.differs) - 3} more" if len(witness.differs) > 3 else ""
    return f"The count and the decode graph differ{f' in {tensors}{more}' if tensors else ''}."


def _synthetic(record: Record) -> str:
    if not record.synthetic_weights:
        return ""
    return "The weights are synthetic: the rate says something of this machine, nothing of a model."


def _not_here(record: Record) -> str:
    if record.experiment != "external" and record.status != "imported":
        return ""
    return "Not measured here: the figures are as they were given."


_SENTENCES = (
    *(_ended_early, _tokens, _repeats, _quarters, _warm_up),
    *(_cache, _witness, _synthetic, _not_here),
)
