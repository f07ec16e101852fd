"""Linux RAPL (`/sys/class/powercap`): the CPU package's energy counters, where the kernel lets us read them.

Current kernels make them readable to root only. The counters wrap at `max_energy_range_uj`.
"""

import re
import time
from dataclasses import dataclass
from pathlib import Path

from workbench.power.feed import Keyed, PollFeed
from workbench.power.source import Feed, Method, PowerSource, Row, Sample, Sink, watts_of
from workbench.power.surroundings import Surroundings, text_of

NAME = "rapl"
INTERVAL_S = 0.25
RAILS = {"package": "cpu", "dram": "dram"}

ROW = Row(
    key=NAME,
    source=NAME,
    area="host",
    kind="RAPL counter",
    parts=("cpu", "dram"),
    usual=("cpu",),
    never=("gpu",),
    watched=("cpu", "dram"),
    method=Method.COUNTER,
    cadence_s=INTERVAL_S,
    needs_root=True,
)


def look(place: Surroundings) -> PowerSource | str:
    """The source, or why it cannot be used."""
    zones = zones_below(place.root)
    if not zones:
        return "no RAPL counters in /sys/class/powercap (a virtual machine, or not an x86 CPU)"
    readable = [zone for zone in zones if _read(zone.counter) is not None]
    if not readable:
        return f"{zones[0].counter} is readable by root only"
    return Rapl(tuple(readable))


@dataclass(frozen=True, slots=True)
class Zone:
    """One counter, the rail it belongs to, and where it wraps (microjoules)."""

    rail: str
    counter: Path
    wraps_at_uj: int


@dataclass(frozen=True, slots=True)
class Rapl:
    """The readable zones: packages and their DRAM."""

    zones: tuple[Zone, ...]
    interval_s: float = INTERVAL_S
    name: str = NAME
    rows: tuple[Row, ...] = (ROW,)

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """Start reading."""
        last: tuple[int, dict[Path, int]] | None = None

        def poll() -> Keyed:
            nonlocal last
            at_ns = time.perf_counter_ns()
            read = {zone.counter: _read(zone.counter) for zone in self.zones}
            now = (at_ns, {path: uj for path, uj in read.items() if uj is not None})
            before, last = last, now
            if before is None or at_ns <= before[0]:
                return
            rails_mj: dict[str, float] = {}
            for zone in self.zones:
                if zone.counter not in now[1] or zone.counter not in before[1]:
                    raise OSError(f"{zone.counter} can no longer be read")
                grown_uj = now[1][zone.counter] - before[1][zone.counter]
                if grown_uj < 0:
                    grown_uj += zone.wraps_at_uj
                rails_mj[zone.rail] = rails_mj.get(zone.rail, 0.0) + grown_uj / 1000
            elapsed_ns = at_ns - before[0]
            watts = {rail: watts_of(mj, elapsed_ns) for rail, mj in rails_mj.items()}
            yield NAME, Sample(at_ns, watts, elapsed_ns, rails_mj)

        return PollFeed(self.interval_s, poll, sink, limit_s=limit_s, name="power rapl")


def zones_below(root: Path) -> list[Zone]:
    """Package and DRAM zones; the cores and the integrated GPU are inside the package and left out."""
    found = []
    for name in sorted((root / "sys/class/powercap").glob("intel-rapl:*/name")):
        kind = re.sub(r"-?\d+$", "", (text_of(name) or ""))
        counter = name.parent / "energy_uj"
        if kind in RAILS and counter.exists():
            found.append(Zone(RAILS[kind], counter, _read(name.parent / "max_energy_range_uj") or 2**32))
    return found


def _read(path: Path) -> int | None:
    text = text_of(path)
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
