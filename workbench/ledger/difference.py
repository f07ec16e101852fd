"""Two records side by side, field by field: only what differs, numbers with their ratio."""

from dataclasses import dataclass
from typing import Any

import msgspec

from workbench.ledger.record import Record

NOT_COMPARED = frozenset({"record_id", "run_group_id", "sha256", "token_times_ns", "lock_id"})
"""Fields that differ between any two records and say nothing."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field (dotted where nested) with both values; `ratio` is right / left for two numbers."""

    field: str
    left: Any
    right: Any
    ratio: float | None = None


def compare(left: Record, right: Record) -> list[Difference]:
    """What differs between two records, in the record's order."""
    return list(_differences("", msgspec.to_builtins(left), msgspec.to_builtins(right)))


def shown(value: Any) -> str:
    """A value as one short text: a missing one is `null`."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _differences(prefix: str, left: dict[str, Any], right: dict[str, Any]) -> list[Difference]:
    found: list[Difference] = []
    for name in [*left, *(name for name in right if name not in left)]:
        field = f"{prefix}{name}"
        one, other = left.get(name), right.get(name)
        if one == other or field in NOT_COMPARED:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            found += _differences(f"{field}.", one, other)
        else:
            found.append(Difference(field, one, other, _ratio(one, other)))
    return found


def _ratio(left: Any, right: Any) -> float | None:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (left, right))
    return right / left if numbers and left else None
