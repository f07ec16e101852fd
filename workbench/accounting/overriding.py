"""Overrides in force: the tensors that they name leave their group and get another role or share."""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import replace

from workbench.accounting.account import Entry, Rows, add_up, alike, merge
from workbench.accounting.count import AppliedOverride, Count
from workbench.accounting.overrides import Override
from workbench.accounting.survey import Group
from workbench.accounting.verdict import Verdict
from workbench.checkpoint.checkpoint import Finding, Tensor
from workbench.escape import visible


def override(
    found: Count,
    tensors: Sequence[Tensor],
    group_of: Sequence[Group],
    entries: Sequence[Entry],
    overrides: Sequence[Override],
) -> Count:
    """`found` with `overrides` applied, the later over the earlier. Refusals stay: they need an eye first."""
    patterns = {entry: _compile(entry.tensors) for entry in overrides}
    hits = dict.fromkeys(overrides, 0)
    after = [Entry(_empty(entry.group, number), *entry[1:]) for number, entry in enumerate(entries)]
    moved: dict[tuple[int, tuple[Override, ...]], int] = {}
    groups: list[Group] = []
    for tensor, group in zip(tensors, group_of, strict=True):
        named = tuple(entry for entry, pattern in patterns.items() if pattern.match(tensor.name))
        number = group.number
        if named:
            key = (number, named)
            if key not in moved:
                moved[key] = len(after)
                old = entries[number]
                after.append(Entry(_empty(group, len(after)), _apply(old.verdict, named), old.factor))
            number = moved[key]
        for entry in named:
            hits[entry] += 1
        place = after[number].group
        place.tensors += 1
        place.bytes += tensor.nbytes
        groups.append(place)
    parts = merge(after)
    totals = add_up(parts)
    idle = (
        Finding(
            "override_idle",
            f"The override of {visible(entry.tensors, 120)} names no tensor of this checkpoint.",
        )
        for entry, count in hits.items()
        if not count
    )
    return replace(
        found,
        rows=Rows(tensors, groups, after),
        resident_bytes=totals.resident,
        weight_bytes=totals.weight,
        lookup_bytes=totals.lookup,
        by_role=totals.by_role,
        alike=alike(parts),
        stored_by_share=totals.by_share,
        findings=(*found.findings, *idle),
        overrides=tuple(
            AppliedOverride(entry.tensors, entry.role, entry.share, entry.reason, count)
            for entry, count in hits.items()
        ),
    )


def _compile(tensors: str) -> re.Pattern[str]:
    """A glob; an exact name matches itself even where it looks like a pattern."""
    return re.compile(f"(?:{re.escape(tensors)})\\Z|(?:{fnmatch.translate(tensors)})")


def _empty(group: Group, number: int) -> Group:
    return Group(number, group.pattern, group.written, group.first_bytes)


def _apply(verdict: Verdict, overrides: Sequence[Override]) -> Verdict:
    role, share = verdict.role, verdict.share
    for entry in overrides:
        role = entry.role or role
        share = share if entry.share is None else entry.share
    return Verdict(role, share, "override", verdict.loaded or share > 0, 0 if share else verdict.rows)
