"""The meter: several sources at once, each its own rows, never added; and what they gave, as a frozen trace.

The samples come in on the sources' own threads. Closing the meter ends every process that it started.
"""

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from workbench.power.clocks import Pair, clock_pair
from workbench.power.source import Feed, PowerSource, Row, Sample

KEPT_SAMPLES = 40_000


@dataclass(frozen=True, slots=True)
class RowTrace:
    """One row's samples so far, oldest first; `ended` says why no more will come."""

    row: Row
    samples: tuple[Sample, ...] = ()
    ended: str | None = None

    @property
    def rails(self) -> tuple[str, ...]:
        """The rails seen, in the order of the row's parts, then others."""
        seen = {rail for sample in self.samples for rail in sample.rails_w}
        return (*(rail for rail in self.row.parts if rail in seen), *sorted(seen - set(self.row.parts)))


@dataclass(frozen=True, slots=True)
class Trace:
    """What a meter has gathered: rows beside each other, and clock pairs to align another process with."""

    rows: tuple[RowTrace, ...] = ()
    clock_pairs: tuple[Pair, ...] = ()


class Meter:
    """Runs `sources` until `stop`; whatever they start ends by itself after about `limit_s` seconds."""

    def __init__(self, sources: Sequence[PowerSource], *, limit_s: float = 1800.0) -> None:
        self._sources = tuple(sources)
        self._limit_s = limit_s
        self._arrived = threading.Condition()
        self._gatherers = [_Gatherer(source, self._arrived) for source in self._sources]
        self._feeds: list[Feed] = []
        self._clock_pairs: list[Pair] = []

    def start(self) -> None:
        """Open every source. Returns at once; a source that cannot start says so in its rows."""
        if self._feeds:
            return
        self._clock_pairs.append(clock_pair())
        for source, gatherer in zip(self._sources, self._gatherers, strict=True):
            self._feeds.append(source.open(gatherer, self._limit_s))

    def stop(self) -> Trace:
        """Close every source and give the whole trace; nothing that was started is left running."""
        feeds, self._feeds = self._feeds, []
        for feed in feeds:
            feed.close()
        if feeds:
            self._clock_pairs.append(clock_pair())
        return self._trace(())

    def trace(self) -> Trace:
        """What has been gathered so far."""
        return self._trace((clock_pair(),))

    def wait_for(self, at_ns: int, timeout_s: float) -> bool:
        """Wait until every row that still lives has a sample of `at_ns` or later; False on time-out.

        A row of typed watts has its one sample and is never waited for.
        """
        deadline = time.monotonic() + timeout_s
        with self._arrived:
            while any(gatherer.waits_for(at_ns) for gatherer in self._gatherers):
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._arrived.wait(left)
        return True

    def _trace(self, more: tuple[Pair, ...]) -> Trace:
        with self._arrived:
            rows = tuple(row for gatherer in self._gatherers for row in gatherer.rows())
        return Trace(rows, (*self._clock_pairs, *more))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()


class _Gatherer:
    """One source's sink: called from the source's threads, read by the meter under the same lock."""

    def __init__(self, source: PowerSource, arrived: threading.Condition) -> None:
        self._rows = {row.key: row for row in source.rows}
        self._samples = {key: deque[Sample](maxlen=KEPT_SAMPLES) for key in self._rows}
        self._ended: dict[str, str] = {}
        self._arrived = arrived

    def sample(self, key: str, sample: Sample) -> None:
        with self._arrived:
            self._samples[key].append(sample)
            self._arrived.notify_all()

    def ended(self, why: str, key: str | None = None) -> None:
        with self._arrived:
            for one in self._rows if key is None else (key,):
                self._ended.setdefault(one, why)
            self._arrived.notify_all()

    def version(self, text: str) -> None:
        with self._arrived:
            self._rows = {key: replace(row, version=text) for key, row in self._rows.items()}

    def rows(self) -> list[RowTrace]:
        return [
            RowTrace(row, tuple(self._samples[key]), self._ended.get(key)) for key, row in self._rows.items()
        ]

    def waits_for(self, at_ns: int) -> bool:
        return any(
            key not in self._ended and not self._reached(row, at_ns) for key, row in self._rows.items()
        )

    def _reached(self, row: Row, at_ns: int) -> bool:
        samples = self._samples[row.key]
        return bool(samples) and (row.is_typed or samples[-1].at_ns >= at_ns)
