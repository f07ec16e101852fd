"""Every group's fit as the screen shows it, the source documents' office rows last: made in a thread, pure.

Groups of the checkpoint whose prediction is still to be said are named and not shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.analysis.fit import Fit, Standing, fit
from workbench.analysis.fit_groups import Group, GroupFit, fits
from workbench.analysis.fit_words import office_sentences, outlier_row, rows, sentences
from workbench.analysis.least_squares import Point
from workbench.analysis.reference import (
    DATE,
    MACHINE,
    PUBLISHED_GBPS,
    PUBLISHED_OVERHEAD_S,
    SPEC,
    office_points,
)
from workbench.ledger.record import Record
from workbench.ledger.words import rate
from workbench.prediction.ceiling import BandwidthKind
from workbench.tui.hidden import Hidden

OFFICE = f"{MACHINE} | the source documents, {DATE}"
OFFICE_FAMILY = "qwen3_5"
SHORT = {
    Standing.LINE: "2 points",
    Standing.NO_CLAIM: "no claim",
    Standing.INTERVAL: "interval",
    Standing.CLAIM: "claim",
}
"""The standing in a word; the sentences below the table say it in full."""


@dataclass(frozen=True, slots=True)
class FitView:
    """One group: its points, the fit or why there is none, and `beside`, shown and never fitted.

    `gbps` makes the fractions, None where no record of the group names a figure. `reference` is another
    line's overhead in s and bandwidth in GB/s.
    """

    name: str
    standing: str
    points: tuple[Point, ...]
    fit: Fit | None
    beside: tuple[Point, ...] = ()
    gbps: float | None = None
    reference: tuple[float, float] | None = None
    words: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    hidden: bool = False
    label: str = ""
    """The name with what tells groups apart in front: a narrow table cuts it."""


def views(records: Iterable[Record], discarded: Mapping[str, str], hidden: Hidden) -> list[FitView]:
    """The ledger's groups, largest first, then the office rows. No record is held."""
    figures: dict[str, float] = {}
    groups = fits(_passing(records, figures), discarded)
    made = [_group_view(one, groups, figures) for one in groups]
    families = [one.group.family for one in groups]
    made = [
        _covered(view) if hidden.hides_family(family) else view
        for view, family in zip(made, families, strict=True)
    ]
    office = office_view()
    return [*made, _covered(office) if hidden.hides_family(OFFICE_FAMILY) else office]


def office_view() -> FitView:
    """The five dense office rows fitted, the published pair beside them, the mixture as the outlier."""
    dense, mixture = office_points()
    fitted = fit(dense)
    return FitView(
        name=OFFICE,
        standing=SHORT[fitted.standing],
        points=fitted.points,
        fit=fitted,
        beside=(mixture,),
        gbps=SPEC.gbps,
        reference=(PUBLISHED_OVERHEAD_S, PUBLISHED_GBPS),
        words=tuple(office_sentences()),
        rows=(*rows(fitted), outlier_row(fitted, mixture)),
    )


def _group_view(one: GroupFit, groups: Sequence[GroupFit], figures: Mapping[str, float]) -> FitView:
    mixtures = [
        point
        for other in groups
        if other is not one
        and other.group.family.endswith(", mixture")
        and (other.group.machine, other.group.runtime, other.group.weight_format)
        == (one.group.machine, one.group.runtime, one.group.weight_format)
        for point in other.points
    ]
    words = [] if one.fit is None else sentences(one.fit)
    if one.fit is None:
        words = [f"No fit: {one.refusal}"]
    if mixtures:
        words.append("Mixtures of this machine stand beside the fit and are not in it.")
    words += [f"{count} left out: {why}." for why, count in _reasons(one)]
    table = (
        rows(one.fit)
        if one.fit is not None
        else [
            (p.name, f"{p.weight_bytes / 1e9:.3f}", f"{p.seconds * 1e3:.2f}", rate(p.tps)) for p in one.points
        ]
    )
    beside = tuple(mixtures) if one.fit is not None else ()
    return FitView(
        name=one.group.words,
        label=_label(one.group),
        standing=SHORT[one.fit.standing] if one.fit is not None else "no fit",
        points=one.fit.points if one.fit is not None else one.points,
        fit=one.fit,
        beside=beside,
        gbps=figures.get(one.group.machine.split(",")[0]),
        words=tuple(words),
        rows=(*table, *(outlier_row(one.fit, point) for point in beside if one.fit is not None)),
    )


def _label(group: Group) -> str:
    parts = (group.family, group.weight_format, group.machine, group.runtime, group.context)
    return " | ".join(part for part in parts if part)


def _covered(view: FitView) -> FitView:
    return FitView(
        name=view.name,
        label=view.label,
        standing="hidden",
        points=(),
        fit=None,
        words=("Hidden until your number is locked: it would give the number away.",),
        hidden=True,
    )


def _reasons(one: GroupFit) -> list[tuple[str, int]]:
    counted: dict[str, int] = {}
    for _, why in one.left_out:
        counted[why] = counted.get(why, 0) + 1
    return sorted(counted.items(), key=lambda item: -item[1])[:3]


def _passing(records: Iterable[Record], figures: dict[str, float]) -> Iterator[Record]:
    """The records, noting each machine's newest bandwidth figure, a published one before any other."""
    published: set[str] = set()
    for record in records:
        name = record.alias or record.device
        if name and record.bandwidth_gbps:
            if record.bandwidth_kind in {BandwidthKind.SPEC, BandwidthKind.THEORETICAL}:
                published.add(name)
                figures[name] = record.bandwidth_gbps
            elif name not in published:
                figures[name] = record.bandwidth_gbps
        yield record
