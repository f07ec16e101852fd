"""The conditions watched around a run: sampled before, every few seconds during, and after.

What the samples mean is `machine.conditions`; nothing is timed here that a figure rests on.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

from workbench.machine.conditions import condition_fields
from workbench.machine.processes import ProcessorTimes, busiest_pct, processor_times
from workbench.machine.sample import Sample, sampled

EVERY_S = 5.0
"""Between two brief samples during a run: a few milliseconds of CPU each."""


class Sampler(Protocol):
    """How the machine is sampled; `machine.sample.sampled` outside tests."""

    def __call__(self, *, gpu: bool, brief: bool) -> Awaitable[Sample]:
        """One sample of the machine as it is now."""


class Watch:
    """Watches one run: `look` before anyone predicts, `begin` with it, `end` after it, `fields` any time."""

    def __init__(
        self,
        sample: Sampler = sampled,
        processes: Callable[[], ProcessorTimes] = processor_times,
        every_s: float = EVERY_S,
    ) -> None:
        self._sample = sample
        self._processes = processes
        self._every_s = every_s
        self._samples: list[Sample] = []
        self._times: list[ProcessorTimes] = []
        self._own_pids = [os.getpid()]
        self._gpu = False
        self._task: asyncio.Task[None] | None = None

    async def look(self) -> None:
        """The machine before the run: its state, and a first look at who uses the processor."""
        self._times.append(self._processes())
        await self._take(brief=False)

    async def begin(self, worker_pid: int, *, gpu: bool) -> None:
        """The run begins: from now on the samples count, and brief ones follow until `end`."""
        self._own_pids.append(worker_pid)
        self._gpu = gpu
        self._times.append(self._processes())
        self._samples.clear()
        await self._take(brief=False)
        self._task = asyncio.create_task(self._during())

    async def end(self, *, sample: bool = True) -> None:
        """The run has ended; without `sample` nothing more is asked (a stop key must not wait)."""
        if self._task is None:
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._task = None
        self._times.append(self._processes())
        if sample:
            await self._take(brief=False)

    @property
    def fields(self) -> dict[str, Any]:
        """The record's conditions as far as they are known."""
        found = condition_fields(self._samples, own_pids=self._own_pids)
        spans = zip(self._times, self._times[1:], strict=False)
        shares = [busiest_pct(before, after, self._own_pids) for before, after in spans]
        known = [share for share in shares if share is not None]
        found["top_other_process_cpu_pct"] = max(known, default=None)
        if not known:
            found["conditions_reasons"]["top_other_process_cpu_pct"] = "the run ended before a second look"
        return found

    async def _during(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            await self._take(brief=True)

    async def _take(self, *, brief: bool) -> None:
        """One more sample; whatever keeps the system from answering costs a sample, never the run."""
        with suppress(Exception):
            self._samples.append(await self._sample(gpu=self._gpu, brief=brief))
