"""Who else works on this machine: processor time and memory of the other processes, by name only."""

import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ProcessorTimes:
    """Processor seconds of every readable process at `at_s` (monotonic), by (pid, start time)."""

    at_s: float
    seconds: dict[tuple[int, float], float] = field(default_factory=dict)


def processor_times() -> ProcessorTimes:
    """The processor time every process has used so far. Processes of others may not be readable."""
    seconds = {}
    at_s = time.monotonic()
    for process in _processes("pid", "create_time", "cpu_times"):
        times = process["cpu_times"]
        if times is not None:
            seconds[process["pid"], process["create_time"]] = times.user + times.system
    return ProcessorTimes(at_s, seconds)


def busiest_pct(before: ProcessorTimes, after: ProcessorTimes, exclude: Collection[int]) -> float | None:
    """Processor use of the busiest process not in `exclude`, in percent of one core; None without a span.

    A process that began in between counts with all its time.
    """
    span_s = after.at_s - before.at_s
    if span_s <= 0:
        return None
    used = (
        seconds - before.seconds.get(key, 0.0)
        for key, seconds in after.seconds.items()
        if key[0] not in exclude
    )
    return round(100 * max(used, default=0.0) / span_s, 1)


def memory_holders(count: int, exclude: Collection[int]) -> list[tuple[str, int]]:
    """The `count` processes with most resident memory: (name, bytes), largest first."""
    found = [
        (str(process["name"] or "?"), int(process["memory_info"].rss))
        for process in _processes("pid", "name", "memory_info")
        if process["memory_info"] is not None and process["pid"] not in exclude
    ]
    return sorted(found, key=lambda holder: -holder[1])[:count]


def _processes(*names: str) -> Iterator[dict[str, Any]]:
    import psutil  # 15 ms of CPU that only a run owes

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            yield process.as_dict(attrs=names)
