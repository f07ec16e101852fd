"""Which power sources this machine has, in order, and for each one that it lacks: why, and what would help.

Looking is cheap and changes nothing: no measurement starts, no driver is initialised, nobody is asked for a
password. A source that turns out not to work says so when the meter opens it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from workbench.errors import PowerError
from workbench.power import battery, external, ioreport, macmon, nvml, powermetrics, rapl
from workbench.power.external import External
from workbench.power.source import PowerSource, Row
from workbench.power.surroundings import Surroundings, here


class LookedFor(NamedTuple):
    """A source that is not there, and why, in words that help."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The sources to use together, best attribution first, and what was looked for in vain."""

    sources: tuple[PowerSource, ...]
    looked_for: tuple[LookedFor, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every row of every source: side by side, never added."""
        return tuple(row for source in self.sources for row in source.rows)

    @property
    def window_needed_s(self) -> float:
        """Seconds of decode after which at least one row can hold a valid claim; 10 when there is no row."""
        needed = (row.window_needed_s for row in self.rows)
        return min((s for s in needed if math.isfinite(s)), default=10.0)

    @property
    def window_for_all_s(self) -> float:
        """Seconds of decode after which every row that can hold a valid claim does (typed watts cannot)."""
        needed = (row.window_needed_s for row in self.rows)
        return max((s for s in needed if math.isfinite(s)), default=10.0)

    @property
    def unavailable_reason(self) -> str | None:
        """None when there is a source; else a paragraph: what was looked for, why each failed, what helps."""
        if self.sources:
            return None
        tried = " ".join(f"{name}: {why}." for name, why in self.looked_for)
        return f"No power source on this machine. {tried} {METER_HELPS}"


SEEKERS: dict[str, dict[str, Callable[[Surroundings], PowerSource | str]]] = {
    "Darwin": {
        "powermetrics": powermetrics.look,
        "ioreport": ioreport.look,
        "macmon": macmon.look,
        "battery": battery.look,
    },
    "Linux": {"nvml": nvml.look, "rapl": rapl.look, "battery": battery.look},
}
METER_HELPS = "A plug or a meter always works: type its watts, or name a command that prints them."


def look(place: Surroundings | None = None, meter: External | None = None) -> Choice:
    """What can measure power here. `meter` is a plug or meter of the user's own: it comes first.

    Order: the user's meter, then on macOS powermetrics, IOReport, macmon, battery; on Linux NVML, RAPL,
    battery. All that are there are used together: their scopes differ, and that is the point.
    """
    place = place or here()
    sources: list[PowerSource] = []
    looked_for: list[LookedFor] = []
    if meter is not None:
        sources.append(external.source(meter))
    seekers = SEEKERS.get(place.system, {})
    if not seekers:
        looked_for.append(LookedFor("sensors", f"none are known for {place.system or 'this system'}"))
    for name, seek in seekers.items():
        found = seek(place)
        if isinstance(found, str):
            looked_for.append(LookedFor(name, found))
        else:
            sources.append(found)
    return Choice(tuple(sources), tuple(looked_for))


def required(choice: Choice) -> Choice:
    """The same choice, or PowerError (exit 5) with what was looked for when it is empty."""
    if choice.sources:
        return choice
    tried = " ".join(f"{name}: {why}." for name, why in choice.looked_for)
    raise PowerError(f"No power source on this machine. {tried}", METER_HELPS)
