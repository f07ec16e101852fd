"""The fit: seconds per token = overhead + bytes / effective bandwidth, over the models of one group.

Weighted least squares with intervals, residuals and leave-one-out, and what may be claimed from it. Which
records belong together is `fit_groups`' business.

Source of the form: "The Decode Ceiling". What may be claimed: with 3 models the 95 % interval of the overhead
is as wide as the overhead; with 5 over a tenfold span of bytes it is a fifth of it.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from workbench.analysis.least_squares import (
    Line,
    Point,
    Weighting,
    line_through,
    line_through_origin,
    weights_of,
)
from workbench.analysis.student import t_quantile
from workbench.errors import UsageError
from workbench.ledger.parts import FitEstimate

CONFIDENCE = 0.95
CLAIM_POINTS = 5
INTERVAL_POINTS = 4
CLAIM_SPAN = 10.0
"""Largest / smallest bytes per token that a claim needs: the overhead shows on small models only."""


class Standing(StrEnum):
    """What the number of models and their span of bytes allow to say."""

    LINE = "two-point line, no interval"
    NO_CLAIM = "no claim"
    INTERVAL = "interval, no claim"
    CLAIM = "claim"


class FitRefusedError(UsageError):
    """These points have no honest fit; the message says why."""

    code = "no_fit"


@dataclass(frozen=True, slots=True)
class Misfit:
    """How far a point lies off: `relative` is measured seconds / expected seconds - 1."""

    name: str
    expected_tps: float
    measured_tps: float
    relative: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted line. Intervals are 95 %, None where too few points or no freedom give none."""

    overhead_s: float
    gbps: float
    overhead_interval_s: tuple[float, float] | None
    gbps_interval: tuple[float, float] | None
    points: tuple[Point, ...]
    residuals: tuple[Misfit, ...]
    leave_one_out: tuple[Misfit, ...]
    weighting: Weighting
    standing: Standing
    notes: tuple[str, ...]
    fit_id: str
    covariance: tuple[float, float, float] | None = None
    """Of (overhead, seconds per byte): variance, covariance, variance."""
    scatter: float = 0.0
    """Weighted residual variance: the square of a typical error in units of a point's sigma."""

    @property
    def words(self) -> str:
        """How the fit is said: `1.91 ms + bytes / 502 GB/s`."""
        return f"{self.overhead_s * 1e3:.2f} ms + bytes / {self.gbps:.0f} GB/s"

    def seconds(self, weight_bytes: float) -> float:
        """Expected seconds per token at `weight_bytes` per token."""
        return self.overhead_s + weight_bytes / (self.gbps * 1e9)


def fit(points: Sequence[Point], weighting: Weighting = Weighting.RELATIVE) -> Fit:
    """Fit the points of one group.

    Raises `FitRefusedError` for points of more than one group, fewer than two models, models of one size,
    or times that do not grow with the bytes. A negative overhead is refitted at 0 and noted.
    """
    points = tuple(sorted(points, key=lambda point: point.weight_bytes))
    _refuse(points)
    line = line_through(points, weighting)
    notes = []
    if line.slope <= 0:
        raise FitRefusedError(
            "Larger models are not slower here, so that no bandwidth follows.",
            "Measure models that differ more in bytes per token, on a quiet machine.",
        )
    if line.overhead < 0:
        line = line_through_origin(points, weighting)
        notes.append("The overhead came out below 0; it is held at 0.")
    span = points[-1].weight_bytes / points[0].weight_bytes
    standing = _standing(len(points), span)
    if len(points) >= CLAIM_POINTS and standing is not Standing.CLAIM:
        notes.append(f"The bytes span {span:.1f}x; a claim needs {CLAIM_SPAN:.0f}x.")
    overhead_interval, gbps_interval = _intervals(line, standing)
    fitted = Fit(
        overhead_s=line.overhead,
        gbps=1e-9 / line.slope,
        overhead_interval_s=overhead_interval,
        gbps_interval=gbps_interval,
        points=points,
        residuals=(),
        leave_one_out=(),
        weighting=weighting,
        standing=standing,
        notes=tuple(notes),
        fit_id=_fit_id(points, weighting),
        covariance=line.covariance,
        scatter=line.scatter,
    )
    return replace(
        fitted,
        residuals=tuple(misfit(fitted, point) for point in points),
        leave_one_out=_leave_one_out(points, weighting),
    )


def misfit(fitted: Fit, point: Point) -> Misfit:
    """How far a point, in the fit or not (an outlier, a mixture), lies off the line."""
    expected = fitted.seconds(point.weight_bytes)
    return Misfit(point.name, 1 / expected, point.tps, point.seconds / expected - 1)


def estimate(fitted: Fit, weight_bytes: int) -> FitEstimate:
    """Tok/s that the fit expects of a new checkpoint, with its 95 % range where the fit has intervals.

    The range is a prediction interval: it holds one more measurement, not only the line.
    """
    expected = fitted.seconds(weight_bytes)
    half = _prediction_half_width(fitted, weight_bytes)
    if half is None:
        return FitEstimate(1 / expected, None, None, fitted.fit_id)
    fastest = 1 / (expected - half) if expected > half else None
    return FitEstimate(1 / expected, 1 / (expected + half), fastest, fitted.fit_id)


def _refuse(points: Sequence[Point]) -> None:
    groups = sorted({point.group for point in points})
    if len(groups) > 1:
        first = "; ".join(groups[:3]) + (" ..." if len(groups) > 3 else "")
        raise FitRefusedError(
            f"{len(groups)} groups are not one fit: {first}.",
            "A fit belongs to one machine, runtime, model family and weight format.",
        )
    if len({point.weight_bytes for point in points}) < 2:
        raise FitRefusedError(
            "A line needs two models of different bytes per token.", "Measure another checkpoint first."
        )
    for point in points:
        if point.weight_bytes <= 0 or not math.isfinite(point.tps) or point.tps <= 0:
            raise FitRefusedError(f"{point.name} has no rate or no bytes.", "Leave it out.")


def _standing(count: int, span: float) -> Standing:
    if count == 2:
        return Standing.LINE
    if count < INTERVAL_POINTS:
        return Standing.NO_CLAIM
    return Standing.CLAIM if count >= CLAIM_POINTS and span >= CLAIM_SPAN else Standing.INTERVAL


def _intervals(
    line: Line, standing: Standing
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    if line.covariance is None or standing in {Standing.LINE, Standing.NO_CLAIM}:
        return None, None
    t = t_quantile(CONFIDENCE, line.freedom)
    overhead_half = t * math.sqrt(line.covariance[0])
    slope_half = t * math.sqrt(line.covariance[2])
    slowest = 1e-9 / (line.slope + slope_half)
    fastest = 1e-9 / (line.slope - slope_half) if line.slope > slope_half else math.inf
    return (line.overhead - overhead_half, line.overhead + overhead_half), (slowest, fastest)


def _leave_one_out(points: Sequence[Point], weighting: Weighting) -> tuple[Misfit, ...]:
    """Each point against the line through the others; none where the others make no line."""
    found = []
    for left_out in points:
        others = [point for point in points if point is not left_out]
        if len({point.weight_bytes for point in others}) < 2:
            continue
        line = line_through(others, weighting)
        expected = line.overhead + line.slope * left_out.weight_bytes
        if expected > 0:
            found.append(Misfit(left_out.name, 1 / expected, left_out.tps, left_out.seconds / expected - 1))
    return tuple(found)


def _prediction_half_width(fitted: Fit, weight_bytes: int) -> float | None:
    """Half the 95 % prediction interval in seconds at `weight_bytes`."""
    if fitted.covariance is None or fitted.overhead_interval_s is None:
        return None
    overhead, both, slope = fitted.covariance
    of_line = overhead + 2 * weight_bytes * both + weight_bytes**2 * slope
    expected = fitted.seconds(weight_bytes)
    typical = Point("", weight_bytes, 1 / expected)
    of_one_more = fitted.scatter / weights_of([typical], fitted.weighting)[0]
    through_origin = fitted.covariance[0] == 0
    freedom = len(fitted.points) - (1 if through_origin else 2)
    return t_quantile(CONFIDENCE, freedom) * math.sqrt(max(0.0, of_line) + of_one_more)


def _fit_id(points: Sequence[Point], weighting: Weighting) -> str:
    """The same points and weighting have the same id, whatever order they came in."""
    parts = [f"{point.group}|{point.name}|{point.weight_bytes}|{point.tps!r}" for point in points]
    return hashlib.sha256("\n".join([*parts, weighting]).encode()).hexdigest()[:12]
