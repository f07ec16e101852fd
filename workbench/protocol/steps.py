"""One run group from worker to record: prepare, lock, measure, or cancel. Both doors drive this class.

The order is the protocol's: nothing is sent to the worker before the prediction is on disk. Nothing is timed
here.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from workbench.errors import LedgerError, PredictionMissingError, UsageError, WorkbenchError
from workbench.ledger.record import Record
from workbench.locations import ledger_path, locks_dir
from workbench.machine.stamp import Facts, facts
from workbench.power.choice import Choice
from workbench.protocol.awake import Awake
from workbench.protocol.decode_worker import DecodeWorker, Spawn, memory_notice, on_cuda, request_of
from workbench.protocol.dossier import Dossier
from workbench.protocol.drafting import estimated
from workbench.protocol.energy import EnergyPass
from workbench.protocol.plan import Plan, require_runnable
from workbench.protocol.recording import Status, closed, fault_words
from workbench.protocol.run import Phase, Run, fold
from workbench.protocol.unchanged import require_unchanged
from workbench.protocol.watch import Watch
from workbench.worker.client import Worker
from workbench.worker.messages import Failed, Loaded, Loading, Report, Stamp


class Measurement:
    """One run group: `prepare`, `lock` (again before load, if corrected), `measure`; `close` always.

    `on_change` gets every new `Run`. `power` is what an energy pass may use (default: what is found here).
    `spawn`, `watch`, `ledger` and `locks` are there for tests and for other places than the user's own.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        on_change: Callable[[Run], None] | None = None,
        power: Choice | None = None,
        spawn: Spawn = Worker.start,
        watch: Watch | None = None,
        ledger: Path | None = None,
        locks: Path | None = None,
    ) -> None:
        self.run = Run(plan)
        self.energy = EnergyPass(power)
        self._on_change = on_change
        self._watch = watch or Watch()
        self._dossier = Dossier(ledger or ledger_path(), locks or locks_dir())
        self._awake = Awake()
        self._worker = DecodeWorker(spawn)
        self._facts: Facts | None = None
        self._preparing = asyncio.Lock()
        self._asked = False
        self._cancelled: str | None = None
        self._ended = asyncio.Event()

    @property
    def plan(self) -> Plan:
        """What is measured and how."""
        return self.run.plan

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def cancelled(self) -> bool:
        """Whether somebody has cancelled it."""
        return self._cancelled is not None

    def replan(self, plan: Plan) -> None:
        """Put another plan in the place of this one: the worker that is there stays.

        Raises UsageError once a prediction is locked: it was said of the plan before.
        """
        if self.run.locked:
            raise UsageError(
                "A prediction is locked for another plan.",
                "Start over to measure something else.",
                code="locked",
            )
        self._become(replace(self.run, plan=plan, notices=()))
        self._warn_of_memory()

    async def look(self, stamp: Stamp | None = None) -> None:
        """Stamp the machine and read what the ledger knows; `prepare` does it, a ladder before it locks.

        `stamp` is another worker's, for a run that is locked before it has a worker of its own.
        """
        if stamp is not None:
            self._become(replace(self.run, stamp=stamp))
        known = await self._machine()
        try:
            await asyncio.to_thread(self._dossier.learn, known, self.run)
        except LedgerError as error:
            self._notice(error.message)

    async def prepare(self) -> None:
        """Start the worker and wait until its libraries are loaded; the model is not touched.

        Raises CheckpointError before anything is started, WorkerError when the worker cannot work. Returns
        early, without a stamp, when the measurement is cancelled meanwhile; at once, when it was done before.
        """
        async with self._preparing:
            if not self._worker.is_ready and self._cancelled is None:
                await self._prepare()

    async def _prepare(self) -> None:
        require_runnable(self.plan)
        await self._worker.start()
        await self._machine()  # while the worker loads its libraries
        if self._cancelled is not None:
            await self._worker.stop()
            return
        ready = await self._worker.ready()
        if ready is None:
            return
        self._fold(ready)
        await self.look()
        self._warn_of_memory()
        if self._dossier.locked is not None:  # locked before the worker was there: its stamp goes in too
            self._become(replace(self.run, plan=estimated(self.plan, self._dossier.past)))
            self._dossier.write(self.run, self._watch.fields)

    def lock(self, predictions: Sequence[tuple[str, float]], by: str | None = None) -> None:
        """Lock named predictions in tok/s: on disk, with their UTC time, when this returns.

        Until the run begins another call corrects them; both stay in the record. Raises
        PredictionMissingError without a number, UsageError for one that is none or that comes too late, and
        LedgerError when the disk does not take it.
        """
        if self._asked:
            raise UsageError(
                "The run has begun: its prediction stands.",
                "Start another run to predict again.",
                code="locked",
            )
        locked = self._dossier.predict(predictions, by, self.run, self._watch.fields)
        self._become(
            replace(
                self.run,
                plan=estimated(self.plan, self._dossier.past),
                phase=Phase.LOCKED,
                predictions=locked.predictions,
                locks=locked.locks,
            )
        )

    async def measure(self) -> Record:
        """Load, warm up, measure, record: the record as it stands in the ledger, whatever came of the run.

        A worker that fails or dies gives a `failed` record, `cancel` a `cancelled` one. Raises
        PredictionMissingError without a lock, UsageError for a second call, LedgerError when the ledger does
        not take the record (`run.record` has it then).
        """
        if self._dossier.locked is None:
            raise PredictionMissingError(
                "Nobody has predicted this run: it is not measured.", "Say a number in tok/s first."
            )
        if self._asked:
            raise UsageError("A lock is good for one run group.", "Start another run.", code="locked")
        self._asked = True
        try:
            status, reason = await self._measured()
        except asyncio.CancelledError:
            self._cancelled = self._cancelled or "The run was cancelled."
            await self._recorded(Status.CANCELLED, self._cancelled)
            raise
        except Exception as error:  # a fault of this program: the run still leaves its record
            await self._recorded(Status.FAILED, fault_words(error))
            raise
        return await self._recorded(status, reason)

    async def cancel(self, reason: str = "Cancelled by the user.") -> None:
        """End the run now: within a second the worker is gone and a run that was locked is in the ledger."""
        self._cancelled = self._cancelled or reason
        await self._worker.stop()
        if self._asked:
            await self._ended.wait()
        elif self._dossier.locked is not None:
            self._asked = True
            await self._recorded(Status.CANCELLED, f"{self._cancelled} The model was never loaded.")

    async def close(self) -> None:
        """Leave nothing behind: no process, and no lock without its record. A second call does nothing."""
        if not self._ended.is_set():
            await self.cancel("Closed before the run had ended.")
        await self._worker.stop()
        await self.energy.stop()
        await self._awake.release()

    async def _measured(self) -> tuple[Status, str | None]:
        """Run the worker to its end and say how it ended."""
        try:
            await self.prepare()
            if self._cancelled is None and self._worker.pid is not None:
                await self._follow(self._worker.pid)
        except WorkbenchError as error:
            self._become(replace(self.run, failure=Failed(error.code, error.message, error.hint)))
        if self._cancelled is not None:
            return Status.CANCELLED, self._cancelled
        if self.run.failure is not None:
            failure = self.run.failure
            return Status.FAILED, f"{failure.message} {failure.hint}".strip()
        if not self.run.finished:
            return Status.FAILED, "The worker was stopped before the run had ended."
        return Status.MEASURED, None

    async def _follow(self, worker_pid: int) -> None:
        """Send the request, with the lock and the conditions at the start on disk, and fold what comes."""
        await self._awake.hold(worker_pid)
        await self._watch.begin(worker_pid, gpu=on_cuda(self.run.stamp))
        self._dossier.write(self.run, self._watch.fields)
        if self._cancelled is not None:
            return
        energy_possible = self.plan.settings.energy_min_s > 0 and await self.energy.look()
        request = request_of(self.plan, self.run.stamp, energy_possible=energy_possible)
        await asyncio.to_thread(require_unchanged, self.plan.checkpoint)
        async for report in await self._worker.ask(request):
            if isinstance(report, Loaded):  # what was loaded is what was counted
                await asyncio.to_thread(require_unchanged, self.plan.checkpoint)
            self._fold(report)
            await self.energy.follow(self.run)
            if isinstance(report, Loading):
                with suppress(LedgerError):  # the lock itself is safe; only this time would be missing
                    self._dossier.write(self.run, self._watch.fields)

    async def _recorded(self, status: Status, reason: str | None) -> Record:
        """End the run and have its record, whatever becomes of the task that waits for it."""
        ending = asyncio.create_task(self._end(status, reason))
        try:
            return await asyncio.shield(ending)
        except asyncio.CancelledError:
            with suppress(LedgerError):
                await ending
            raise

    async def _end(self, status: Status, reason: str | None) -> Record:
        """Stop everything, complete the record and append it."""
        try:
            await self._worker.stop()
            await self.energy.stop()
            await self._awake.release()
            await self._watch.end(sample=status is not Status.CANCELLED)
            assert self._dossier.drafted is not None
            record = closed(
                self._dossier.drafted,
                self.run,
                status,
                reason,
                conditions=self._watch.fields,
                energy=self.energy,
                probe=self._dossier.past.probe,
            )
            self._become(replace(self.run, phase=Phase.ENDED, record=record))
            written = self._dossier.append(record)
            self._become(replace(self.run, record=written))
            return written
        finally:
            self._ended.set()

    async def _machine(self) -> Facts:
        """The machine's facts; the first time also a look at its conditions, before anybody predicts."""
        if self._facts is None:
            self._facts = await facts()
            await self._watch.look()
        return self._facts

    def _warn_of_memory(self) -> None:
        if self._worker.pid is None or self.run.stamp is None:
            return
        sentence = memory_notice(self.plan, self.run.stamp, self._worker.pid)
        if sentence is not None:
            self._notice(sentence)

    def _notice(self, sentence: str) -> None:
        if sentence not in self.run.notices:
            self._become(replace(self.run, notices=(*self.run.notices, sentence)))

    def _fold(self, report: Report) -> None:
        self._become(fold(self.run, report))

    def _become(self, run: Run) -> None:
        self.run = run
        if self._on_change is not None:
            self._on_change(run)
