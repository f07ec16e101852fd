"""Weighted least squares for a line: seconds per token over bytes per token. Arithmetic, no judgement.

What may be claimed of a line is in `fit`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

LEAST_RELATIVE_SIGMA = 0.02
"""No rate is trusted better than this, however well its repeats agree."""
LARGEST_RELATIVE_SIGMA = 10.0
"""Repeats that spread tenfold weigh as good as nothing; more would only break the arithmetic."""


class Weighting(StrEnum):
    """What counts as equally uncertain: every point's share of its time, its seconds, or its bytes."""

    RELATIVE = "equal relative error"
    PLAIN = "plain least squares"
    BYTES_SQUARED = "weighted by bytes squared"


@dataclass(frozen=True, slots=True)
class Point:
    """One model's measurement: bytes per token, tok/s, the repeats' spread (sd / mean), and its group."""

    name: str
    weight_bytes: int
    tps: float
    cv: float | None = None
    group: str = ""

    @property
    def seconds(self) -> float:
        """Seconds per token."""
        return 1 / self.tps


@dataclass(frozen=True, slots=True)
class Line:
    """A line with what its intervals need: degrees of freedom, weighted residual variance, covariance."""

    overhead: float
    slope: float
    freedom: int
    scatter: float
    covariance: tuple[float, float, float] | None


def weights_of(points: Sequence[Point], weighting: Weighting) -> list[float]:
    """Each point's weight: one over its variance, up to a common factor."""
    match weighting:
        case Weighting.PLAIN:
            return [1.0] * len(points)
        case Weighting.BYTES_SQUARED:
            return [(point.weight_bytes / 1e9) ** 2 for point in points]
        case Weighting.RELATIVE:
            return [1 / (_relative_sigma(point) * point.seconds) ** 2 for point in points]


def _relative_sigma(point: Point) -> float:
    return min(LARGEST_RELATIVE_SIGMA, max(LEAST_RELATIVE_SIGMA, point.cv or 0.0))


def line_through(points: Sequence[Point], weighting: Weighting) -> Line:
    """Weighted least squares of seconds on bytes, around the weighted centre for the sake of precision."""
    weights = weights_of(points, weighting)
    total = sum(weights)
    centre_x = sum(w * p.weight_bytes for w, p in zip(weights, points, strict=True)) / total
    centre_y = sum(w * p.seconds for w, p in zip(weights, points, strict=True)) / total
    spread_x = sum(w * (p.weight_bytes - centre_x) ** 2 for w, p in zip(weights, points, strict=True))
    both = sum(
        w * (p.weight_bytes - centre_x) * (p.seconds - centre_y) for w, p in zip(weights, points, strict=True)
    )
    slope = both / spread_x
    overhead = centre_y - slope * centre_x
    freedom = len(points) - 2
    if freedom < 1:
        return Line(overhead, slope, 0, 0.0, None)
    scatter = (
        sum(
            w * (p.seconds - overhead - slope * p.weight_bytes) ** 2
            for w, p in zip(weights, points, strict=True)
        )
        / freedom
    )
    slope_variance = scatter / spread_x
    overhead_variance = scatter * (1 / total + centre_x**2 / spread_x)
    return Line(
        overhead, slope, freedom, scatter, (overhead_variance, -centre_x * slope_variance, slope_variance)
    )


def line_through_origin(points: Sequence[Point], weighting: Weighting) -> Line:
    """The same with the overhead held at 0."""
    weights = weights_of(points, weighting)
    square = sum(w * p.weight_bytes**2 for w, p in zip(weights, points, strict=True))
    slope = sum(w * p.weight_bytes * p.seconds for w, p in zip(weights, points, strict=True)) / square
    freedom = len(points) - 1
    scatter = (
        sum(w * (p.seconds - slope * p.weight_bytes) ** 2 for w, p in zip(weights, points, strict=True))
        / freedom
    )
    return Line(0.0, slope, freedom, scatter, (0.0, 0.0, scatter / square))
