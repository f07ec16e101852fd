"""The live view of a running repeat: a few numbers, a few times a second. Never the measurement itself."""

from bisect import bisect_left
from collections.abc import Sequence

from workbench.worker.messages import Progress
from workbench.worker.outlet import Say

_NOW_NS = 500_000_000


class Live:
    """Says `Progress` for repeat `index` at most `hz` times a second; `hz` 0 says nothing."""

    def __init__(self, say: Say, index: int, hz: float, *, text: bool = False) -> None:
        self._say = say
        self._index = index
        self._every_ns = round(1e9 / hz) if hz > 0 else None
        self._due_ns = 0
        self._text: list[str] | None = [] if text else None

    def seen(self, times_ns: Sequence[int], text: str) -> None:
        """One more token came back; `times_ns` are the times of all tokens of this repeat."""
        if self._text is not None:
            self._text.append(text)
        now = times_ns[-1]
        if self._every_ns is None or now < self._due_ns:
            return
        self._due_ns = now + self._every_ns
        self._say(
            Progress(
                index=self._index,
                tokens=len(times_ns),
                elapsed_s=(now - times_ns[0]) / 1e9,
                tps_now=rate_now(times_ns),
                tps_mean=rate(times_ns),
                text="".join(self._text or ()),
            )
        )
        if self._text is not None:
            self._text.clear()


def rate_now(times_ns: Sequence[int]) -> float | None:
    """Tokens per second over about the last half second, one interval at least; None below two tokens."""
    first = bisect_left(times_ns, times_ns[-1] - _NOW_NS)
    return rate(times_ns, min(first, len(times_ns) - 2))


def rate(times_ns: Sequence[int], first: int = 0) -> float | None:
    """(n - 1) / (t_n - t_1) in tok/s from token `first` on; None where that is no rate."""
    if first < 0 or len(times_ns) < 2 or times_ns[-1] <= times_ns[first]:
        return None
    return (len(times_ns) - 1 - first) * 1e9 / (times_ns[-1] - times_ns[first])
