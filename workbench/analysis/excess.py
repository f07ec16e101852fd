"""Explain the excess: which usual counting error makes an impossible fraction possible.

The errors and their order of frequency are those of "Write the Prediction Before the Number".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from workbench.accounting.count import Count
from workbench.ledger.parts import RoleBytes
from workbench.ledger.record import Record

TOLERANCE = 0.001
"""Byte totals closer than this share are the same count."""

_ERRORS = (
    ("vision tower counted", ("vision", "projector")),
    ("embedding table counted though the head is a tensor of its own", ("embedding",)),
    ("experts counted in full", ("expert",)),
    ("draft layers counted", ("draft",)),
    ("audio tower counted", ("audio",)),
)
_TIE_FLIPPED = "the tie of embedding and head taken the wrong way round"
_OTHERS = "other tensors counted that no token reads"


class _Totals(Protocol):
    @property
    def on_disk(self) -> int: ...
    @property
    def per_token(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Alternative:
    """One counting error: a token would read `weight_bytes` by it, and reads `count_bytes` by the count."""

    name: str
    weight_bytes: int
    count_bytes: int

    @property
    def excess_bytes(self) -> int:
        """Bytes that the error adds; below 0 it leaves some out."""
        return self.weight_bytes - self.count_bytes


def alternatives(count: Count) -> list[Alternative]:
    """The count with each usual error made, most frequent first; errors that change nothing are left out."""
    return _alternatives(count.weight_bytes, {str(role): t for role, t in count.by_role.items()}, count.tied)


def alternatives_of(record: Record) -> list[Alternative]:
    """The same from a record's bytes group; empty where the record does not know its parts."""
    if record.roles:
        counted = sum(role.per_token for role in record.roles.values())
        return _alternatives(counted, record.roles, bool(record.tied_embeddings))
    total = record.weight_bytes_total
    if total is None or record.weight_bytes_embed is None:
        return []
    roles = _roles_of_the_source_fields(record)
    counted = total - sum(role.on_disk - role.per_token for role in roles.values())
    return _alternatives(counted, roles, bool(record.tied_embeddings))


def explanations(
    in_force_bytes: int, fraction: float, candidates: Sequence[Alternative]
) -> list[tuple[Alternative, ...]]:
    """The fewest errors that, put right, bring `fraction` to 1 or below: one at a time, else in pairs, ...

    An error explains only if the bytes in force contain what it adds (`in_force_bytes` against the count),
    or if its own, smaller count would do. Most frequent first; empty where nothing explains it.
    """
    made = [one for one in candidates if _contained(one, in_force_bytes)]
    for size in range(1, len(made) + 1):
        found = [
            errors
            for errors in combinations(made, size)
            if 0 < _corrected(in_force_bytes, errors) <= in_force_bytes / fraction
        ]
        if found:
            return found
    return [
        (one,)
        for one in candidates
        if one.excess_bytes < 0 and 0 < one.weight_bytes <= in_force_bytes / fraction
    ]


def composition(in_force_bytes: int, candidates: Sequence[Alternative]) -> tuple[Alternative, ...] | None:
    """The errors that together give exactly the bytes in force (to 0.1 %); None where no set of them does."""
    added = [one for one in candidates if one.excess_bytes > 0]
    for size in range(1, len(added) + 1):
        for errors in combinations(added, size):
            together = errors[0].count_bytes + sum(one.excess_bytes for one in errors)
            if abs(together - in_force_bytes) <= TOLERANCE * in_force_bytes:
                return errors
    return None


def _corrected(in_force_bytes: int, errors: Iterable[Alternative]) -> int:
    return in_force_bytes - sum(one.excess_bytes for one in errors)


def _contained(one: Alternative, in_force_bytes: int) -> bool:
    slack = TOLERANCE * in_force_bytes
    return 0 < one.excess_bytes <= in_force_bytes - one.count_bytes + slack


def _alternatives(count_bytes: int, roles: Mapping[str, _Totals], tied: bool) -> list[Alternative]:
    added = {name: max(0, totals.on_disk - totals.per_token) for name, totals in roles.items()}
    found = [
        Alternative(error, count_bytes + excess, count_bytes)
        for error, of in _ERRORS
        if (excess := sum(added.pop(role, 0) for role in of))
    ]
    table = roles.get("embedding")
    if tied and table is not None and table.per_token:
        at = sum(one.name in {_ERRORS[0][0]} for one in found)
        found.insert(at, Alternative(_TIE_FLIPPED, count_bytes - table.per_token, count_bytes))
    if rest := sum(added.values()):
        found.append(Alternative(_OTHERS, count_bytes + rest, count_bytes))
    return found


def _roles_of_the_source_fields(record: Record) -> dict[str, RoleBytes]:
    """The parts that the source documents' records name, by their four rules."""
    embed, experts = record.weight_bytes_embed or 0, record.weight_bytes_experts or 0
    share = (record.experts_per_token or 0) / record.experts if record.experts else 1.0
    vision, draft = record.weight_bytes_vision or 0, record.weight_bytes_draft or 0
    read_of_table = embed if record.tied_embeddings else 0
    return {
        "vision": RoleBytes(vision, vision, 0),
        "embedding": RoleBytes(embed, embed, read_of_table),
        "expert": RoleBytes(experts, experts, int(experts * share)),
        "draft": RoleBytes(draft, draft, 0),
    }
