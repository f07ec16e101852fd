"""From verdicts to rows and totals: every tensor's bytes on disk, resident, read and looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from workbench.accounting.count import RoleTotals, Row
from workbench.accounting.roles import Role
from workbench.accounting.survey import Group
from workbench.accounting.verdict import Verdict
from workbench.checkpoint.checkpoint import Tensor


class Bytes(NamedTuple):
    """What one tensor of a given size comes to under a verdict."""

    resident: int
    weight: int
    lookup: int


@dataclass(frozen=True, slots=True)
class Account:
    """The rows, parallel to the tensors, and exact totals."""

    rows: tuple[Row, ...]
    by_role: dict[Role, RoleTotals]
    resident_weight_bytes: int  # what a token reads of the weights as they are in memory

    @property
    def disk_bytes(self) -> int:
        """Bytes of all tensors as stored."""
        return sum(totals.on_disk for totals in self.by_role.values())

    @property
    def resident_bytes(self) -> int:
        """Bytes that the runtime keeps in memory."""
        return sum(totals.resident for totals in self.by_role.values())

    @property
    def weight_bytes(self) -> int:
        """Bytes that every token reads."""
        return sum(totals.per_token for totals in self.by_role.values())

    @property
    def lookup_bytes(self) -> int:
        """Bytes of the rows that every token looks up."""
        return sum(row.lookup_bytes for row in self.rows if row.lookup_bytes)


def draw_up(
    tensors: Sequence[Tensor], groups: Sequence[Group], verdicts: Sequence[Verdict], factors: Sequence[int]
) -> Account:
    """The account of `tensors`, whose groups run parallel; verdicts and factors go by a group's number.

    Totals are exact to the byte: bytes of one role and share are added up before the share is taken.
    """
    usual = {
        group.number: measure(group.first_bytes, verdicts[group.number], factors[group.number])
        for group in set(groups)
    }
    rows = []
    sums: dict[int, list[int]] = {number: [0, 0] for number in usual}
    make = Row._make
    for (name, dtype, shape, size, _), group in zip(tensors, groups, strict=True):
        number = group.number
        verdict = verdicts[number]
        resident, weight, lookup = (
            usual[number] if size == group.first_bytes else measure(size, verdict, factors[number])
        )
        rows.append(
            make(
                (
                    name,
                    dtype,
                    shape,
                    size,
                    resident,
                    weight,
                    lookup,
                    verdict.role,
                    verdict.share,
                    verdict.rule,
                )
            )
        )
        total = sums[number]
        total[0] += size
        total[1] += resident
    in_memory = sum(int(resident * verdicts[number].share) for number, (_, resident) in sums.items())
    return Account(tuple(rows), _totals(verdicts, sums), in_memory)


def measure(size: int, verdict: Verdict, factor: int) -> Bytes:
    """One tensor of `size` bytes on disk."""
    share = verdict.share
    return Bytes(
        resident=size * factor if verdict.loaded else 0,
        weight=size if share == 1 else size * share.numerator // share.denominator,
        lookup=size // verdict.rows if verdict.rows else 0,
    )


def _totals(verdicts: Sequence[Verdict], sums: dict[int, list[int]]) -> dict[Role, RoleTotals]:
    disk: dict[tuple[Role, Fraction], int] = {}
    resident: dict[Role, int] = {}
    for number, (on_disk, in_memory) in sums.items():
        verdict = verdicts[number]
        key = (verdict.role, verdict.share)
        disk[key] = disk.get(key, 0) + on_disk
        resident[verdict.role] = resident.get(verdict.role, 0) + in_memory
    return {
        role: RoleTotals(
            on_disk=sum(size for (of, _), size in disk.items() if of is role),
            resident=resident[role],
            per_token=sum(int(size * share) for (of, share), size in disk.items() if of is role),
        )
        for role in Role
        if role in resident
    }
