"""The UI process's end of a worker: start it, send its one request, read its reports, stop it.

Asyncio only, no mlx. A death of the worker becomes a WorkerError in words; no process is left behind.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Protocol

import msgspec

from workbench.errors import WorkerError
from workbench.locations import log_dir, shown
from workbench.worker import log
from workbench.worker.messages import Failed, Finished, Report, Request

GRACE_S = 0.8  # between "please end" and SIGKILL; the worker's own hard exit comes after half of it
_MAX_LINE_BYTES = 64 * 2**20  # a repeat of 10^6 tokens is 20 MB on one line

_decoder: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)


class WorkerProcess(Protocol):
    """What others need of a worker; `Worker` outside tests."""

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""

    async def send(self, request: Request) -> None:
        """Send the one request."""

    def reports(self) -> AsyncIterator[Report]:
        """Its reports up to the end; WorkerError when it dies."""

    async def stop(self) -> None:
        """End it within a second."""


class Worker:
    """One worker process. Use `start`, then `reports` (the first is `Ready`), `send` once, `stop` always."""

    def __init__(self, job: str, process: asyncio.subprocess.Process) -> None:
        self._job = job
        self._process = process
        self._log = log.path_of(log_dir(), job, process.pid)
        self._stopping = False

    @classmethod
    async def start(cls, job: str) -> "Worker":
        """Start the worker for `job` in a session of its own, out of reach of the terminal's ctrl+c.

        Raises WorkerError when the process cannot be started.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "workbench.worker",
                job,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_MAX_LINE_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerError(
                f"The worker process could not be started: {error.strerror or error}.",
                "Close other programs (processes, memory or open files ran out) and try again.",
            ) from error
        return cls(job, process)

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.returncode is None

    async def send(self, request: Request) -> None:
        """Send the one request. A worker that is gone is reported by `reports`, not here.

        Raises WorkerError where a path in it is no UTF-8: no message can hold it, and neither can MLX.
        """
        assert self._process.stdin is not None
        try:
            line = msgspec.json.encode(request) + b"\n"
        except UnicodeEncodeError as error:
            raise WorkerError(
                "A folder's name on the way to the checkpoint is no UTF-8, and MLX opens no such path.",
                "Rename the folder, or name it through a link.",
                code="path_not_utf8",
            ) from error
        with suppress(BrokenPipeError, ConnectionResetError):
            self._process.stdin.write(line)
            await self._process.stdin.drain()

    async def reports(self) -> AsyncIterator[Report]:
        """Every report up to `Finished` or `Failed`, or up to `stop`.

        Raises WorkerError when the process ends before it said so, or says what is no report.
        """
        while (report := await self.report()) is not None:
            yield report
            if isinstance(report, Finished | Failed):
                await self.stop()
                return

    async def report(self) -> Report | None:
        """The next report; None once `stop` was called. Errors as for `reports`."""
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
        except ValueError as error:  # asyncio's word for a line over the limit
            raise await self._nonsense("a line without an end") from error
        if not line.endswith(b"\n"):
            if self._stopping:
                return None
            raise self._death(await self._ended())
        try:
            return _decoder.decode(line)
        except msgspec.MsgspecError as error:
            raise await self._nonsense(log.escaped(line.decode("utf-8", "replace"), 120)) from error

    async def stop(self, grace_s: float = GRACE_S) -> None:
        """End the process and wait until it is gone: end of its stdin, SIGTERM, after `grace_s` SIGKILL."""
        self._stopping = True
        assert self._process.stdin is not None
        self._process.stdin.close()
        if self.running:
            _signal(self.pid, signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), grace_s)
            except TimeoutError:
                _signal(self.pid, signal.SIGKILL)
        await self._process.wait()

    async def _ended(self) -> int:
        """The exit status, once nothing more can be read; a process that lives on without a pipe is ended."""
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._process.wait(), GRACE_S)
        await self.stop()
        return await self._process.wait()

    async def _nonsense(self, said: str) -> WorkerError:
        await self.stop()
        assert self._process.stdout is not None
        with suppress(TimeoutError):  # what is left in the pipe would keep it open
            await asyncio.wait_for(self._process.stdout.read(), GRACE_S)
        return WorkerError(
            f"The {self._job} worker said something that is no report: {said}",
            "The installation is mixed up: install decode-workbench again.",
            code="worker_nonsense",
        )

    def _death(self, status: int) -> WorkerError:
        last = log.last_line(self._log)
        quoted = f" Its last words: {last}" if last else ""
        hint = f"Its log is {log.escaped(shown(self._log))}. Another run can be started."
        if status == -signal.SIGKILL:
            hint = "Choose a smaller checkpoint or close other programs, then start another run."
        return WorkerError(f"{_cause(self._job, status)}{quoted}", hint, code="worker_died")


def _cause(job: str, status: int) -> str:
    """How the process ended, in words. `status` as subprocess gives it: -n for signal n."""
    if status >= 0:
        return f"The {job} worker ended by itself with exit status {status} before its job was done."
    if status == -signal.SIGKILL:
        return (
            f"The {job} worker was killed (SIGKILL), and not by this program: "
            "most often the system does that when memory runs out."
        )
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    verb = "crashed" if -status in _CRASHES else "was ended"
    return f"The {job} worker {verb} ({name}) before its job was done."


_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP}


def _signal(pid: int, number: signal.Signals) -> None:
    """Signal the worker's whole process group (it leads one), not only the worker."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
