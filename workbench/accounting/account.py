"""From verdicts to totals and rows: every tensor's bytes on disk, resident, read and looked up.

Totals come from groups; rows are made when somebody looks at them, so that a hundred thousand tensors cost
neither time nor memory before that.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, overload

from workbench.accounting.count import Alike, RoleTotals, Row
from workbench.accounting.roles import Role
from workbench.accounting.survey import Group
from workbench.accounting.verdict import Verdict
from workbench.checkpoint.checkpoint import Tensor


class Entry(NamedTuple):
    """A group as it is accounted: its verdict, and how many bytes in memory a stored byte becomes."""

    group: Group
    verdict: Verdict
    factor: int


class Part(NamedTuple):
    """Entries of one pattern with one verdict: the first of them, and their tensors and bytes together."""

    first: Entry
    tensors: int
    bytes: int


class Totals(NamedTuple):
    """Exact sums over a whole checkpoint, in bytes.

    Bytes of one role and share are added up before the share is taken. `resident_weight` is what a token
    reads of the weights in the form that the runtime keeps them in.
    """

    disk: int
    resident: int
    weight: int
    lookup: int
    resident_weight: int
    by_role: dict[Role, RoleTotals]
    by_share: dict[tuple[Role, Fraction], int]


class Rows(Sequence[Row]):
    """The account's rows, one per tensor, in the tensors' order; each is made on access."""

    __slots__ = ("_entries", "_group_of", "_tensors", "_usual")

    def __init__(
        self, tensors: Sequence[Tensor], group_of: Sequence[Group], entries: Sequence[Entry]
    ) -> None:
        self._tensors = tensors
        self._group_of = group_of
        self._entries = entries
        self._usual: dict[int, tuple[int, int, int, Role, Fraction, str]] = {}

    def __len__(self) -> int:
        return len(self._tensors)

    def __iter__(self) -> Iterator[Row]:
        return map(self._row, self._tensors, self._group_of)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(index, slice):
            return tuple(map(self._row, self._tensors[index], self._group_of[index]))
        return self._row(self._tensors[index], self._group_of[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Row.__eq__, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def _row(self, tensor: Tensor, group: Group) -> Row:
        size = tensor.nbytes
        usual = self._usual.get(group.number)
        if usual is None or size != group.first_bytes:
            usual = _measure(size, self._entries[group.number])
            if size == group.first_bytes:
                self._usual[group.number] = usual
        return Row(tensor.name, tensor.dtype, tensor.shape, size, *usual)


def merge(entries: Iterable[Entry]) -> list[Part]:
    """The entries that have tensors, equal layers together."""
    parts: dict[tuple[int, int], tuple[Entry, int, int]] = {}
    for entry in entries:
        group, verdict, _ = entry
        if group.tensors:
            key = (id(group.pattern), id(verdict))
            first, tensors, size = parts.get(key, (entry, 0, 0))
            parts[key] = (first, tensors + group.tensors, size + group.bytes)
    return list(map(Part._make, parts.values()))


def add_up(parts: Iterable[Part]) -> Totals:
    """The totals over all of them."""
    stored: dict[Verdict, list[int]] = {}  # bytes on disk and resident
    for entry, _, size in parts:
        total = stored.setdefault(entry.verdict, [0, 0])
        total[0] += size
        total[1] += size * entry.factor if entry.verdict.loaded else 0
    disk: dict[tuple[Role, Fraction], int] = {}
    resident: dict[Role, int] = {}
    lookup = resident_weight = 0
    for verdict, (on_disk, kept) in stored.items():
        key = (verdict.role, verdict.share)
        disk[key] = disk.get(key, 0) + on_disk
        resident[verdict.role] = resident.get(verdict.role, 0) + kept
        resident_weight += int(kept * verdict.share)
        lookup += on_disk // verdict.rows if verdict.rows else 0
    by_role = {
        role: RoleTotals(
            on_disk=sum(size for (of, _), size in disk.items() if of is role),
            resident=resident[role],
            per_token=sum(int(size * share) for (of, share), size in disk.items() if of is role),
        )
        for role in Role
        if role in resident
    }
    return Totals(
        disk=sum(total.on_disk for total in by_role.values()),
        resident=sum(resident.values()),
        weight=sum(total.per_token for total in by_role.values()),
        lookup=lookup,
        resident_weight=resident_weight,
        by_role=by_role,
        by_share=disk,
    )


def alike(parts: Iterable[Part]) -> tuple[Alike, ...]:
    """The parts as a count shows them."""
    return tuple(
        Alike(first.group.pattern.path.name, tensors, size, first.verdict.role, first.verdict.rule)
        for first, tensors, size in parts
    )


def _measure(size: int, entry: Entry) -> tuple[int, int, int, Role, Fraction, str]:
    """What stands in a row after the size on disk."""
    verdict = entry.verdict
    share = verdict.share
    return (
        size * entry.factor if verdict.loaded else 0,
        size if share == 1 else size * share.numerator // share.denominator,
        size // verdict.rows if verdict.rows else 0,
        verdict.role,
        share,
        verdict.rule,
    )
