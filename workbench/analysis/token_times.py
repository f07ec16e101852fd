"""Token times and the differences that a record keeps of them, both ways. No statistics.

A record holds, for each repeat, the nanoseconds between successive tokens: short numbers, no clock to align.
"""

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise


def differences(token_times_ns: Sequence[int]) -> list[int]:
    """Token times as the record keeps them: differences between successive tokens, in ns."""
    return [later - earlier for earlier, later in pairwise(token_times_ns)]


def times(differences_ns: Sequence[int]) -> list[int]:
    """Token times in ns since the first token from the record's differences."""
    return list(accumulate(chain([0], differences_ns)))


def even(tps: float, tokens: int) -> list[int]:
    """Evenly spaced times in ns at `tps` tok/s, for rows that kept none of their own."""
    return [round(token * 1e9 / tps) for token in range(tokens)]
