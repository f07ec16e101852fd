"""What a rule says of a group of tensors: their role, their share, whether the runtime loads them."""

from fractions import Fraction
from typing import NamedTuple

from workbench.accounting.roles import Role

ZERO = Fraction(0)
ONE = Fraction(1)


class Verdict(NamedTuple):
    """`share` of the tensor's bytes are read by one step; `rows` > 0 marks a look-up table of that many rows.

    `rule` is the id of the rule that said so. `loaded` is False where the runtime drops the tensor.
    `experts` is E as the headers show it for routed experts, else 0.
    """

    role: Role
    share: Fraction
    rule: str = ""
    loaded: bool = True
    rows: int = 0
    experts: int = 0


def unread(role: Role, *, loaded: bool = False) -> Verdict:
    """A tensor that no step reads; the runtime does not even load it unless `loaded`."""
    return Verdict(role, ZERO, loaded=loaded)


def whole(role: Role) -> Verdict:
    """A tensor that every step reads in full."""
    return Verdict(role, ONE)


def one_row(role: Role, rows: int) -> Verdict:
    """A table of `rows` rows that every step looks one up in."""
    return Verdict(role, ZERO, rows=max(1, rows))
