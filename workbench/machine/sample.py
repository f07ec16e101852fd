"""The machine's state at one moment, as far as the system tells it without root.

A figure that is not there is None with its reason in `missing`; 0 is never used for unknown.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One moment. Clocks in seconds, sizes in bytes, clocks of the GPU in MHz.

    `thermal` is one of `macos.THERMAL_LEVELS`; `memory_pressure` is normal, warning or critical;
    `power_source` is ac or battery; `cpu_throttles` counts the CPU's thermal throttling since boot.
    """

    wall_s: float
    monotonic_s: float
    power_source: str | None = None
    low_power_mode: bool | None = None
    thermal: str | None = None
    memory_pressure: str | None = None
    load1: float | None = None
    swap_used_bytes: int | None = None
    governor: str | None = None
    cpu_throttles: int | None = None
    gpu_clock_mhz: float | None = None
    throttle_reasons: tuple[str, ...] | None = None
    gpu_pids: tuple[int, ...] | None = None
    missing: Mapping[str, str] = field(default_factory=dict)


_NAMES = {f.name for f in fields(Sample)} - {"wall_s", "monotonic_s", "missing"}


async def sampled(*, gpu: bool = False, brief: bool = False) -> Sample:
    """Sample this machine now. `gpu` asks the NVIDIA driver too; `brief` leaves out what a run cannot change.

    A brief sample costs at most two short commands on macOS and a few file reads on Linux.
    """
    now = Sample(wall_s=time.time(), monotonic_s=time.monotonic())
    if sys.platform == "darwin":
        from workbench.machine import macos

        now = with_readings(now, await macos.readings(brief=brief))
    else:
        from workbench.machine import linux

        now = with_readings(now, linux.readings())
    if gpu:
        from workbench.machine import nvidia

        now = with_readings(now, nvidia.readings())
    return now


def with_readings(sample: Sample, readings: Mapping[str, Any]) -> Sample:
    """The sample with readings by field name; a string under `missing.NAME` says why NAME is not there."""
    missing = dict(sample.missing)
    values = {}
    for name, value in readings.items():
        if name.startswith("missing."):
            missing[name.removeprefix("missing.")] = value
        elif name in _NAMES and value is not None:
            values[name] = value
    return replace(sample, **values, missing=missing)
