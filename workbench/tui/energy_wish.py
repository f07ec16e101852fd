"""What a user asks of an energy pass: how long, after how much idle, with which meter. Pure.

Without a meter of their own the sources of this machine measure it.
"""

from dataclasses import dataclass

from workbench.errors import UsageError
from workbench.power.choice import METER_HELPS, Choice
from workbench.power.external import External, source

IDLE_S = 20.0
MOST_S = 3600.0


@dataclass(frozen=True, slots=True)
class EnergyWish:
    """One energy pass: `window_s` of steady decode, with `idle_s` of idle before it."""

    window_s: float
    idle_s: float = IDLE_S
    meter: External | None = None


def parse_wish(window: str, idle: str, watts: str, method: str, choice: Choice) -> EnergyWish | None:
    """The wish that four boxes state; None for a window of 0: no energy pass.

    An empty window is what every source here needs, an empty idle 20 s. `watts` is a number, or a command
    that prints one. Raises `UsageError` with a sentence that can be shown below the boxes.
    """
    meter = _meter(watts, method)
    window_s = _seconds(window, "window", choice.window_for_all_s)
    if window_s == 0:
        return None
    if meter is None and not choice.sources:
        raise UsageError("Nothing here measures power.", METER_HELPS)
    return EnergyWish(window_s, _seconds(idle, "idle", IDLE_S), meter)


def used(found: Choice, wish: EnergyWish | None) -> Choice:
    """The sources that measure the wish: the user's own meter first."""
    if wish is None or wish.meter is None:
        return found
    return Choice((source(wish.meter), *found.sources), found.looked_for)


def _seconds(text: str, what: str, default: float) -> float:
    if not text.strip():
        return default
    try:
        seconds = float(text.strip().removesuffix("s"))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_S:
        raise UsageError(f"The {what} is a number of seconds from 0 to {MOST_S:,.0f}.", "For example 44.")
    return seconds


def _meter(watts: str, method: str) -> External | None:
    if not watts.strip():
        if method.strip():
            raise UsageError(
                "A meter is named without its watts.", "Type watts, or a command that prints them."
            )
        return None
    try:
        meter = External(method, watts=float(watts.strip().removesuffix("W")))
    except ValueError:
        meter = External(method, command=watts.strip())
    source(meter)  # says what is wrong with it
    return meter
