"""What in a run's conditions spoils its figures, one sentence each. Pure; the verdict repeats them."""

from collections.abc import Sequence
from typing import Protocol

from workbench.machine.conditions import DRIFT_LIMIT
from workbench.machine.nvidia import HARMFUL

SWAP_GROWTH_BYTES = 500_000_000
"""Swap that grows by more than this during a run means that the run's own pages went out."""
BUSY_PCT = 50.0
"""Another process that uses more than this share of one core competes for the memory bus."""


class Conditions(Protocol):
    """The record's conditions that can spoil a run; a `Record` is one."""

    @property
    def low_power_mode(self) -> bool | None:
        """Whether the system saved power."""

    @property
    def thermal_worst(self) -> str | None:
        """The worst thermal pressure level seen."""

    @property
    def throttle_reasons(self) -> Sequence[str] | None:
        """Why clocks were below their maximum."""

    @property
    def top_other_process_cpu_pct(self) -> float | None:
        """The busiest other process, percent of one core."""

    @property
    def swap_used_start_bytes(self) -> int | None:
        """Swap in use before the run."""

    @property
    def swap_used_end_bytes(self) -> int | None:
        """Swap in use after the run."""

    @property
    def memory_pressure_worst(self) -> str | None:
        """The worst memory pressure seen."""

    @property
    def gpu_other_processes(self) -> int | None:
        """How many other processes computed on the GPU."""

    @property
    def clock_drift(self) -> float | None:
        """(wall - monotonic) / monotonic over the run."""


def spoiled_by(record: Conditions) -> list[str]:
    """Every condition that spoils the run, as a sentence; empty when the figures can stand.

    A condition that was not read says nothing: the record has its reason.
    """
    sentences = [
        _suspended(record.clock_drift),
        "Low power mode was on." if record.low_power_mode else None,
        _heat(record.thermal_worst),
        _throttled(record.throttle_reasons or ()),
        _swapping(record.swap_used_start_bytes, record.swap_used_end_bytes),
        _pressure(record.memory_pressure_worst),
        _busy(record.top_other_process_cpu_pct),
        _shared_gpu(record.gpu_other_processes),
    ]
    return [sentence for sentence in sentences if sentence is not None]


def _suspended(drift: float | None) -> str | None:
    if drift is None or abs(drift) <= DRIFT_LIMIT:
        return None
    return (
        f"Wall clock and monotonic clock differ by {abs(drift):.2%} over the run: the machine slept, or its "
        "clock was set."
    )


def _heat(worst: str | None) -> str | None:
    if worst in {None, "nominal"}:
        return None
    return f"The machine ran hot: thermal pressure reached {worst}."


def _throttled(reasons: Sequence[str]) -> str | None:
    harmful = [reason for reason in reasons if reason in HARMFUL or reason == "cpu thermal throttle"]
    return f"The clocks were held down: {', '.join(harmful)}." if harmful else None


def _swapping(start_bytes: int | None, end_bytes: int | None) -> str | None:
    if start_bytes is None or end_bytes is None or end_bytes - start_bytes <= SWAP_GROWTH_BYTES:
        return None
    return f"The system swapped {(end_bytes - start_bytes) / 1e9:.1f} GB out during the run."


def _pressure(worst: str | None) -> str | None:
    return f"Memory pressure reached {worst}." if worst in {"warning", "critical"} else None


def _busy(pct: float | None) -> str | None:
    if pct is None or pct <= BUSY_PCT:
        return None
    return f"Another process used {pct:.0f} % of a core."


def _shared_gpu(others: int | None) -> str | None:
    if not others:
        return None
    return f"{others} other process{'es' if others > 1 else ''} computed on the same GPU."
