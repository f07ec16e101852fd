"""What one powermetrics document says: rails in mJ over its own interval, GPU clock, thermal pressure.

Field names as seen from macOS 11 to 26: `processor` (absent in virtual machines) with `cpu_energy`,
`gpu_energy`, `ane_energy`, up to macOS 12 also `dram_energy` and `package_energy`; a document of the GPU
sampler alone has `gpu.gpu_energy` only. On M4 (26.7) and M3 Max (26.6) power equals energy / elapsed to six
digits, so the integer counters are the truth and the watts follow from them.
"""

import math
import plistlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.parsers.expat import ExpatError

from workbench.power.source import Sample, watts_of

RAILS = ("cpu", "gpu", "ane", "dram", "package")


@dataclass(frozen=True, slots=True)
class Document:
    """One interval. `rails_mj` holds only what the document states; `package` includes the other rails."""

    elapsed_ns: int
    rails_mj: Mapping[str, float]
    hw_model: str | None = None
    os_build: str | None = None
    gpu_mhz: float | None = None
    thermal: str | None = None

    def sample(self, at_ns: int, *, after_loss: bool = False) -> Sample:
        """The document as a sample that arrived at `at_ns`."""
        return Sample(
            at_ns=at_ns,
            rails_w={rail: watts_of(mj, self.elapsed_ns) for rail, mj in self.rails_mj.items()},
            elapsed_ns=self.elapsed_ns,
            rails_mj=self.rails_mj,
            after_loss=after_loss,
            gpu_mhz=self.gpu_mhz,
            thermal=self.thermal,
        )


def read_document(plist: bytes) -> Document | None:
    """The document in `plist`, None when it is damaged or no powermetrics document."""
    try:
        top = plistlib.loads(plist, fmt=plistlib.FMT_XML)
    except (ExpatError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return None
    if not isinstance(top, dict):
        return None
    elapsed_ns = top.get("elapsed_ns")
    if not isinstance(elapsed_ns, int) or isinstance(elapsed_ns, bool) or elapsed_ns <= 0:
        return None
    processor, gpu = _dict(top, "processor"), _dict(top, "gpu")
    rails_mj = {}
    for rail in RAILS:
        energy_mj = _energy(processor, rail, elapsed_ns)
        if energy_mj is None and rail == "gpu":
            energy_mj = _energy(gpu, rail, elapsed_ns)
        if energy_mj is not None:
            rails_mj[rail] = energy_mj
    return Document(
        elapsed_ns=elapsed_ns,
        rails_mj=rails_mj,
        hw_model=_text(top, "hw_model"),
        os_build=_text(top, "kern_osversion"),
        gpu_mhz=_mhz(_number(gpu, "freq_hz")),
        thermal=_text(top, "thermal_pressure"),
    )


def _energy(group: Mapping[str, Any], rail: str, elapsed_ns: int) -> float | None:
    """Millijoules of a rail: its counter, or its milliwatts times the interval where only those are given."""
    energy_mj = _number(group, f"{rail}_energy")
    if energy_mj is not None:
        return energy_mj
    power_mw = _number(group, f"{rail}_power")
    return None if power_mw is None else power_mw * elapsed_ns / 1e9


def _number(group: Mapping[str, Any], key: str) -> float | None:
    value = group.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _mhz(freq_hz: float | None) -> float | None:
    """The GPU's `freq_hz` holds MHz on every system seen; a value that can only be Hz is converted."""
    if freq_hz is None:
        return None
    return freq_hz / 1e6 if freq_hz > 1e5 else freq_hz


def _dict(group: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = group.get(key)
    return value if isinstance(value, dict) else {}


def _text(group: Mapping[str, Any], key: str) -> str | None:
    value = group.get(key)
    return value if isinstance(value, str) and value.isprintable() else None
