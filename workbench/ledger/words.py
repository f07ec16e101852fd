"""Figures in words: bytes, rates and shares as every table, card and sentence writes them.

Only formatting. What is not measured reads `not measured`, never 0.
"""

import math

NOT_MEASURED = "not measured"
LONGEST_REASON = 2_000
"""Characters of one of the verdict's or a claim's sentences."""


def gb(nbytes: float) -> str:
    """Bytes as GB (10^9), three decimals, or MB where that would hide them."""
    if abs(nbytes) >= 1e8:
        return f"{nbytes / 1e9:,.3f} GB"
    return f"{nbytes / 1e6:.3f} MB" if abs(nbytes) >= 1e3 else f"{nbytes:.0f} bytes"


def megabytes(nbytes: float) -> str:
    """The MB of a probe's array without the unit, more digits below 1: `128`, `0.25`."""
    return f"{nbytes / 1e6:.0f}" if nbytes >= 1e6 else f"{nbytes / 1e6:.2g}"


def percent(value: float) -> str:
    """A ratio as a percentage with one decimal: 2.216 is `221.6 %`."""
    return f"{value * 100:,.1f} %"


def signed_percent(value: float) -> str:
    """The same with its sign: an error of -0.05 is `-5.0 %`."""
    return f"{value * 100:+,.1f} %"


def rate(tps: float) -> str:
    """Tok/s with four significant digits at most and one decimal at least: `338.2`, `1,504.9`, `0.0421`."""
    if tps == 0 or not math.isfinite(tps):
        return str(tps)
    if abs(tps) >= 1:
        return f"{tps:,.1f}" if abs(tps) >= 10 else f"{tps:.2f}"
    return f"{tps:.3g}"


def gbps(value: float) -> str:
    """GB/s with one decimal, more below 1: `1,814.6 GB/s`, `0.0331 GB/s`."""
    return f"{gbps_figure(value)} GB/s"


def gbps_figure(value: float) -> str:
    """The same without the unit, for a table's column."""
    return f"{value:,.1f}" if abs(value) >= 1 or value == 0 else f"{value:.3g}"
