"""A run group's results: the repeats' token times as the record's results fields, and back.

The statistics of one repeat are in `rates`; here they are joined.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

from workbench.analysis.rates import DECODE_RULE, percentile, rates, spread
from workbench.ledger.record import InterTokenMs


def results(repeats: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The results fields of a record from each repeat's token times in ns, for `msgspec.structs.replace`.

    The headline `generation_tps` is the mean of the repeats' mean rates. Percentiles and stalls are over all
    tokens of all repeats, quarters the mean of the repeats' quarters. Repeats without an honest rate count
    for nothing but keep their token times; an empty result has no rate at all.
    """
    found = [rate for rate in map(rates, repeats) if rate is not None]
    kept: dict[str, Any] = {"token_times_ns": [differences(times) for times in repeats]}
    all_repeats = spread([rate.tps for rate in found])
    if all_repeats is None:
        return kept
    steps_ms = sorted(
        (later - earlier) / 1e6 for times in repeats if rates(times) for earlier, later in pairwise(times)
    )
    kept |= {
        "generation_tokens": found[0].tokens,
        "generation_tps": all_repeats.mean,
        "generation_tps_mlx_lm": _mean(rate.tps_mlx_lm for rate in found),
        "decode_rule": DECODE_RULE,
        "decode_s": _mean(rate.decode_s for rate in found),
        "inter_token_ms": InterTokenMs(
            p50=percentile(steps_ms, 0.50),
            p95=percentile(steps_ms, 0.95),
            p99=percentile(steps_ms, 0.99),
            max=steps_ms[-1],
        ),
        "tps_first_quarter": _mean(rate.tps_first_quarter for rate in found),
        "tps_last_quarter": _mean(rate.tps_last_quarter for rate in found),
        "stalls": sum(rate.stalls for rate in found),
        "repeats_tps": [rate.tps for rate in found],
        "tps_median": all_repeats.median,
        "tps_mean": all_repeats.mean,
        "tps_sd": all_repeats.sd,
        "tps_cv": all_repeats.cv,
    }
    return kept


def differences(token_times_ns: Sequence[int]) -> list[int]:
    """Token times as the record keeps them: differences between successive tokens, in ns."""
    return [later - earlier for earlier, later in pairwise(token_times_ns)]


def times(differences_ns: Sequence[int]) -> list[int]:
    """Token times in ns since the first token from the record's differences."""
    return list(accumulate(chain([0], differences_ns)))


def _mean(values: Iterable[float | None]) -> float | None:
    kept = [value for value in values if value is not None]
    summary = spread(kept)
    return summary.mean if summary is not None else None
