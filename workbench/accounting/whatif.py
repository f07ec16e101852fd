"""What if: a batch of sequences, or a draft verified by the model. Weight bytes only; nothing is measured.

Experts are assumed to be chosen at random: B tokens that read k of E experts each touch E(1 - (1 - k/E)^B)
distinct ones on average. Real routers repeat themselves more.
"""

from typing import NamedTuple

from workbench.accounting.count import Count
from workbench.accounting.roles import Role


class WhatIf(NamedTuple):
    """`step_bytes` for all tokens of a step together, and divided by the tokens that come of it."""

    name: str
    step_bytes: float
    tokens: float

    @property
    def bytes_per_token(self) -> float:
        """What one produced token costs in weight bytes."""
        return self.step_bytes / self.tokens


def distinct_part(share: float, tokens: int) -> float:
    """The part of the experts that `tokens` tokens touch, each reading `share` = k/E of them."""
    return 1 - (1 - share) ** tokens


def batch(count: Count, size: int) -> WhatIf:
    """`size` sequences decoded together: dense weights are read once for all of them."""
    return WhatIf(f"batch {size}", _step_bytes(count, size), size)


def speculative(count: Count, drafted: int, accepted: float, draft_bytes: int = 0) -> WhatIf:
    """`drafted` tokens verified at once, each accepted with probability `accepted` (0 to 1).

    A round gives (1 - a^(g+1)) / (1 - a) tokens; the draft model reads `draft_bytes` per drafted token.
    """
    tokens = float(drafted + 1) if accepted >= 1 else (1 - accepted ** (drafted + 1)) / (1 - accepted)
    step = _step_bytes(count, drafted + 1) + drafted * draft_bytes
    return WhatIf(f"verify {drafted} drafted at {accepted:.0%}", step, tokens)


def _step_bytes(count: Count, tokens: int) -> float:
    total = 0.0
    for (role, share), size in count.stored_by_share.items():
        routed = role is Role.EXPERT and share < 1
        total += size * (distinct_part(float(share), tokens) if routed else float(share))
    return total
