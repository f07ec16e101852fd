"""Python's cycle collector, held off where very many plain records are made at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collector() -> Iterator[None]:
    """For a stretch in which no cycle can arise: each round of the collector would look at all records."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
