"""The worker's end of the message pipe: one JSON object a line, live views dropped when nobody reads.

It owns a duplicate of file descriptor 1, so that no library's print can enter the messages.
"""

import os
import select
from collections.abc import Callable

import msgspec

from workbench.worker.messages import Progress, Report

Say = Callable[[Report], None]


class Outlet:
    """Writes messages to `fd`, which it switches to non-blocking mode.

    `Progress` is written whole or, when the pipe is full, not at all; every other message waits for room.
    A reader that is gone raises `BrokenPipeError`.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._unsent = b""  # the rest of a line that a full pipe took only in part
        self.dropped = 0

    def say(self, report: Report) -> None:
        """Send one message."""
        if isinstance(report, Progress):
            self._push()
            if self._unsent:
                self.dropped += 1
                return
            self._unsent = msgspec.json.encode(report) + b"\n"
            whole = len(self._unsent)
            self._push()
            if len(self._unsent) == whole:  # nothing of it went out: drop it
                self._unsent = b""
                self.dropped += 1
            return
        self._unsent += msgspec.json.encode(report) + b"\n"
        self._push()
        while self._unsent:
            select.select([], [self._fd], [])
            self._push()

    def _push(self) -> None:
        while self._unsent:
            try:
                written = os.write(self._fd, self._unsent)
            except BlockingIOError:
                return
            self._unsent = self._unsent[written:]
