"""Signals that end a run: cancel it, keep its record, then exit with 128 + n.

For the command line and the screens alike; both still restore their own terminal.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from workbench.errors import LedgerError

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""ctrl+c, a polite kill, and a terminal or SSH link that is gone."""


@dataclass(slots=True)
class Caught:
    """Which signal ended the run, None while there was none."""

    number: signal.Signals | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def exit_code(self) -> int | None:
        """128 + n, None without a signal."""
        return None if self.number is None else 128 + self.number


@contextmanager
def ending_signals(
    cancel: Callable[[str], Awaitable[None]], signals: tuple[signal.Signals, ...] = ENDING
) -> Iterator[Caught]:
    """While the block runs, the first signal awaits `cancel(reason)`; a second one changes nothing.

    `cancel` is `Measurement.cancel` (or whatever ends the run and keeps its record). Must be entered inside
    a running event loop; the handlers before are put back.
    """
    loop = asyncio.get_running_loop()
    caught = Caught()

    def on_signal(number: signal.Signals) -> None:
        if caught.number is None:
            caught.number = number
            caught.tasks.add(loop.create_task(_ended(cancel, f"Ended by {number.name}.")))

    # One that was ignored before stays ignored: that is what nohup asks for.
    before = {n: h for n in signals if (h := signal.getsignal(n)) not in (None, signal.SIG_IGN)}
    for number in before:
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield caught
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


async def _ended(cancel: Callable[[str], Awaitable[None]], reason: str) -> None:
    with suppress(LedgerError):  # who waits for the run hears it
        await cancel(reason)
