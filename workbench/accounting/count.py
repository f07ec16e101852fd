"""The count: the rule engine's result for one checkpoint, and the types it is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from workbench.accounting.context import Context
from workbench.accounting.roles import Role
from workbench.checkpoint.checkpoint import Finding

RECORDED = "recorded"
"""In a rule's place: the row was put together from a record, and no rule was asked again."""


class Row(NamedTuple):
    """One tensor's place in the account.

    `share` is how much of the tensor one step reads (0, k/E, 1, or n for looped weights); look-up tables
    have share 0 and their row in `lookup_bytes`. `weight_bytes` is what the ceiling counts:
    `disk_bytes` x `share`, rounded down. `rule` is the id of a rule in `rules.RULES`.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    disk_bytes: int
    resident_bytes: int
    weight_bytes: int
    lookup_bytes: int
    role: Role
    share: Fraction
    rule: str


class Alike(NamedTuple):
    """Tensors whose names differ in list indices only and that share a verdict: `name` is one of them."""

    name: str
    tensors: int
    disk_bytes: int
    role: Role
    rule: str


class RoleTotals(NamedTuple):
    """Bytes of one role: on disk, as the runtime loads it, and read per token (look-up rows left out)."""

    on_disk: int
    resident: int
    per_token: int


class SeedCount(NamedTuple):
    """The source documents' four rules, taken literally (names by substring, every *.safetensors file)."""

    total_bytes: int
    vision_bytes: int
    embedding_bytes: int
    expert_bytes: int
    tied: bool
    experts: int
    experts_per_token: int
    weight_bytes: int


class AppliedOverride(NamedTuple):
    """One override as it was applied: to how many tensors, and why."""

    pattern: str
    role: Role | None
    share: Fraction | None
    reason: str
    tensors: int


@dataclass(frozen=True, slots=True)
class Count:
    """What one batch-1 decode step reads of a checkpoint, by the rules, for one runtime.

    `weight_bytes` is the sum that the ceiling uses; `by_role` holds every role that occurs;
    `findings` are the count's own warnings. A `refusal` means that no honest figure exists (experts without a
    valid k/E, say): the rows are for looking at, and nothing may be predicted from `weight_bytes`.
    With overrides, `overrides` lists them as applied and `weight_bytes_without_overrides` is what the rules
    alone say (equal to `weight_bytes` without any). `alike` has the rows in groups, quick to look through
    where there are a hundred thousand; `stored_by_share` the bytes on disk by role and share; `context` what
    a step reads besides the weights once there is a context. All figures are bytes.
    """

    runtime: str
    rows: Sequence[Row]
    disk_bytes: int
    resident_bytes: int
    weight_bytes: int
    lookup_bytes: int
    by_role: Mapping[Role, RoleTotals]
    tied: bool
    experts: int
    experts_per_token: int
    seed: SeedCount
    findings: tuple[Finding, ...]
    refusal: Finding | None = None
    rule_version: int = 1
    overrides: tuple[AppliedOverride, ...] = ()
    weight_bytes_without_overrides: int | None = None
    alike: tuple[Alike, ...] = ()
    stored_by_share: Mapping[tuple[Role, Fraction], int] = field(default_factory=dict)
    context: Context = field(default_factory=Context)

    @property
    def is_overridden(self) -> bool:
        """Whether an override is in force: one that names no tensor here changes nothing."""
        return any(one.tensors for one in self.overrides)

    @property
    def weight_bytes_by_rules(self) -> int:
        """Weight bytes by the rules alone."""
        untouched = self.weight_bytes_without_overrides
        return self.weight_bytes if untouched is None else untouched
