"""A ladder: several checkpoints, one prediction each before anything loads, one go, one record each."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from workbench.errors import LedgerError, PredictionMissingError
from workbench.ledger.record import Record
from workbench.protocol.plan import Plan, require_runnable
from workbench.protocol.run import Run
from workbench.protocol.steps import Measurement


class Ladder:
    """The rungs are `measurements`, in their plans' order. `prepare`, lock each, `measure`; `close` always.

    `on_change` gets the rung's index with every new `Run`; `make` stands in for `Measurement` in tests.
    """

    def __init__(
        self,
        plans: Sequence[Plan],
        *,
        on_change: Callable[[int, Run], None] | None = None,
        make: Callable[..., Measurement] = Measurement,
    ) -> None:
        self.measurements = [make(plan, on_change=_for_rung(on_change, i)) for i, plan in enumerate(plans)]
        self._cancelled = asyncio.Event()
        self._reason = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def prepare(self) -> None:
        """Start the first rung's worker; its stamp serves the others until their own workers start.

        Raises CheckpointError before anything is started when one of the checkpoints cannot be run, and
        WorkerError when the worker cannot work.
        """
        for measurement in self.measurements:
            require_runnable(measurement.plan)
        if not self.measurements:
            return
        first, *others = self.measurements
        await first.prepare()
        for measurement in others:
            await measurement.look(first.run.stamp)

    def lock(self, index: int, predictions: Sequence[tuple[str, float]], by: str | None = None) -> None:
        """Lock one rung's predictions; errors as for `Measurement.lock`."""
        self.measurements[index].lock(predictions, by)

    async def measure(self) -> list[Record | LedgerError]:
        """Measure rung after rung: each one's record, or why the ledger did not take it.

        A rung that fails has a `failed` record and the next one follows; its cool-down lies between them.
        Raises PredictionMissingError while a rung has no prediction: nothing loads before all are locked.
        """
        open_rungs = [m.plan.checkpoint.name for m in self.measurements if not m.run.locked]
        if open_rungs:
            raise PredictionMissingError(
                f"Nobody has predicted {', '.join(open_rungs)}: nothing is measured yet.",
                "A ladder needs one number for each checkpoint before the first one loads.",
            )
        outcomes: list[Record | LedgerError] = []
        for measurement in self.measurements:
            if outcomes:
                await self._rest(measurement.plan.settings.cooldown_s)
            try:
                outcomes.append(await self._rung(measurement))
            except LedgerError as error:
                outcomes.append(error)
        return outcomes

    async def cancel(self, reason: str = "Cancelled by the user.") -> None:
        """End the running rung and all that wait; each has a `cancelled` record."""
        self._reason = reason
        self._cancelled.set()
        for measurement in self.measurements:
            with suppress(LedgerError):  # `measure` says it for each rung
                await measurement.cancel(reason)

    async def close(self) -> None:
        """Leave nothing behind."""
        for measurement in self.measurements:
            await measurement.close()

    async def _rung(self, measurement: Measurement) -> Record:
        if not self._cancelled.is_set():
            return await measurement.measure()
        await measurement.cancel(self._reason)
        assert measurement.run.record is not None
        return measurement.run.record

    async def _rest(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._cancelled.wait(), seconds)
        except TimeoutError:
            return


def _for_rung(on_change: Callable[[int, Run], None] | None, index: int) -> Callable[[Run], None] | None:
    return None if on_change is None else lambda run: on_change(index, run)
