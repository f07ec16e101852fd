"""The conditions of a run: samples before, during and after, folded into the record's fields. Pure."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from workbench.machine.macos import THERMAL_LEVELS
from workbench.machine.sample import Sample

DRIFT_LIMIT = 0.001
"""Wall clock against monotonic clock: beyond this share of the run the machine slept or its clock was set."""


def condition_fields(samples: Sequence[Sample], *, own_pids: Sequence[int] = ()) -> dict[str, Any]:
    """The record's conditions as far as samples tell; the first is the start, the last the end.

    One sample alone fills the start's fields. `conditions_reasons` says for each null why it is null.
    """
    if not samples:
        return {"conditions_reasons": {"conditions": "the run ended before its conditions were sampled"}}
    start, end = samples[0], samples[-1]
    ended = len(samples) > 1
    thermals = [s.thermal for s in samples if s.thermal is not None]
    found: dict[str, Any] = {
        "power_source": _last(samples, "power_source"),
        "low_power_mode": _any(samples, "low_power_mode"),
        "thermal_start": start.thermal,
        "thermal_end": end.thermal if ended else None,
        "thermal_worst": max(thermals, key=THERMAL_LEVELS.index, default=None),
        "load1_start": None if start.load1 is None else round(start.load1, 2),
        "swap_used_start_bytes": start.swap_used_bytes,
        "swap_used_end_bytes": end.swap_used_bytes if ended else None,
        "memory_pressure_worst": _worst_pressure(samples),
        "governor": start.governor,
        "throttle_reasons": _throttle_reasons(samples),
        "gpu_clock_mhz": _gpu_clock(samples),
        "gpu_other_processes": _others_on_gpu(samples, own_pids),
        "clock_drift": clock_drift(start, end) if ended else None,
    }
    found["conditions_reasons"] = _reasons(found, samples, ended)
    return found


def clock_drift(start: Sample, end: Sample) -> float | None:
    """(wall - monotonic) / monotonic between two samples; None without a span.

    macOS and Linux stop the monotonic clock while the machine sleeps.
    """
    monotonic_s = end.monotonic_s - start.monotonic_s
    if monotonic_s <= 0:
        return None
    return round((end.wall_s - start.wall_s - monotonic_s) / monotonic_s, 6)


def _reasons(found: dict[str, Any], samples: Sequence[Sample], ended: bool) -> dict[str, str]:
    told = {name: why for sample in reversed(samples) for name, why in sample.missing.items()}
    reasons = {}
    for name, value in found.items():
        if value is None:
            at_end = name.endswith(("_end", "_end_bytes")) or name == "clock_drift"
            unended = "the run ended before a second sample" if at_end and not ended else None
            reasons[name] = unended or told.get(_SAMPLED_AS.get(name, name), "not read on this system")
    return reasons


_SAMPLED_AS = {
    "thermal_start": "thermal",
    "thermal_end": "thermal",
    "thermal_worst": "thermal",
    "swap_used_start_bytes": "swap_used_bytes",
    "swap_used_end_bytes": "swap_used_bytes",
    "memory_pressure_worst": "memory_pressure",
    "gpu_other_processes": "gpu_pids",
}


def _last(samples: Sequence[Sample], name: str) -> Any:
    return next((v for s in reversed(samples) if (v := getattr(s, name)) is not None), None)


def _any(samples: Sequence[Sample], name: str) -> bool | None:
    values = [v for s in samples if (v := getattr(s, name)) is not None]
    return any(values) if values else None


def _worst_pressure(samples: Sequence[Sample]) -> str | None:
    order = ("normal", "warning", "critical")
    values = [s.memory_pressure for s in samples if s.memory_pressure is not None]
    return max(values, key=order.index, default=None)


def _throttle_reasons(samples: Sequence[Sample]) -> list[str] | None:
    told = [s.throttle_reasons for s in samples if s.throttle_reasons is not None]
    if not told:
        return None
    reasons = {reason for of_sample in told for reason in of_sample if reason != "gpu idle"}
    counts = [s.cpu_throttles for s in samples if s.cpu_throttles is not None]
    if counts and counts[-1] > counts[0]:
        reasons.add("cpu thermal throttle")
    return sorted(reasons)


def _gpu_clock(samples: Sequence[Sample]) -> dict[str, float] | None:
    """Median and lowest clock during the run; the two ends, where the GPU idles, only if there is no more."""
    during = samples[1:-1] or samples
    clocks = [s.gpu_clock_mhz for s in during if s.gpu_clock_mhz is not None]
    return {"median": median(clocks), "min": min(clocks)} if clocks else None


def _others_on_gpu(samples: Sequence[Sample], own_pids: Sequence[int]) -> int | None:
    told = [s.gpu_pids for s in samples if s.gpu_pids is not None]
    return max(len(set(pids) - set(own_pids)) for pids in told) if told else None
