"""Statistics over token times: pure functions of nanosecond stamps, one function per fact.

What a rate means beside a ceiling is `verdict`'s business; nothing here knows bytes.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.ledger.parts import InterTokenMs

DECODE_RULE = "(N-1)/(t_N - t_1)"
"""How `decode_tps` counts: N-1 intervals lie between N tokens."""
NO_MACHINE_TPS = 20_000.0
"""No batch-1 decode passes this; the first response's rate of mlx-lm's generator does (69,000 to 137,000)."""
SLOWEST_TPS = 1e-6
"""A token in eleven days: nobody has waited for a slower one."""
STALL_FACTOR = 3.0
"""A token that took this many times the median is a stall."""

_FEWEST_FOR_QUARTERS = 8


@dataclass(frozen=True, slots=True)
class Rates:
    """One timed repeat. Rates in tok/s, times in s and ms; quarters are None under 8 intervals."""

    tokens: int
    decode_s: float
    tps: float
    inter_token_ms: InterTokenMs
    stalls: int
    tps_first_quarter: float | None
    tps_last_quarter: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeats of one figure. `sd` is the sample's, `cv` is sd / mean; both None for a single value."""

    count: int
    mean: float
    median: float
    low: float
    high: float
    sd: float | None
    cv: float | None


def plausible_tps(tps: float | None) -> float | None:
    """The rate if a machine can have it, else None: zero, negative, NaN, infinite, a first-token spike."""
    if tps is None or not math.isfinite(tps) or not SLOWEST_TPS <= tps <= NO_MACHINE_TPS:
        return None
    return tps


def decode_tps(token_times_ns: Sequence[int]) -> float | None:
    """(N-1)/(t_N - t_1) in tok/s; None under two tokens or where no machine could be that fast."""
    if len(token_times_ns) < 2:
        return None
    elapsed_ns = token_times_ns[-1] - token_times_ns[0]
    return plausible_tps((len(token_times_ns) - 1) * 1e9 / elapsed_ns) if elapsed_ns > 0 else None


def tps_as_mlx_lm_counts(tps: float, tokens: int) -> float:
    """mlx-lm's own `generation_tps` in tok/s: N tokens over the N-1 intervals, N/(N-1) times ours."""
    return tps * tokens / (tokens - 1)


def rates(token_times_ns: Sequence[int]) -> Rates | None:
    """The statistics of one repeat; None where `decode_tps` has no rate or a clock ran backwards."""
    tps = decode_tps(token_times_ns)
    steps_ns = [later - earlier for earlier, later in pairwise(token_times_ns)]
    if tps is None or min(steps_ns) < 0:
        return None
    median_ns = statistics.median(steps_ns)
    if median_ns <= 0:
        return None
    ordered = sorted(steps_ns)
    quarter = len(steps_ns) // 4 if len(steps_ns) >= _FEWEST_FOR_QUARTERS else 0
    return Rates(
        tokens=len(token_times_ns),
        decode_s=(token_times_ns[-1] - token_times_ns[0]) / 1e9,
        tps=tps,
        inter_token_ms=InterTokenMs(
            p50=median_ns / 1e6,
            p95=percentile(ordered, 0.95) / 1e6,
            p99=percentile(ordered, 0.99) / 1e6,
            max=ordered[-1] / 1e6,
        ),
        stalls=sum(step > STALL_FACTOR * median_ns for step in steps_ns),
        tps_first_quarter=_tps(steps_ns[:quarter]),
        tps_last_quarter=_tps(steps_ns[-quarter:]) if quarter else None,
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of an ascending sequence lies, linear between neighbours."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def spread(values: Sequence[float]) -> Spread | None:
    """Mean, median and spread of repeats; values that are not finite are left out, None if none is left."""
    kept = [value for value in values if math.isfinite(value)]
    if not kept:
        return None
    mean = statistics.fmean(kept)
    sd = statistics.stdev(kept) if len(kept) > 1 else None
    return Spread(
        count=len(kept),
        mean=mean,
        median=statistics.median(kept),
        low=min(kept),
        high=max(kept),
        sd=sd,
        cv=sd / mean if sd is not None and mean else None,
    )


def _tps(steps_ns: Sequence[int]) -> float | None:
    elapsed_ns = sum(steps_ns)
    return plausible_tps(len(steps_ns) * 1e9 / elapsed_ns) if elapsed_ns > 0 else None
