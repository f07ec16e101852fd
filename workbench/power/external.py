"""A plug or meter of the user's own: watts they type or a command that prints them; with how it was measured.

The best scope there is: everything behind the plug. The command is started without a shell, its first number
is watts; it is never given a terminal.
"""

import math
import re
import shlex
import threading
import time
from dataclasses import dataclass

from workbench.errors import PowerError, UsageError
from workbench.power.feed import Keyed, PollFeed
from workbench.power.source import Feed, Method, PowerSource, Row, Sample, Sink
from workbench.power.sudoers import first_line
from workbench.power.surroundings import quick

NAME = "external"
COMMAND_TIMEOUT_S = 5.0
MAX_W = 100_000.0
NUMBER = re.compile(
    r"(?<![\w.-])(\d+(?:\.\d+)?|\.\d+)([eE][+-]?\d{1,2})?\s*(kW|mW|W|watts?)?(?![\w.])", re.IGNORECASE
)
UNITS = {"kw": 1000.0, "w": 1.0, "watt": 1.0, "watts": 1.0}


@dataclass(frozen=True, slots=True)
class External:
    """A meter: exactly one of `watts` and `command`, and `method`: what measures, where, and how.

    `interval_s` is how often the command is asked, not faster than the meter has a new figure.
    """

    method: str
    watts: float | None = None
    command: str | None = None
    interval_s: float = 1.0


def source(meter: External) -> PowerSource:
    """The meter as a source; UsageError when it says too little or nonsense."""
    method = " ".join(meter.method.split())
    if not method or not method.isprintable():
        raise UsageError(
            "A power meter needs its method in words.",
            "Say what measures and where, for example: Shelly plug, Mac Studio without monitor.",
        )
    if (meter.watts is None) == (meter.command is None):
        raise UsageError(
            "A power meter is either typed watts or a command that prints them.", "Give one of the two."
        )
    if meter.watts is not None:
        if not (math.isfinite(meter.watts) and 0 < meter.watts <= MAX_W):
            raise UsageError(
                f"{meter.watts:g} is no number of watts that a machine draws.", "Type watts, for example 143."
            )
        return Typed(meter.watts, method)
    if not 0.1 <= meter.interval_s <= 60:
        raise UsageError(
            f"Asking a meter every {meter.interval_s:g} s makes no sense.", "Choose 0.1 to 60 s."
        )
    try:
        argv = tuple(shlex.split(meter.command or ""))
    except ValueError as error:
        raise UsageError(f"The meter's command cannot be read: {error}.", "Check its quotes.") from None
    if not argv:
        raise UsageError("The meter's command is empty.", "Name a command that prints watts.")
    return Command(argv, method, meter.interval_s)


def _row(kind: str, method: str, cadence_s: float) -> Row:
    return Row(
        key=NAME,
        source=NAME,
        area="external meter",
        kind=f"{kind}: {method}",
        parts=("system",),
        watched=("system",),
        is_estimate=False,
        whole_machine=True,
        method=Method.TRAPEZOID,
        cadence_s=cadence_s,
    )


@dataclass(frozen=True, slots=True)
class Typed:
    """One figure that the user read off their meter: it stands for the whole run, never a valid claim."""

    watts: float
    method: str
    name: str = NAME

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row; nothing new is ever published, so no window is long enough for a valid claim."""
        return (_row("typed", self.method, math.inf),)

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """One sample, at once."""

        def poll() -> Keyed:
            yield NAME, Sample(time.perf_counter_ns(), {"system": self.watts})

        return PollFeed(limit_s + 1, poll, sink, limit_s=limit_s, name="power typed")


@dataclass(frozen=True, slots=True)
class Command:
    """A command that prints watts, asked every `interval_s`."""

    argv: tuple[str, ...]
    method: str
    interval_s: float = 1.0
    name: str = NAME

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row."""
        return (_row("command", self.method, self.interval_s),)

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """Start asking; the first answer that is no number ends it."""
        closing = threading.Event()

        def poll() -> Keyed:
            before_ns = time.perf_counter_ns()
            status, said = quick(self.argv, COMMAND_TIMEOUT_S, closing.is_set)
            at_ns = (before_ns + time.perf_counter_ns()) // 2
            if status != 0:
                raise PowerError(f"{self.argv[0]} failed with exit status {status}: {first_line(said)}")
            watts = watts_in(said)
            if watts is None:
                raise PowerError(f"{self.argv[0]} printed no watts: {first_line(said)!r}")
            yield NAME, Sample(at_ns, {"system": watts})

        return PollFeed(
            self.interval_s, poll, sink, limit_s=limit_s, name="power meter command", closing=closing
        )


def watts_in(text: str) -> float | None:
    """The watts that `text` states: `41.5`, `41.5 W`, `0.04 kW`, `41500 mW`.

    The first number with a unit, else the only number there is; None when neither exists or several stand
    there without a unit.
    """
    found = list(NUMBER.finditer(text))
    united = [number for number in found if number.group(3)]
    if not united and len(found) != 1:
        return None
    number = (united or found)[0]
    unit = number.group(3) or "W"
    factor = 1e-3 if unit[0] == "m" else UNITS.get(unit.lower(), math.inf)
    watts = float(number.group(1) + (number.group(2) or "")) * factor
    return watts if 0 <= watts <= MAX_W else None
