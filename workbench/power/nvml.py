"""NVIDIA GPUs through `nvidia-ml-py`: the board's energy counter and its instant power, both kept as rows.

Both move every 100 ms (measured on an H200). `nvmlDeviceGetPowerUsage` is a mean over about a second: it is
never used. The counter and the integrated power of one window may differ; more than 5 % is flagged.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import PowerError
from workbench.power.feed import Keyed, PollFeed
from workbench.power.source import Feed, Method, PowerSource, Row, Sample, Sink, watts_of
from workbench.power.surroundings import Surroundings

NAME = "nvml"
COUNTER, INSTANT = f"{NAME}-counter", f"{NAME}-instant"
MODULE = "pynvml"
TICK_S = 0.1
INTERVAL_S = 0.05
INSTANT_FIELD = 186  # NVML_FI_DEV_POWER_INSTANT
NO_ACCESS = "the NVIDIA driver answers, but `pynvml` is missing; `pip install nvidia-ml-py` adds it"
SLOWED = {
    0x4: "sw power cap",
    0x8: "hw slowdown",
    0x20: "sw thermal slowdown",
    0x40: "hw thermal slowdown",
    0x80: "hw power brake slowdown",
}
"""Bits of nvmlClocksEventReasons (nvml.h) that hold clocks down; the words are those of the conditions."""


def look(place: Surroundings) -> PowerSource | str:
    """The source, or why it cannot be used. Looks for the driver's files; initialises nothing."""
    if not place.is_linux:
        return "it needs an NVIDIA GPU under Linux"
    signs = ("dev/nvidiactl", "proc/driver/nvidia/version", "usr/lib/wsl/lib/libnvidia-ml.so.1")
    if not any((place.root / sign).exists() for sign in signs):
        return "no NVIDIA driver here"
    if not place.has_module(MODULE):
        return NO_ACCESS
    return Nvml(place, gpu=chosen(place.environ))


def chosen(environ: Mapping[str, str]) -> str:
    """The GPU that a CUDA program would use first: CUDA_VISIBLE_DEVICES' first entry, or index 0."""
    first = environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    return first or "0"


@dataclass(frozen=True, slots=True)
class Nvml:
    """One GPU, by index or UUID."""

    place: Surroundings
    gpu: str = "0"
    interval_s: float = INTERVAL_S
    name: str = NAME

    @property
    def rows(self) -> tuple[Row, ...]:
        """The energy counter, and instant power: one scope, two methods."""
        counter = Row(
            key=COUNTER,
            source=NAME,
            area=f"GPU board {self.gpu}",
            kind="energy counter",
            parts=("board",),
            never=("host",),
            watched=("board",),
            is_estimate=False,
            method=Method.COUNTER,
            cadence_s=TICK_S,
        )
        instant = replace(
            counter, key=INSTANT, kind="instant power", method=Method.TRAPEZOID, tells_throttle=True
        )
        return (counter, instant)

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """Start reading."""
        reader = _Reader(self.place, self.gpu, sink)
        return PollFeed(
            self.interval_s,
            reader.poll,
            sink,
            opened=reader.open,
            closed=reader.close,
            limit_s=limit_s,
            name="power nvml",
        )


class _Reader:
    """One GPU's handle, on the feed's thread."""

    def __init__(self, place: Surroundings, gpu: str, sink: Sink) -> None:
        self._place = place
        self._gpu = gpu
        self._sink = sink
        self._nvml: Any = None
        self._handle: Any = None
        self._instant = False
        self._counts = False
        self._last: tuple[int, int] | None = None
        self._last_watts_ns = 0
        self._lost = False

    def open(self) -> None:
        """Initialise NVML, find the GPU, try what it offers; PowerError in words when there is nothing."""
        nvml = self._nvml = self._place.load_module(MODULE)
        nvml.nvmlInit()
        if self._gpu.upper().startswith(("GPU-", "MIG-")):
            self._handle = nvml.nvmlDeviceGetHandleByUUID(self._gpu)
        elif self._gpu.isdigit():
            self._handle = nvml.nvmlDeviceGetHandleByIndex(int(self._gpu))
        else:
            raise PowerError(f"CUDA_VISIBLE_DEVICES names no GPU: {self._gpu!r}")
        board, driver = nvml.nvmlDeviceGetName(self._handle), nvml.nvmlSystemGetDriverVersion()
        self._sink.version(f"{_text(board)}, driver {_text(driver)}")
        self._instant = self._instant_w() is not None
        if not self._instant:
            self._sink.ended(
                "no instant power on this GPU; its mean over about a second is not used", INSTANT
            )
        try:
            nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle)
            self._counts = True
        except nvml.NVMLError as error:
            self._sink.ended(f"no energy counter on this GPU ({error})", COUNTER)
        if not (self._instant or self._counts):
            raise PowerError("this GPU offers neither an energy counter nor instant power")

    def close(self) -> None:
        self._nvml.nvmlShutdown()

    def poll(self) -> Keyed:
        """A sample of each row, whenever a new figure is there: about every 100 ms."""
        at_ns = time.perf_counter_ns()
        if self._instant and at_ns - self._last_watts_ns >= TICK_S * 1e9 * 0.9:
            watts = self._instant_w()
            if watts is not None:
                self._last_watts_ns = at_ns
                yield (
                    INSTANT,
                    Sample(at_ns, {"board": watts}, gpu_mhz=self._mhz(), throttle=self._throttle()),
                )
        if self._counts:
            before_ns = time.perf_counter_ns()
            total_mj = int(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle))
            at_ns = (before_ns + time.perf_counter_ns()) // 2
            last = self._last
            if last is None or total_mj != last[1]:
                self._last = (at_ns, total_mj)
            if last is not None and total_mj != last[1]:
                yield from self._counted(at_ns, total_mj - last[1], at_ns - last[0])

    def _counted(self, at_ns: int, grown_mj: int, elapsed_ns: int) -> Keyed:
        if grown_mj < 0:  # the driver started again
            self._lost = True
            return
        lost, self._lost = self._lost, False
        watts = watts_of(grown_mj, elapsed_ns)
        yield (
            COUNTER,
            Sample(at_ns, {"board": watts}, elapsed_ns, {"board": float(grown_mj)}, after_loss=lost),
        )

    def _instant_w(self) -> float | None:
        nvml = self._nvml
        try:
            (value,) = nvml.nvmlDeviceGetFieldValues(self._handle, [INSTANT_FIELD])
        except nvml.NVMLError:
            return None
        if value.nvmlReturn != 0:
            return None
        return float(value.value.uiVal) / 1000

    def _mhz(self) -> float | None:
        try:
            return float(self._nvml.nvmlDeviceGetClockInfo(self._handle, 1))  # NVML_CLOCK_SM
        except self._nvml.NVMLError:
            return None

    def _throttle(self) -> tuple[str, ...]:
        try:
            bits = int(self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle))
        except self._nvml.NVMLError:
            return ()
        return tuple(name for bit, name in SLOWED.items() if bits & bit)


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
