"""The battery, while it is what feeds the machine: the whole machine's watts, slow and filtered.

macOS: `ioreg` AppleSmartBattery, volts times amperes (negative amperes come as a 64-bit wrap). Linux:
`/sys/class/power_supply/BAT*`.
"""

import plistlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from workbench.power.feed import Keyed, PollFeed
from workbench.power.source import Feed, Method, PowerSource, Row, Sample, Sink
from workbench.power.surroundings import Surroundings, text_of

NAME = "battery"
INTERVAL_S = 1.0
PUBLISHED_S = 30.0  # the gauge's own filter: a claim needs minutes
IOREG = ("/usr/sbin/ioreg", "-a", "-r", "-c", "AppleSmartBattery")
WRAP = 2**64

ROW = Row(
    key=NAME,
    source=NAME,
    area="whole machine",
    kind="battery gauge, filtered",
    parts=("system",),
    watched=("system",),
    whole_machine=True,
    method=Method.TRAPEZOID,
    cadence_s=PUBLISHED_S,
)


def look(place: Surroundings) -> PowerSource | str:
    """The source, or why it cannot be used: no battery, or it is not what feeds the machine now."""
    read = partial(mac_watts, place) if place.is_mac else partial(linux_watts, place.root)
    watts = read()
    return watts if isinstance(watts, str) else Battery(read)


@dataclass(frozen=True, slots=True)
class Battery:
    """A battery; `read` gives its watts, or why there are none now."""

    read: Callable[[], float | str]
    interval_s: float = INTERVAL_S
    name: str = NAME
    rows: tuple[Row, ...] = (ROW,)

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """Start reading; plugging the charger in ends it."""

        def poll() -> Keyed:
            watts = self.read()
            if isinstance(watts, str):
                raise OSError(watts)
            yield NAME, Sample(time.perf_counter_ns(), {"system": watts})

        return PollFeed(self.interval_s, poll, sink, limit_s=limit_s, name="power battery")


def linux_watts(root: Path) -> float | str:
    """Watts of the discharging batteries together, or why there are none."""
    batteries = sorted((root / "sys/class/power_supply").glob("BAT*"))
    if not batteries:
        return "this machine has no battery"
    discharging = [battery for battery in batteries if text_of(battery / "status") == "Discharging"]
    if not discharging:
        return "the machine runs on its charger; the battery says nothing about its power"
    total_w = 0.0
    for battery in discharging:
        power_uw = _number(battery / "power_now")
        if power_uw is None:
            volts_uv, amps_ua = _number(battery / "voltage_now"), _number(battery / "current_now")
            if volts_uv is None or amps_ua is None:
                return f"{battery} states neither power nor volts and amperes"
            power_uw = volts_uv * amps_ua / 1e6
        total_w += power_uw / 1e6
    return total_w


def mac_watts(place: Surroundings) -> float | str:
    """Watts of the Mac's battery from `ioreg`, or why there are none."""
    status, text = place.run(IOREG, 2.0)
    if status != 0:
        return f"ioreg failed with exit status {status}"
    return ioreg_watts(text.encode())


def ioreg_watts(plist: bytes) -> float | str:
    """Watts in an `ioreg -a` answer: Voltage (mV) x InstantAmperage (mA), only off the charger."""
    try:
        found = plistlib.loads(plist, fmt=plistlib.FMT_XML) if plist.strip() else []
    except (ExpatError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return "ioreg's answer could not be read"
    if not isinstance(found, list) or not found or not isinstance(found[0], dict):
        return "this Mac has no battery"
    gauge: dict[str, Any] = found[0]
    if gauge.get("ExternalConnected"):
        return "the Mac runs on its charger; the battery says nothing about its power"
    millivolts, milliamps = gauge.get("Voltage"), gauge.get("InstantAmperage", gauge.get("Amperage"))
    if not isinstance(millivolts, int) or not isinstance(milliamps, int):
        return "the battery states no volts and amperes"
    if milliamps >= WRAP // 2:
        milliamps -= WRAP
    if milliamps >= 0:
        return "the battery is not discharging"
    return millivolts * -milliamps / 1e6


def _number(path: Path) -> float | None:
    text = text_of(path)
    try:
        return abs(float(text)) if text else None
    except ValueError:
        return None
