"""The energy pass of a run: the meter is on from before its idle window to its end, and read once it is over.

Power is never sampled during the speed pass. What a source can claim is the power room's business.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from workbench.ledger.parts import PowerReading
from workbench.machine.macos import THERMAL_LEVELS
from workbench.power.choice import Choice, look
from workbench.power.claim import other_rate
from workbench.power.clocks import Alignment, align
from workbench.power.conditions import PowerConditions, conditions_over
from workbench.power.energy import Window, read_energy, window_of
from workbench.power.meter import Meter, Trace
from workbench.protocol.run import Phase, Run

SPARE_S = 120.0
"""Seconds that the meter may live beyond the pass it was asked for."""


class EnergyPass:
    """The meter around one run's energy pass: `follow` every new run, `stop` always.

    `meter` is None until the pass begins; a power pane may paint its trace from then on. Without a `choice`
    the sources are looked for when a pass is asked for. Programs take seconds to start and to end: all that
    waits for one is done on a thread, and the screens go on.
    """

    def __init__(self, choice: Choice | None = None, make: Callable[..., Meter] = Meter) -> None:
        self.meter: Meter | None = None
        self._choice = choice
        self._make = make
        self._trace: Trace | None = None
        self._switching = threading.Lock()
        self._over = False

    @property
    def choice(self) -> Choice:
        """What measures."""
        self._choice = self._choice or look()
        return self._choice

    @property
    def possible(self) -> bool:
        """Whether there is something to measure energy with."""
        return bool(self.choice.sources)

    async def look(self) -> bool:
        """Whether there is something to measure energy with, looked for first where nobody has."""
        return await asyncio.to_thread(lambda: self.possible)

    async def follow(self, run: Run) -> None:
        """Switch the meter on when the pass begins and off when its window has come."""
        if self.meter is None and run.phase in {Phase.IDLE, Phase.ENERGY} and self.possible:
            limit_s = run.plan.settings.energy_pass_s + SPARE_S
            self.meter = self._make(self.choice.sources, limit_s=limit_s)
            await asyncio.to_thread(self._switch_on, self.meter)
        elif run.energy is not None:
            await self.stop()

    async def stop(self) -> None:
        """Switch the meter off; nothing that it started is left."""
        if self.meter is not None and self._trace is None:
            self._trace = await asyncio.to_thread(self._switch_off, self.meter)

    def _switch_on(self, meter: Meter) -> None:
        with self._switching:
            if not self._over:
                meter.start()

    def _switch_off(self, meter: Meter) -> Trace:
        """A start that is going on ends first, even that of a run which was cancelled meanwhile."""
        with self._switching:
            self._over = True
            return meter.stop()

    def readings(
        self, run: Run, spoiled: Sequence[str] = (), measured_tps: float | None = None
    ) -> tuple[list[PowerReading], str | None]:
        """One reading for each row of each source, or the reason why there is none.

        `spoiled` are sentences about conditions that no valid claim survives; `measured_tps` is the rate of
        the repeats, which the window's must be near for one.
        """
        if run.plan.settings.energy_min_s <= 0:
            return [], "No energy pass was asked for."
        if not self.possible:
            return [], self.choice.unavailable_reason
        if run.energy is None or self._trace is None:
            return [], "The run ended before its energy pass did."
        try:
            window, alignment = _window(run, self._trace)
        except ValueError as error:
            return [], f"The energy pass gave no window: {error}."
        doubts = [_as_reason(sentence) for sentence in spoiled]
        other = other_rate((window.tokens or 0) / window.seconds, measured_tps)
        doubts += [] if other is None else [other]
        read = read_energy(self._trace, window, _idle(run, alignment), alignment, doubts=doubts)
        return [PowerReading(**asdict(reading)) for reading in read], None

    def conditions(self, run: Run) -> PowerConditions:
        """What the sources saw of the machine during the window; nothing where there was none."""
        if run.energy is None or self._trace is None:
            return PowerConditions()
        try:
            window, _ = _window(run, self._trace)
        except ValueError:
            return PowerConditions()
        return conditions_over(self._trace, window)


def with_power_conditions(conditions: dict[str, Any], seen: PowerConditions) -> dict[str, Any]:
    """A run's conditions with what its power sources saw: what nobody else told, and the worse of two words.

    The clock is of the energy pass then, where the system tells it to nobody else.
    """
    found = dict(conditions)
    if found.get("gpu_clock_mhz") is None and seen.gpu_mhz_median is not None:
        found["gpu_clock_mhz"] = {"median": seen.gpu_mhz_median, "min": seen.gpu_mhz_min}
    if seen.throttle_reasons is not None:
        found["throttle_reasons"] = sorted({*(found.get("throttle_reasons") or ()), *seen.throttle_reasons})
    if found.get("thermal_end") is None and seen.thermal_end is not None:
        found["thermal_end"] = seen.thermal_end.lower()
    if seen.thermal_worst is not None:
        levels = (seen.thermal_worst.lower(), found.get("thermal_worst") or THERMAL_LEVELS[0])
        found["thermal_worst"] = max(levels, key=_severity)
    reasons = found.get("conditions_reasons") or {}
    found["conditions_reasons"] = {name: why for name, why in reasons.items() if found.get(name) is None}
    return found


def _window(run: Run, trace: Trace) -> tuple[Window, Alignment]:
    """The pass's window on the meter's clock; ValueError where there is none."""
    assert run.energy is not None
    alignment = align(run.energy.clock_pairs, trace.clock_pairs)
    energy = run.energy
    return window_of(energy.token_times_ns, energy.run_in_tokens, energy.run_out_tokens, alignment), alignment


def _idle(run: Run, alignment: Alignment) -> Window | None:
    if run.idle is None:
        return None
    return Window(alignment.ours(run.idle.start_ns), alignment.ours(run.idle.end_ns))


def _severity(level: str) -> int:
    return THERMAL_LEVELS.index(level) if level in THERMAL_LEVELS else len(THERMAL_LEVELS)


def _as_reason(sentence: str) -> str:
    """A sentence as one reason among others: `The machine ran hot.` is `the machine ran hot`."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")
