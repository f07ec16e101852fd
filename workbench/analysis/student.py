"""Student's t distribution, as far as an interval of a fit needs it. Written out: no numeric library."""

import math
from functools import lru_cache

_STEPS = 400


@lru_cache(maxsize=64)
def t_quantile(confidence: float, freedom: int) -> float:
    """The t that a two-sided interval of `confidence` (0 to 1) needs at `freedom` degrees of freedom.

    Found by bisection on the integrated density; right to six digits.
    """
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if _within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    """The probability that |T| < t: the density integrated over the angle atan(t / sqrt(freedom))."""
    angle = math.atan(t / math.sqrt(freedom))
    step = angle / _STEPS
    ends = 1.0 + math.cos(angle) ** (freedom - 1)
    inner = sum((4 if i % 2 else 2) * math.cos(i * step) ** (freedom - 1) for i in range(1, _STEPS))
    area = (ends + inner) * step / 3
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    return 2 * scale * area
