"""A fit in words and rows, for whoever shows it: the line, its interval, its claim, every residual."""

import math

from workbench.analysis.fit import Fit, Misfit, Standing, fit, misfit
from workbench.analysis.least_squares import Point, Weighting
from workbench.analysis.reference import PUBLISHED_GBPS, PUBLISHED_OVERHEAD_S, office_points
from workbench.ledger.words import rate, signed_percent

HEADERS = ("model", "GB/token", "ms/token", "measured", "expected", "off by", "left out")
"""Of `rows`: `off by` is measured time / expected - 1, `left out` the same by the other models' line."""
RIGHT_ALIGNED = frozenset(HEADERS[1:])


def sentences(fitted: Fit) -> list[str]:
    """The fit in sentences, the line first."""
    said = [f"{fitted.words} ({fitted.weighting}, {len(fitted.points)} models): {fitted.standing}."]
    if fitted.overhead_interval_s is not None and fitted.gbps_interval is not None:
        low_s, high_s = fitted.overhead_interval_s
        low, high = fitted.gbps_interval
        to = "no upper bound" if math.isinf(high) else f"{high:.0f} GB/s"
        said.append(
            f"95 % intervals: overhead {low_s * 1e3:.2f} to {high_s * 1e3:.2f} ms, {low:.0f} GB/s to {to}."
        )
    if fitted.standing is not Standing.CLAIM:
        said.append("A claim needs five models or more over a tenfold span of bytes per token.")
    return said + list(fitted.notes)


def rows(fitted: Fit) -> list[tuple[str, ...]]:
    """One row a model, smallest first, under `HEADERS`."""
    left_out = {one.name: one for one in fitted.leave_one_out}
    return [
        _row(point, one, left_out.get(one.name))
        for point, one in zip(fitted.points, fitted.residuals, strict=True)
    ]


def outlier_row(fitted: Fit, point: Point) -> tuple[str, ...]:
    """A point that is shown beside the fit and not part of it."""
    return _row(point, misfit(fitted, point), None)


def office_sentences() -> list[str]:
    """The source documents' rows, fitted: ours with its interval, two other weightings, their own pair."""
    dense, mixture = office_points()
    ours = fit(dense)
    plain = fit(dense, Weighting.PLAIN)
    by_bytes = fit(dense, Weighting.BYTES_SQUARED)
    off = misfit(ours, mixture)
    return [
        f"Ours: {sentences(ours)[0]}",
        *sentences(ours)[1:],
        f"{plain.words} by {plain.weighting}; {by_bytes.words} {by_bytes.weighting}.",
        f"Published: {PUBLISHED_OVERHEAD_S * 1e3:.1f} ms + bytes / {PUBLISHED_GBPS:.0f} GB/s.",
        f"The mixture ({mixture.name}) is an outlier: {rate(off.measured_tps)} tok/s where the dense line"
        f" expects {rate(off.expected_tps)} (its time is {signed_percent(off.relative)}).",
    ]


def _row(point: Point, one: Misfit, left_out: Misfit | None) -> tuple[str, ...]:
    return (
        point.name,
        f"{point.weight_bytes / 1e9:.3f}",
        f"{point.seconds * 1e3:.2f}",
        rate(point.tps),
        rate(one.expected_tps),
        signed_percent(one.relative),
        signed_percent(left_out.relative) if left_out is not None else "",
    )
