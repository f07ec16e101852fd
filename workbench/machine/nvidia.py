"""What the NVIDIA driver tells of the GPU in use: clock, throttle reasons, who else computes on it; its bus.

`pynvml` (nvidia-ml-py) is looked for when asked, never imported with this file.
"""

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_REASONS = {
    0x1: "gpu idle",
    0x2: "applications clocks setting",
    0x4: "sw power cap",
    0x8: "hw slowdown",
    0x10: "sync boost",
    0x20: "sw thermal slowdown",
    0x40: "hw thermal slowdown",
    0x80: "hw power brake slowdown",
    0x100: "display clock setting",
}
"""Bits of nvmlClocksEventReasons (nvml.h)."""

HARMFUL = {"hw slowdown", "sw thermal slowdown", "hw thermal slowdown", "hw power brake slowdown"}
"""Reasons that mean heat or a failing supply; the others are how the board is set up."""

_WANTED = ("gpu_clock_mhz", "throttle_reasons", "gpu_pids")


def readings(nvml: Any = None) -> dict[str, Any]:
    """Readings for a `Sample`; `nvml` is the pynvml module (looked for when None)."""
    try:
        with _gpu(nvml) as (driver, device):
            return _of_device(driver, device)
    except _NoAnswerError as error:
        return {f"missing.{name}": str(error) for name in _WANTED}


def memory_bus(nvml: Any = None) -> tuple[int, float] | None:
    """Width in bits and highest memory clock in MHz of the GPU in use; None where the driver does not say."""
    try:
        with _gpu(nvml) as (driver, device):
            width_bits = int(driver.nvmlDeviceGetMemoryBusWidth(device))
            return width_bits, float(driver.nvmlDeviceGetMaxClockInfo(device, driver.NVML_CLOCK_MEM))
    except _NoAnswerError:
        return None


def reason_names(bits: int) -> tuple[str, ...]:
    """The names of the clock event reasons set in `bits`, lowest bit first."""
    return tuple(name for bit, name in _REASONS.items() if bits & bit)


def _of_device(nvml: Any, device: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    reasons: Any = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
    reasons = reasons or nvml.nvmlDeviceGetCurrentClocksThrottleReasons  # its name before driver 535
    questions: dict[str, Callable[[], Any]] = {
        "gpu_clock_mhz": lambda: float(nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_SM)),
        "throttle_reasons": lambda: reason_names(int(reasons(device))),
        "gpu_pids": lambda: tuple(p.pid for p in nvml.nvmlDeviceGetComputeRunningProcesses(device)),
    }
    for name, ask in questions.items():
        try:
            found[name] = ask()
        except nvml.NVMLError as error:
            found[f"missing.{name}"] = f"the NVIDIA driver did not say: {error}"
    return found


class _NoAnswerError(Exception):
    """Why the driver said nothing, in words."""


@contextmanager
def _gpu(nvml: Any) -> Iterator[tuple[Any, Any]]:
    """The driver's module and the first GPU that CUDA_VISIBLE_DEVICES lets a process see."""
    if nvml is None:
        try:
            nvml = importlib.import_module("pynvml")
        except ImportError as error:
            raise _NoAnswerError("nvidia-ml-py is not installed") from error
    try:
        nvml.nvmlInit()
        try:
            yield nvml, _device(nvml)
        finally:
            nvml.nvmlShutdown()
    except nvml.NVMLError as error:
        raise _NoAnswerError(f"the NVIDIA driver did not answer: {error}") from error


def _device(nvml: Any) -> Any:
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    if first.startswith("GPU-"):
        return nvml.nvmlDeviceGetHandleByUUID(first)
    return nvml.nvmlDeviceGetHandleByIndex(int(first) if first.isdigit() else 0)
