"""How samples arrive: from a program's pipe, or by asking again and again. One thread each, closed surely.

Arrival is stamped the moment the bytes are read, on a thread of its own: a slow terminal delays nothing.
"""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from workbench.errors import WorkbenchError
from workbench.power.source import Sample, Sink
from workbench.power.surroundings import end_group

Keyed = Iterable[tuple[str, Sample]]

STOP_TIMEOUT_S = 1.0
EXIT_LOOK_S = 1.0
STDERR_KEPT_BYTES = 4096


class ProcessFeed:
    """A program that prints samples on stdout until it is closed.

    `digest(data, at_ns)` turns the bytes that just arrived into samples; `b""` means end of output.
    `explain(exit_status, stderr)` says why the program ended by itself. The program gets no stdin, so it
    cannot ask for anything. A program that we may not signal (it runs as root) loses its reader instead: its
    next write fails and it ends, at the latest after its own count.
    """

    def __init__(
        self,
        argv: Sequence[str],
        digest: Callable[[bytes, int], Keyed],
        explain: Callable[[int, str], str],
        sink: Sink,
    ) -> None:
        self._digest = digest
        self._explain = explain
        self._sink = sink
        self._closing = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                process_group=0,
            )
        except OSError as error:
            sink.ended(f"cannot start {argv[0]}: {error.strerror or error}")
            return
        self._wake_read, self._wake_write = os.pipe()
        self._reader = threading.Thread(target=self._read, name=f"power {argv[0]}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int | None:
        """The program's process id, None when it never started."""
        return self._process.pid if self._process else None

    def close(self) -> None:
        """Stop the program; returns within about twice STOP_TIMEOUT_S."""
        if self._process is None or self._closing.is_set():
            return
        self._closing.set()
        if self._process.returncode is None:  # else its number may be another's by now
            end_group(self._process, signal.SIGTERM)
        with contextlib.suppress(BrokenPipeError):  # the program ended by itself: nobody listens
            os.write(self._wake_write, b"x")
        self._reader.join(STOP_TIMEOUT_S)
        if self._reader.is_alive():
            end_group(self._process, signal.SIGKILL)
            self._reader.join(STOP_TIMEOUT_S)
        if not self._reader.is_alive():
            os.close(self._wake_write)

    def _read(self) -> None:
        process = self._process
        assert process is not None and process.stdout is not None and process.stderr is not None
        out, err = process.stdout.fileno(), process.stderr.fileno()
        complaint = b""
        waiting = [out, err, self._wake_read]
        while out in waiting and not self._closing.is_set():
            ready, _, _ = select.select(waiting, [], [], EXIT_LOOK_S)
            at_ns = time.perf_counter_ns()
            if not ready and process.poll() is not None:
                break  # it has ended and said all; what it has started may hold the pipe for ever
            if err in ready:
                said = os.read(err, 65536)
                complaint = (complaint + said)[-STDERR_KEPT_BYTES:]
                if not said:
                    waiting.remove(err)
            if out in ready:
                data = os.read(out, 65536)
                for key, sample in self._digest(data, at_ns):
                    self._sink.sample(key, sample)
                if not data:
                    waiting.remove(out)
        if not self._closing.is_set() and err in waiting:
            complaint = (complaint + _rest(err))[-STDERR_KEPT_BYTES:]
        process.stdout.close()  # a program we may not signal ends at its next write
        process.stderr.close()
        status = process.wait()
        end_group(process, signal.SIGKILL)  # what it has left behind
        if not self._closing.is_set():
            self._sink.ended(self._explain(status, complaint.decode("utf-8", "replace").strip()))
        os.close(self._wake_read)


class PollFeed:
    """Asks `poll` every `interval_s` on a thread of its own; `opened` and `closed` run on that thread too.

    A poll that may take long looks at `closing`. Whatever these raise ends the feed with its words: a sensor
    that fails must not take the program down.
    """

    def __init__(
        self,
        interval_s: float,
        poll: Callable[[], Keyed],
        sink: Sink,
        *,
        opened: Callable[[], None] = lambda: None,
        closed: Callable[[], None] = lambda: None,
        limit_s: float,
        name: str = "power",
        closing: threading.Event | None = None,
    ) -> None:
        self._interval_s = interval_s
        self._poll = poll
        self._sink = sink
        self._opened = opened
        self._closed = closed
        self._limit_s = limit_s
        self._closing = closing or threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop asking; returns within STOP_TIMEOUT_S."""
        self._closing.set()
        self._thread.join(STOP_TIMEOUT_S)

    def _run(self) -> None:
        try:
            self._opened()
        except Exception as error:
            self._sink.ended(_words(error))
            return
        try:
            self._ask()
        except Exception as error:
            self._sink.ended(_words(error))
        finally:
            with contextlib.suppress(Exception):
                self._closed()

    def _ask(self) -> None:
        started = due = time.monotonic()
        while not self._closing.is_set():
            for key, sample in self._poll():
                self._sink.sample(key, sample)
            now = time.monotonic()
            if now - started > self._limit_s:
                self._sink.ended(f"stopped by its own limit of {self._limit_s:g} s")
                return
            due = max(due + self._interval_s, now)
            self._closing.wait(due - now)


def _rest(fd: int) -> bytes:
    """What is left on stderr after stdout ended: half a second of it, however much is said."""
    said = b""
    until_s = time.monotonic() + 0.5
    while select.select([fd], [], [], max(0.0, until_s - time.monotonic()))[0]:
        more = os.read(fd, 65536)
        said = (said + more)[-STDERR_KEPT_BYTES:]
        if not more or time.monotonic() > until_s:
            break
    return said


def _words(error: Exception) -> str:
    text = str(error).strip()
    if isinstance(error, WorkbenchError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
