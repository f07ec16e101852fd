"""What a rule says of a tensor: its role, its share, whether the runtime loads it, by which rule."""

from dataclasses import dataclass
from fractions import Fraction

from workbench.accounting.roles import Role

ZERO = Fraction(0)
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`share` of the tensor's bytes are read by one step; `rows` > 0 marks a look-up table of that many rows.

    `loaded` is False where the runtime drops the tensor. `experts` is E as the headers show it for routed
    experts, else 0.
    """

    role: Role
    share: Fraction
    rule: str
    loaded: bool = True
    rows: int = 0
    experts: int = 0
