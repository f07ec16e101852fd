"""Conducts one run group for the screens: one `Measurement` at a time, errors as messages, its Run to read.

No widget is touched here; what changed is read from `run` when the screen paints.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from workbench.errors import LedgerError, WorkbenchError
from workbench.ledger.record import Record
from workbench.protocol.plan import Plan
from workbench.protocol.run import Run
from workbench.tui.messages import Notice, RunEnded
from workbench.tui.options import Options
from workbench.tui.threads import Post, offer

if TYPE_CHECKING:  # both load when a measurement is made: the first screen does not owe them
    from workbench.power.choice import Choice
    from workbench.power.meter import Meter
    from workbench.protocol.steps import Measurement


class Make(Protocol):
    """How a measurement is made; `protocol_measurement` outside tests."""

    def __call__(
        self, plan: Plan, *, on_change: Callable[[Run], None], options: Options, power: Choice | None
    ) -> Measurement:
        """A measurement of this plan that reports every new Run."""


def protocol_measurement(
    plan: Plan, *, on_change: Callable[[Run], None], options: Options, power: Choice | None
) -> Measurement:
    """The real one."""
    from workbench.protocol.steps import Measurement

    return Measurement(plan, on_change=on_change, ledger=options.ledger, power=power)


class Conductor:
    """Holds the measurement of the plan on the desk. `run` is its newest state, None before a plan.

    `found` are this machine's power sources, None while they are looked for; `power` those that are used.
    """

    def __init__(self, post: Post, options: Options, make: Make = protocol_measurement) -> None:
        self.run: Run | None = None
        self.found: Choice | None = None
        self.power: Choice | None = None
        self._post = post
        self._options = options
        self._make = make
        self._measurement: Measurement | None = None
        self._prepared: asyncio.Task[None] | None = None
        self._offering: asyncio.Task[None] | None = None

    def plan(self, plan: Plan) -> None:
        """Take this plan: before a lock it replaces the one before, with the worker that is already there.

        A locked number was said of its plan's bytes and figures: only how it is measured may change then.
        """
        if self._measurement is None:
            made = self._make(
                plan, on_change=lambda run: self._changed(made, run), options=self._options, power=self.power
            )
            self._measurement = made
            self._prepared = self._offering = None
        elif self._measurement.run.locked:
            run = self._measurement.run
            kept = replace(run.plan, settings=plan.settings, experiment=plan.experiment)
            self._measurement.run = replace(run, plan=kept)
        else:
            self._measurement.replan(plan)
        self.run = self._measurement.run

    @property
    def meter(self) -> Meter | None:
        """The meter of an energy pass that has begun."""
        return self._measurement.energy.meter if self._measurement is not None else None

    def use_power(self, choice: Choice) -> None:
        """These sources measure energy from now on; a pass that has begun keeps its own."""
        from workbench.protocol.energy import EnergyPass

        self.power = choice
        if self._measurement is not None and self.meter is None:
            self._measurement.energy = EnergyPass(choice)

    async def prepare(self) -> None:
        """Start the worker once; the libraries load while the user thinks."""
        if self._measurement is None:
            return
        if self._prepared is None:
            self._prepared = asyncio.create_task(self._prepare(self._measurement))
        await self._prepared

    async def _prepare(self, measurement: Measurement) -> None:
        try:
            await measurement.prepare()
        except WorkbenchError as error:
            if measurement is self._measurement:
                await self.close()
                self._post(RunEnded(None, error))
            return
        if measurement.run.stamp is not None:
            made = offer(measurement.run.stamp, self._options, self._post)
            self._offering = asyncio.create_task(made)  # on macOS it asks slow commands: no run waits for it

    def lock(self, predictions: list[tuple[str, float]]) -> None:
        """Lock or correct; raises what `Measurement.lock` raises."""
        if self._measurement is not None:
            self._measurement.lock(predictions)

    async def measure(self) -> None:
        """Run to the end; the record or the error comes as a message."""
        measurement = self._measurement
        if measurement is None:
            return
        record: Record | None = None
        problem: WorkbenchError | None = None
        await self.prepare()  # the worker's first words are awaited there, and only there
        if self._measurement is not measurement:
            return  # the worker could not start: that was said, and nothing is left to measure
        try:
            stopped = measurement.run.record  # stopped before the worker was ready
            record = stopped or await measurement.measure()
        except LedgerError as error:
            record, problem = measurement.run.record, error
        except WorkbenchError as error:
            problem = error
        await measurement.close()
        self._post(RunEnded(record, problem))

    async def stop(self) -> None:
        """End a run; its cancelled record is kept."""
        if self._measurement is not None:
            await self._measurement.cancel()

    async def close(self, reason: str = "") -> None:
        """Give the measurement up: no process stays, a locked number leaves its record with this `reason`."""
        measurement, self._measurement, self.run = self._measurement, None, None
        if measurement is None:
            return
        try:
            if reason:
                await measurement.cancel(reason)
            await measurement.close()
        except WorkbenchError as error:
            self._post(Notice(error.words, problem=True))

    def _changed(self, measurement: Measurement, run: Run) -> None:
        if measurement is not self._measurement:
            return  # one that was given up still reports its end
        for sentence in run.notices[len(self.run.notices) if self.run else 0 :]:
            self._post(Notice(sentence, problem=True))
        self.run = run
