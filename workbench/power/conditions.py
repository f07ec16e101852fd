"""What the power sources say about the machine over a window: GPU clock, thermal pressure, throttling.

Null where no source says it.
"""

from dataclasses import dataclass
from statistics import median

from workbench.power.energy import Window
from workbench.power.meter import Trace

THERMAL_ORDER = ("Nominal", "Moderate", "Heavy", "Trapping", "Sleeping")
"""powermetrics' words for thermal pressure, mildest first."""


@dataclass(frozen=True, slots=True)
class PowerConditions:
    """GPU clock in MHz, thermal pressure in the system's words, and what slowed the chip down."""

    gpu_mhz_median: float | None = None
    gpu_mhz_min: float | None = None
    thermal_end: str | None = None
    thermal_worst: str | None = None
    throttle_reasons: tuple[str, ...] | None = None


def conditions_over(trace: Trace, window: Window) -> PowerConditions:
    """The conditions of `window`. A GPU clock of 0 (gated) is left out; throttling is None where untold."""
    inside = sorted(
        (s for row in trace.rows for s in row.samples if window.start_ns <= s.at_ns <= window.end_ns),
        key=lambda sample: sample.at_ns,
    )
    clocks = [sample.gpu_mhz for sample in inside if sample.gpu_mhz]
    thermal = [sample.thermal for sample in inside if sample.thermal is not None]
    tells = any(row.row.tells_throttle for row in trace.rows if row.samples)
    return PowerConditions(
        gpu_mhz_median=median(clocks) if clocks else None,
        gpu_mhz_min=min(clocks, default=None),
        thermal_end=thermal[-1] if thermal else None,
        thermal_worst=max(thermal, key=_severity, default=None),
        throttle_reasons=tuple(sorted({r for s in inside for r in s.throttle})) if tells else None,
    )


def _severity(level: str) -> int:
    """A word that is not known counts as the worst."""
    return THERMAL_ORDER.index(level) if level in THERMAL_ORDER else len(THERMAL_ORDER)
