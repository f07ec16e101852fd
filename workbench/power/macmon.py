"""`macmon pipe` on macOS, if it is on the PATH: the whole machine (SMC) and the chip's rails, without root.

macmon prints 0 for what it cannot read: a whole-machine figure of 0 is missing, not 0 W. Its figure for the
whole machine is the larger of the SMC's and its own rails, so equality of the two says nothing.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.power.feed import Keyed, ProcessFeed
from workbench.power.source import Feed, Method, PowerSource, Row, Sample, Sink
from workbench.power.sudoers import first_line
from workbench.power.surroundings import Surroundings

NAME = "macmon"
INTERVAL_MS = 500
LINE_LIMIT_BYTES = 2**20

SYSTEM = Row(
    key="macmon-system",
    source=NAME,
    area="whole machine",
    kind="SMC estimate behind the power supply",
    parts=("system",),
    watched=("system",),
    never=("psu",),
    whole_machine=True,
    method=Method.TRAPEZOID,
    cadence_s=INTERVAL_MS / 1000,
)
RAILS = Row(
    key=NAME,
    source=NAME,
    area="SoC",
    kind="Apple estimate without root",
    parts=("cpu", "gpu", "ane", "dram"),
    watched=("cpu", "gpu", "dram"),
    method=Method.TRAPEZOID,
    cadence_s=2.2,
)
FIELDS = {
    "cpu": "cpu_power",
    "gpu": "gpu_power",
    "ane": "ane_power",
    "dram": "ram_power",
    "system": "sys_power",
}
NESTED = {"cpu": "cpu", "gpu": "gpu", "ane": "ane", "dram": "ram", "system": "board"}


def look(place: Surroundings) -> PowerSource | str:
    """The source, or why it cannot be used."""
    if not place.is_mac:
        return "it runs on macOS"
    path = place.which(NAME)
    if path is None:
        return "not on the PATH; `brew install macmon` adds it, no root needed"
    return Macmon(place, path)


@dataclass(frozen=True, slots=True)
class Macmon:
    """The program at `path`."""

    place: Surroundings
    path: str
    interval_ms: int = INTERVAL_MS
    name: str = NAME
    rows: tuple[Row, ...] = (SYSTEM, RAILS)

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """Start it; one line of JSON every `interval_ms`, and a count that ends it."""
        lines = JsonLines()
        count = math.ceil(limit_s * 1000 / self.interval_ms)

        def digest(data: bytes, at_ns: int) -> Keyed:
            for line in lines.feed(data):
                yield from read_line(line, at_ns)

        def explain(status: int, complaint: str) -> str:
            said = f": {first_line(complaint)}" if complaint else ""
            return f"macmon ended with exit status {status} after {lines.read} lines{said}"

        status, said = self.place.run([self.path, "--version"], 1.0)
        if status == 0:
            sink.version(first_line(said))
        argv = [self.path, "pipe", "-s", str(count), "-i", str(self.interval_ms)]
        return ProcessFeed(argv, digest, explain, sink)


class JsonLines:
    """Bytes cut into objects, one a line; what is no JSON object is skipped."""

    def __init__(self) -> None:
        self.read = 0
        self._buffer = b""

    def feed(self, data: bytes) -> Iterator[Mapping[str, Any]]:
        """The objects whose line `data` completes."""
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        if len(self._buffer) > LINE_LIMIT_BYTES:
            self._buffer = b""
        for line in lines:
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                self.read += 1
                yield found


def read_line(line: Mapping[str, Any], at_ns: int) -> Keyed:
    """Both rows of one line; flat names, or grouped under `power` as the library's newer form has them."""
    power = line.get("power")
    group, names = (power, NESTED) if isinstance(power, dict) else (line, FIELDS)
    watts = {rail: w for rail, field in names.items() if (w := _watts(group.get(field))) is not None}
    gpu_mhz = _watts(line.get("gpu_freq_mhz"))
    system = watts.pop("system", 0.0)
    if system > 0:
        yield SYSTEM.key, Sample(at_ns, {"system": system})
    if watts:
        yield RAILS.key, Sample(at_ns, watts, gpu_mhz=gpu_mhz)


def _watts(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value)
    return number if math.isfinite(number) and number >= 0 else None
