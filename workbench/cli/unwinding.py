"""A polite kill or a lost terminal unwinds the command: its workers, programs and folders go with it."""

import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def signals_unwind() -> Iterator[None]:
    """Let a signal that ends the program end what it has started as well, then exit with 128 + n."""

    def unwind(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    mine = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is signal.SIG_DFL]
    for number in mine:
        signal.signal(number, unwind)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


def run_unwinding(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end, or to a signal's."""
    import asyncio

    with signals_unwind():
        return asyncio.run(work)
