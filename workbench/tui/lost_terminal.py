"""A terminal that is gone must take the program with it.

Textual writes through a thread that dies on a closed terminal; the event loop then waits for it for ever, and
no signal is heard any more. Looking from a thread of our own needs neither.
"""

import os
import signal
import threading

LOOK_S = 1.0
GRACE_S = 5.0
"""What the orderly way out may take: it cancels the run and keeps its record within about a second."""

EXIT_CODE = 128 + signal.SIGHUP


def watch() -> None:
    """From now on: end the process, without ceremony, `GRACE_S` after its terminal has gone.

    A run that is going then has its lock on disk; the next start records it as interrupted.
    """
    threading.Thread(target=_look, name="lost-terminal", daemon=True).start()


def leave_if_gone(code: int | None) -> None:
    """End the process now if its terminal is gone: Textual's input thread would read its end for ever."""
    if not os.isatty(0):
        os._exit(code or EXIT_CODE)


def _look() -> None:
    pause = threading.Event()
    while os.isatty(0):
        pause.wait(LOOK_S)
    pause.wait(GRACE_S)
    os._exit(EXIT_CODE)
