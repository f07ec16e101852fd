"""Two processes' monotonic clocks put side by side, by pairs of (perf_counter_ns, time_ns) read together.

A worker's token times and the meter's samples come from different processes; the wall clock, read in both, is
the bridge. What a step of the wall clock would spoil shows up as uncertainty.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median_low

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Add `offset_ns` to the other process's monotonic time to get ours; right to `uncertainty_ns`."""

    offset_ns: int = 0
    uncertainty_ns: int = 0

    def ours(self, their_ns: int) -> int:
        """Their moment on our monotonic clock."""
        return their_ns + self.offset_ns


def clock_pair(
    perf_counter_ns: Callable[[], int] = time.perf_counter_ns, time_ns: Callable[[], int] = time.time_ns
) -> Pair:
    """Both clocks at one moment: of five tries the one whose two monotonic readings lie closest."""
    tries = []
    for _ in range(5):
        before = perf_counter_ns()
        wall = time_ns()
        after = perf_counter_ns()
        tries.append((after - before, (before + after) // 2, wall))
    _, monotonic, wall = min(tries)
    return monotonic, wall


def align(theirs: Sequence[Pair], ours: Sequence[Pair]) -> Alignment:
    """The alignment that both processes' pairs give; ValueError when one has none.

    The uncertainty is half the spread that each side's pairs show: a stepped or slewed wall clock.
    """
    if not theirs or not ours:
        raise ValueError("aligning two clocks needs a pair from each")
    their_offsets = [wall - monotonic for monotonic, wall in theirs]
    our_offsets = [wall - monotonic for monotonic, wall in ours]
    spread = max(their_offsets) - min(their_offsets) + max(our_offsets) - min(our_offsets)
    return Alignment(median_low(their_offsets) - median_low(our_offsets), (spread + 1) // 2)
