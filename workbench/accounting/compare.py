"""Two counts side by side, and the count beside the seed rule: the difference, explained by role."""

from collections.abc import Iterable
from typing import NamedTuple

from workbench.accounting.count import Alike, Count
from workbench.accounting.roles import Role
from workbench.accounting.seedrow import seed_bytes


class Difference(NamedTuple):
    """Bytes per token of one role by two accounts, and why they differ (the rules in force on the left)."""

    role: Role
    left_bytes: int
    right_bytes: int
    rules: tuple[str, ...]

    @property
    def difference_bytes(self) -> int:
        """Right minus left."""
        return self.right_bytes - self.left_bytes


def compare(left: Count, right: Count) -> tuple[Difference, ...]:
    """Per role: what a token reads of two checkpoints; all roles that either has, the largest gap first."""
    found = [
        Difference(role, _per_token(left, role), _per_token(right, role), _rules(left, role))
        for role in Role
        if role in left.by_role or role in right.by_role
    ]
    return tuple(sorted(found, key=lambda difference: -abs(difference.difference_bytes)))


def against_seed(count: Count) -> tuple[Difference, ...]:
    """Per role: the count (left) and the seed rule on the same tensors (right); only what differs.

    The seed rule also reads files that no runtime loads; their bytes stand under `other`.
    """
    seed = _seed_by_role(count)
    rest = count.seed.weight_bytes - sum(seed.values())
    seed[Role.OTHER] = seed.get(Role.OTHER, 0) + rest
    found = [
        Difference(role, _per_token(count, role), seed.get(role, 0), _rules(count, role))
        for role in Role
        if _per_token(count, role) != seed.get(role, 0)
    ]
    return tuple(sorted(found, key=lambda difference: -abs(difference.difference_bytes)))


def _seed_by_role(count: Count) -> dict[Role, int]:
    groups: dict[Role, list[Alike]] = {}
    for group in _groups(count):
        groups.setdefault(group.role, []).append(group)
    return {role: seed_bytes(alike, count.seed) for role, alike in groups.items()}


def _per_token(count: Count, role: Role) -> int:
    totals = count.by_role.get(role)
    return 0 if totals is None else totals.per_token


def _rules(count: Count, role: Role) -> tuple[str, ...]:
    found: dict[str, int] = {}
    for group in _groups(count):
        if group.role is role:
            found[group.rule] = found.get(group.rule, 0) + group.disk_bytes
    return tuple(sorted(found, key=lambda rule: -found[rule]))


def _groups(count: Count) -> Iterable[Alike]:
    """The count's groups, or its rows one by one where somebody made it without."""
    return count.alike or (Alike(row.name, 1, row.disk_bytes, row.role, row.rule) for row in count.rows)
