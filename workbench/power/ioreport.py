"""macOS IOReport without root, through the package `zeus-apple-silicon`: the chip's rails and DRAM.

CPU, DRAM and ANE are *published* in batches about 2.2 s apart (measured on M5 Max and M1 Ultra), the GPU at
each read: so the rails together need a 44 s window and the GPU, a row of its own, 10 s. On Ultra chips the
package's CPU total counts one of two dies: there the clusters are added up, or the rail stays out.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

from workbench.power.feed import Keyed, PollFeed
from workbench.power.source import Feed, Method, PowerSource, Row, Sample, Sink, watts_of
from workbench.power.surroundings import Surroundings

NAME = "ioreport"
PACKAGE = "zeus-apple-silicon"
MODULE = "zeus_apple_silicon"
BATCH_S = 2.2
INTERVAL_S = 0.25
ULTRA_NOTE = "two dies: the CPU rail is the sum of the clusters, or missing"
ULTRA_CLUSTERS = 4  # two dies of at least one efficiency and one performance cluster each

ALL = Row(
    key=NAME,
    source=NAME,
    area="SoC",
    kind="Apple estimate without root",
    parts=("cpu", "gpu", "ane", "dram"),
    watched=("cpu", "gpu", "dram"),
    method=Method.COUNTER,
    cadence_s=BATCH_S,
)
GPU = Row(
    key="ioreport-gpu",
    source=NAME,
    area="SoC GPU only",
    kind="Apple estimate without root",
    parts=("gpu",),
    never=("cpu", "ane", "dram"),
    watched=("gpu",),
    method=Method.COUNTER,
    cadence_s=INTERVAL_S,
)


def look(place: Surroundings) -> PowerSource | str:
    """The source, or why it cannot be used."""
    if not place.is_mac:
        return "it is part of macOS"
    if not place.has_module(MODULE):
        return f"the package {PACKAGE} is not installed; `pip install {PACKAGE}` adds it, no root needed"
    _, chip = place.run(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"], 1.0)
    return IOReport(place, is_ultra="Ultra" in chip)


@dataclass(frozen=True, slots=True)
class IOReport:
    """The energy monitor of `zeus-apple-silicon`, read as a cumulative counter."""

    place: Surroundings
    is_ultra: bool = False
    interval_s: float = INTERVAL_S
    name: str = NAME

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rails together, and the GPU alone, which is published at every read."""
        return (replace(ALL, notes=(ULTRA_NOTE,)) if self.is_ultra else ALL, GPU)

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """Start reading."""
        reader = _Reader(self.place, self.is_ultra, sink)
        return PollFeed(
            self.interval_s, reader.poll, sink, opened=reader.open, limit_s=limit_s, name="power ioreport"
        )


class _Reader:
    """Turns the cumulative millijoules into intervals. Lives on the feed's thread."""

    def __init__(self, place: Surroundings, is_ultra: bool, sink: Sink) -> None:
        self._place = place
        self._is_ultra = is_ultra
        self._sink = sink
        self._monitor: Any = None
        self._last: tuple[int, dict[str, float]] | None = None

    def open(self) -> None:
        self._monitor = self._place.load_module(MODULE).AppleEnergyMonitor()
        self._sink.version(_version())

    def poll(self) -> Keyed:
        before_ns = time.perf_counter_ns()
        metrics = self._monitor.get_cumulative_energy()
        at_ns = (before_ns + time.perf_counter_ns()) // 2
        totals_mj = rails_of(metrics, is_ultra=self._is_ultra)
        last, self._last = self._last, (at_ns, totals_mj)
        if last is not None and at_ns > last[0]:
            yield from _between(last, (at_ns, totals_mj))


def _between(
    last: tuple[int, dict[str, float]], now: tuple[int, dict[str, float]]
) -> Iterator[tuple[str, Sample]]:
    elapsed_ns = now[0] - last[0]
    grown = {rail: mj - last[1][rail] for rail, mj in now[1].items() if rail in last[1]}
    rails_mj = {rail: mj for rail, mj in grown.items() if mj >= 0}
    for key, rails in ((ALL.key, rails_mj), (GPU.key, {r: mj for r, mj in rails_mj.items() if r == "gpu"})):
        if rails:
            watts = {rail: watts_of(mj, elapsed_ns) for rail, mj in rails.items()}
            yield key, Sample(now[0], watts, elapsed_ns, rails)


def rails_of(metrics: Any, *, is_ultra: bool) -> dict[str, float]:
    """Cumulative mJ by rail; what the chip does not give is left out.

    On a two-die chip `cpu_total_mj` is the last die's (the package overwrites it), so the cluster totals are
    added up; fewer of them than two dies have means that they were not recognised, and the rail stays out.
    """
    cpu = getattr(metrics, "cpu_total_mj", None)
    if is_ultra:
        clusters = [
            mj
            for name in ("efficiency_cluster_mj", "performance_cluster_mj")
            for mj in (getattr(metrics, name, None) or [])
        ]
        cpu = sum(clusters) if len(clusters) >= ULTRA_CLUSTERS else None
    found = {
        "cpu": cpu,
        "gpu": getattr(metrics, "gpu_mj", None),
        "ane": getattr(metrics, "ane_mj", None),
        "dram": getattr(metrics, "dram_mj", None),
    }
    return {rail: float(mj) for rail, mj in found.items() if mj is not None and mj >= 0}


def _version() -> str:
    try:
        return f"{PACKAGE} {metadata.version(PACKAGE)}"
    except metadata.PackageNotFoundError:
        return PACKAGE
