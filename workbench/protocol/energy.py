"""The energy pass of a run: the meter is on from its idle window to its end, and read once it is over.

Power is never sampled during the speed pass. What a source can claim is the power room's business.
"""

from collections.abc import Callable
from dataclasses import asdict

from workbench.ledger.record import PowerReading
from workbench.power.choice import Choice
from workbench.power.clocks import Alignment, align
from workbench.power.energy import Window, read_energy, window_of
from workbench.power.meter import Meter, Trace
from workbench.protocol.plan import RunSettings
from workbench.protocol.run import Phase, Run

SPARE_S = 120.0
"""Seconds that the meter may live beyond the pass it was asked for."""


class EnergyPass:
    """The meter around one run's energy pass. `follow` every new run; `stop` always."""

    def __init__(self, choice: Choice, settings: RunSettings, make: Callable[..., Meter] = Meter) -> None:
        limit_s = settings.energy_min_s + settings.idle_s + SPARE_S
        self.meter = make(choice.sources, limit_s=limit_s) if choice.sources else None
        self._choice = choice
        self._wanted = settings.energy_min_s > 0
        self._trace: Trace | None = None
        self._on = False

    @property
    def possible(self) -> bool:
        """Whether a pass is wanted and there is something to measure it with."""
        return self._wanted and self.meter is not None

    def follow(self, run: Run) -> None:
        """Switch the meter on when the pass begins and off when its window has come."""
        if self.meter is None or not self._wanted:
            return
        if not self._on and self._trace is None and run.phase in {Phase.IDLE, Phase.ENERGY}:
            self._on = True
            self.meter.start()
        elif self._on and run.energy is not None:
            self.stop()

    def stop(self) -> None:
        """Switch the meter off; nothing that it started is left."""
        if self._on and self.meter is not None:
            self._on = False
            self._trace = self.meter.stop()

    def readings(self, run: Run) -> tuple[list[PowerReading], str | None]:
        """One reading for each row of each source, or the reason why there is none."""
        if not self._wanted:
            return [], f"No energy pass was asked for. {self._sources()}"
        if self.meter is None:
            return [], self._choice.unavailable_reason
        if run.energy is None or self._trace is None:
            return [], "The run ended before its energy pass did."
        try:
            alignment = align(run.energy.clock_pairs, self._trace.clock_pairs)
            window = window_of(
                run.energy.token_times_ns, run.energy.run_in_tokens, run.energy.run_out_tokens, alignment
            )
        except ValueError as error:
            return [], f"The energy pass gave no window: {error}."
        read = read_energy(self._trace, window, self._idle(run, alignment), alignment)
        return [PowerReading(**asdict(reading)) for reading in read], None

    def _idle(self, run: Run, alignment: Alignment) -> Window | None:
        if run.idle is None:
            return None
        return Window(alignment.ours(run.idle.start_ns), alignment.ours(run.idle.end_ns))

    def _sources(self) -> str:
        if self._choice.unavailable_reason is not None:
            return self._choice.unavailable_reason
        names = ", ".join(dict.fromkeys(source.name for source in self._choice.sources))
        return f"Power sources here: {names}."
