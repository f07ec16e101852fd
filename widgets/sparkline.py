"""A course of values in one row of block characters: plain text in one colour, a few bytes to send."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], cells: int) -> str:
    """The last `cells` values as blocks, from 0 or the least of them (where all lie close) to the largest."""
    shown = values[-cells:] if cells > 0 else ()
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    floor = 0.0 if low < high / 2 else low - (high - low)  # steady watts: show their course, not a bar
    span = high - floor
    if span <= 0:
        return BLOCKS[len(BLOCKS) // 2] * len(shown)
    return "".join(BLOCKS[min(len(BLOCKS) - 1, int((value - floor) / span * len(BLOCKS)))] for value in shown)
