"""The one worker of a run group: started once, ready when its libraries are loaded, asked once.

What a plan asks of it depends a little on the machine; what its run may do to the machine's memory is said
before. Nothing is locked, folded or recorded here.
"""

from collections.abc import AsyncIterator, Awaitable, Callable

from msgspec.structs import replace as revised

from workbench.errors import WorkerError
from workbench.machine.memory import warning_now
from workbench.protocol.plan import Plan
from workbench.worker.client import WorkerProcess
from workbench.worker.messages import DecodeRequest, Failed, Ready, Report, Stamp

Spawn = Callable[[str], Awaitable[WorkerProcess]]


class DecodeWorker:
    """`start`, `ready`, `ask`; `stop` at any time, also before the start."""

    def __init__(self, spawn: Spawn) -> None:
        self._answered = self._asked = False
        self._spawn = spawn
        self._process: WorkerProcess | None = None
        self._reports: AsyncIterator[Report] | None = None

    @property
    def pid(self) -> int | None:
        """Its process, None before the start."""
        return self._process.pid if self._process is not None else None

    @property
    def is_ready(self) -> bool:
        """Whether it needs no start: it works, or waits. One that died waiting for its request needs one."""
        lives = self._process is not None and self._process.running
        return self._answered and (lives or self._asked)

    async def start(self) -> None:
        """Start the process; its libraries load from now on. In the place of one that died, another."""
        self._answered = False
        self._process = await self._spawn("decode")
        self._reports = self._process.reports()

    async def ready(self) -> Ready | None:
        """Wait for its first word; None when it was stopped meanwhile, WorkerError when it cannot work."""
        assert self._reports is not None
        report = await anext(self._reports, None)
        if isinstance(report, Ready):
            self._answered = True
            return report
        await self.stop()
        if isinstance(report, Failed):
            raise WorkerError(report.message, report.hint, code=report.code)
        return None

    async def ask(self, request: DecodeRequest) -> AsyncIterator[Report]:
        """Send the request; its reports, to the last."""
        assert self._process is not None
        assert self._reports is not None
        self._asked = True
        await self._process.send(request)
        return self._reports

    async def stop(self) -> None:
        """End the process; a second call does nothing."""
        if self._process is not None:
            await self._process.stop()


def on_cuda(stamp: Stamp | None) -> bool:
    """Whether the worker runs on CUDA; not known before its first word."""
    return stamp is not None and stamp.backend == "cuda"


def request_of(plan: Plan, stamp: Stamp | None, *, energy_possible: bool) -> DecodeRequest:
    """The plan's request, as this machine needs it.

    CUDA goes on compiling kernels after 8 tokens, so there the warm-up lasts until it is stable. Without
    anything to measure energy with, no time is spent on an energy pass.
    """
    request = plan.decode_request
    if on_cuda(stamp):
        request = revised(request, warm_until_stable=True)
    if request.energy_min_s > 0 and not energy_possible:
        request = revised(request, energy_min_s=0.0, idle_s=0.0)
    return request


def memory_notice(plan: Plan, stamp: Stamp | None, worker_pid: int) -> str | None:
    """What is wrong with the memory that is free for this plan now, besides the worker itself."""
    recommended = stamp.recommended_working_set_bytes if stamp else None
    device_bytes = stamp.memory_bytes if stamp and on_cuda(stamp) else None
    return warning_now(plan.needed_bytes, recommended, exclude=(worker_pid,), device_bytes=device_bytes)
