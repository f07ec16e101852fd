"""A fraction above 100 %: what was miscounted, and which usual errors explain the excess, in sentences.

The word and the order of the questions are `verdict`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from workbench.analysis.excess import Alternative, composition, explanations
from workbench.ledger.record import Record
from workbench.ledger.words import gb, gbps, percent, rate
from workbench.prediction.ceiling import BandwidthKind, figure_and_rule, fraction

BUS_KINDS = {BandwidthKind.SPEC, BandwidthKind.THEORETICAL}
"""Figures that no kernel passes; an achieved or stated figure may simply be too low."""
COUNT = "count"
WITHOUT_OVERRIDES = "count without overrides"
"""How the ceiling of the un-overridden count is named."""
COUNTING_RULES = {COUNT, "graph", "override"}
"""Ways to the bytes in force; the others (seed, whole-file, all-bytes) count what no token reads."""


class Miscounted(StrEnum):
    """What a counting error is about."""

    BYTES = "bytes"
    BANDWIDTH = "bandwidth"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class JudgedCeiling:
    """One ceiling with the measured fraction of it, the kind of its bandwidth, and the rule of its bytes."""

    name: str
    gbps: float
    tps: float
    fraction: float
    kind: BandwidthKind | None
    rule: str


@dataclass(frozen=True, slots=True)
class CountingError:
    """What was miscounted, why we say so, and the usual errors that explain it, most frequent first."""

    miscounted: Miscounted
    reasons: tuple[str, ...]
    explained_by: tuple[str, ...]


def judged_ceilings(record: Record) -> list[JudgedCeiling]:
    """The record's ceilings with the fraction of each; count, graph and override are one rule here."""
    own_rule = record.rule or COUNT
    found = []
    for ceiling in record.ceilings:
        if ceiling.tps <= 0 or not record.generation_tps:
            continue
        kind, rule = figure_and_rule(ceiling.name)
        if rule is None or (rule in COUNTING_RULES and own_rule in COUNTING_RULES):
            rule = own_rule
        value = fraction(record.generation_tps, ceiling.tps)
        found.append(JudgedCeiling(ceiling.name, ceiling.gbps, ceiling.tps, value, kind, rule))
    return found


def counting_error(
    record: Record, ceilings: Sequence[JudgedCeiling], alternatives: Sequence[Alternative]
) -> CountingError | None:
    """What is wrong with a rate above a ceiling by the rule in force; None where none is exceeded.

    Over a spec or theoretical figure: the bytes. Over an achieved or stated figure only: first the
    bandwidth, then the bytes. By a rule that is not the count: that rule.
    """
    own_rule = record.rule or COUNT
    in_force = [one for one in ceilings if one.rule == own_rule] or list(ceilings)
    over = [one for one in in_force if one.fraction > 1]
    if not over:
        return None
    over_bus = [one for one in over if one.kind in BUS_KINDS]
    worst = max(over_bus or over, key=lambda one: one.fraction)
    nbytes = record.weight_bytes_per_token or 0
    explained = explanations(nbytes, worst.fraction, alternatives) if nbytes else []
    if own_rule not in COUNTING_RULES:
        miscounted, reasons = Miscounted.RULE, _rule_reasons(own_rule, nbytes, worst, ceilings)
    elif over_bus:
        miscounted = Miscounted.BYTES
        reasons = _bytes_reasons(record, worst, in_force, ceilings, bool(explained))
    else:
        miscounted, reasons = Miscounted.BANDWIDTH, _bandwidth_reasons(worst, in_force)
    return CountingError(
        miscounted,
        (
            _headline(record, worst, miscounted, bool(explained)),
            *reasons,
            *_explained(explained, alternatives, nbytes, worst.fraction),
        ),
        tuple(_names(errors) for errors in explained),
    )


def _headline(record: Record, worst: JudgedCeiling, miscounted: Miscounted, is_explained: bool) -> str:
    so = "not a fast machine, a wrong count"
    if miscounted is Miscounted.BANDWIDTH:
        so = "the figure is too low, or the count is wrong"
    elif _is_hearsay(record, miscounted) and not is_explained:
        so = "not a fast machine, a wrong count or a wrong claim"
    effective = f", {gbps(record.effective_gbps)} effective" if record.effective_gbps else ""
    return (
        f"{rate(record.generation_tps or 0)} tok/s is {percent(worst.fraction)} of the ceiling at"
        f" {worst.name} ({rate(worst.tps)} tok/s){effective}: {so}."
    )


def rule_words(rule: str) -> str:
    """What a rule that is not the count does, as a predicate."""
    return {
        "all-bytes": "counts every byte on disk as read per token",
        "whole-file": "takes the whole file for what a token reads",
        "seed": "is the four rules by name, taken literally",
    }.get(rule, "is not the count")


def _rule_reasons(
    rule: str, nbytes: int, worst: JudgedCeiling, ceilings: Sequence[JudgedCeiling]
) -> list[str]:
    return [f"The rule was wrong: {rule} {rule_words(rule)} ({gb(nbytes)})."] + [
        f"By the rule {one.rule}, the same rate is {percent(one.fraction)} of the ceiling at {one.name}."
        for one in ceilings
        if one.rule in COUNTING_RULES and one.gbps == worst.gbps
    ]


def _is_hearsay(record: Record, miscounted: Miscounted) -> bool:
    """Whether the rate itself is doubtful, because it was measured elsewhere."""
    return miscounted is Miscounted.BYTES and record.experiment == "external"


def _bytes_reasons(
    record: Record,
    worst: JudgedCeiling,
    in_force: Sequence[JudgedCeiling],
    others: Sequence[JudgedCeiling],
    is_explained: bool,
) -> list[str]:
    nbytes = record.weight_bytes_per_token or 0
    reasons = [f"The bytes were miscounted: {gb(nbytes)} per token cannot be right."]
    if _is_hearsay(record, Miscounted.BYTES) and not is_explained:
        reasons = [
            f"Either the {gb(nbytes)} per token are wrong, or the number is of another machine, another"
            " checkpoint or more than one stream."
        ]
    reasons += [
        f"Bus width x rate gives {one.gbps:g} GB/s, of which it is {percent(one.fraction)}:"
        " vendors round, but no kernel comes that near."
        for one in in_force
        if worst.kind is BandwidthKind.SPEC and one.kind is BandwidthKind.THEORETICAL and one.fraction <= 1
    ]
    reasons += [
        f"Without the overrides it is {percent(one.fraction)} of the ceiling at {one.name}: check them."
        for one in others
        if one.rule == WITHOUT_OVERRIDES and one.fraction <= 1 and one.gbps == worst.gbps
    ]
    if not is_explained:
        reasons.append(
            "None of the usual errors explains it: check the bandwidth figure, and whether batch,"
            " draft model or prompt cache were in use."
        )
    return reasons


def _bandwidth_reasons(worst: JudgedCeiling, in_force: Sequence[JudgedCeiling]) -> list[str]:
    bus = [one for one in in_force if one.kind in BUS_KINDS]
    return [
        f"Only the {worst.kind or 'stated'} figure is exceeded: is {worst.gbps:g} GB/s understated?",
        *(f"Of the ceiling at {one.name} it is {percent(one.fraction)}." for one in bus[:1]),
        "If the bandwidth figure holds, the bytes per token were counted too high.",
    ]


def _explained(
    explained: Sequence[tuple[Alternative, ...]],
    alternatives: Sequence[Alternative],
    nbytes: int,
    value: float,
) -> list[str]:
    sentences = []
    for errors in explained:
        right = nbytes - sum(one.excess_bytes for one in errors)
        if errors[0].excess_bytes < 0:
            right = errors[0].weight_bytes
        sentences.append(
            f"Explained by: {_names(errors)}. Put right, a token reads {gb(right)}"
            f" and the fraction is {percent(value * right / nbytes)}."
        )
    made_of = composition(nbytes, alternatives) if nbytes else None
    if made_of:
        parts = ", ".join(f"{one.name} ({gb(one.excess_bytes)})" for one in made_of)
        sentences.append(f"The bytes in force are the count of {gb(made_of[0].count_bytes)} and: {parts}.")
    return sentences


def _names(errors: Sequence[Alternative]) -> str:
    return " and ".join(one.name for one in errors)
