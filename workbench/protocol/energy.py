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
from workbench.protocol.run import Phase, Run

SPARE_S = 120.0
"""Seconds that the meter may live beyond the pass it was asked for."""


class EnergyPass:
    """The meter around one run's energy pass: `follow` every new run, `stop` always.

    `meter` is None until the pass begins; a power pane may paint its trace from then on.
    """

    def __init__(self, choice: Choice, make: Callable[..., Meter] = Meter) -> None:
        self.choice = choice
        self.meter: Meter | None = None
        self._make = make
        self._trace: Trace | None = None

    @property
    def possible(self) -> bool:
        """Whether there is something to measure energy with."""
        return bool(self.choice.sources)

    def follow(self, run: Run) -> None:
        """Switch the meter on when the pass begins and off when its window has come."""
        if self.meter is None and self.possible and run.phase in {Phase.IDLE, Phase.ENERGY}:
            settings = run.plan.settings
            limit_s = settings.energy_min_s + settings.idle_s + SPARE_S
            self.meter = self._make(self.choice.sources, limit_s=limit_s)
            self.meter.start()
        elif run.energy is not None:
            self.stop()

    def stop(self) -> None:
        """Switch the meter off; nothing that it started is left."""
        if self.meter is not None and self._trace is None:
            self._trace = self.meter.stop()

    def readings(self, run: Run) -> tuple[list[PowerReading], str | None]:
        """One reading for each row of each source, or the reason why there is none."""
        if run.plan.settings.energy_min_s <= 0:
            return [], f"No energy pass was asked for. {self._sources()}"
        if not self.possible:
            return [], self.choice.unavailable_reason
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
        if self.choice.unavailable_reason is not None:
            return self.choice.unavailable_reason
        names = ", ".join(dict.fromkeys(source.name for source in self.choice.sources))
        return f"Power sources here: {names}."
