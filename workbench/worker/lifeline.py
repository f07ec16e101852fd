"""The worker's stdin: one request line, and then a lifeline whose end ends the process.

A worker whose UI was killed would otherwise hold its model's memory for ever.
"""

import os
import queue
import signal
import threading

EXIT_AFTER_S = 0.4  # time for `finally` blocks between the end of stdin and the hard exit
_MAX_REQUEST_BYTES = 256 * 2**20


class Lifeline:
    """Reads `fd` in a thread. The first line is the request; end of file ends the process.

    On end of file the main thread gets SIGTERM (its handler raises SystemExit, so that clean-up runs); if it
    is inside a computation and does not come back within `EXIT_AFTER_S`, the process exits without it.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._watch, name="lifeline", daemon=True).start()

    def request_line(self) -> bytes:
        """Wait for the request line."""
        return self._lines.get()

    def _watch(self) -> None:
        held = b""
        waiting = True
        while chunk := self._read():
            if not waiting:
                continue
            held += chunk
            if len(held) > _MAX_REQUEST_BYTES:
                break
            line, end, _ = held.partition(b"\n")
            if end:
                waiting = False
                held = b""
                self._lines.put(line)
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(EXIT_AFTER_S)
        os._exit(128 + signal.SIGTERM)

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, 65536)
        except OSError:  # a socket whose other end was killed may say so
            return b""
