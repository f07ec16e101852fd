"""The validator: what a measured fraction means, in one word and in sentences that each give a reason.

A fraction above 100 % is a counting error, always. The observations that do not decide the word are in
`observations`; what stands behind a counting error is in `counting_error`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from msgspec.structs import replace

from workbench.analysis.counting_error import (
    COUNT,
    COUNTING_RULES,
    WITHOUT_OVERRIDES,
    JudgedCeiling,
    Miscounted,
    counting_error,
    judged_ceilings,
    rule_words,
)
from workbench.analysis.derive import derive
from workbench.analysis.excess import Alternative, alternatives_of
from workbench.analysis.low import low_reason
from workbench.analysis.observations import PROMPT_CACHE, observations, stood_still
from workbench.analysis.rates import NO_MACHINE_TPS, plausible_tps
from workbench.ledger.record import Record
from workbench.ledger.words import gb, percent
from workbench.prediction.ceiling import BandwidthKind


class Word(StrEnum):
    """The verdict in a word."""

    OK = "ok"
    LOW = "low"
    COUNTING_ERROR = "counting error"
    NOT_APPLICABLE = "not applicable"
    SPOILED = "spoiled"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the validator says: `word`, a sentence for each reason, and which errors explain an excess."""

    word: Word
    reasons: tuple[str, ...] = ()
    excess_explained_by: tuple[str, ...] = ()
    miscounted: Miscounted | None = None


def judge(
    record: Record,
    alternatives: Sequence[Alternative] = (),
    spoiled: Sequence[str] = (),
    probe: Record | None = None,
) -> Verdict:
    """Judge a measured, imported or external record.

    `alternatives` are the count's (`excess.alternatives`); without them the record's own bytes group is
    used. `spoiled` are sentences about conditions that spoilt the run; a pause at one token joins them.
    `probe` is this machine's bandwidth record, the evidence for kernels that stop below the bus.
    """
    record = derive(record)
    if record.generation_tps is None:
        return Verdict(Word.NONE, (_nothing_measured(record),))
    if plausible_tps(record.generation_tps) is None:
        return Verdict(
            Word.NONE,
            (
                f"No machine decodes at {record.generation_tps:g} tok/s (the limit here is"
                f" {NO_MACHINE_TPS:,.0f}): this is a first-token spike or a broken clock, not a rate.",
            ),
        )
    spoiled = tuple(sentence for sentence in (stood_still(record), *spoiled) if sentence)
    noted = tuple(observations(record))
    exception = not_applicable_reason(record)
    if exception:
        return Verdict(Word.NOT_APPLICABLE, (exception, *spoiled, *noted))
    ceilings = judged_ceilings(record)
    if not ceilings:
        why = "there is no bandwidth figure" if record.weight_bytes_per_token else "the bytes are not known"
        return Verdict(Word.NONE, (f"There is no ceiling to judge by: {why}.", *spoiled, *noted))
    error = counting_error(record, ceilings, tuple(alternatives) or tuple(alternatives_of(record)))
    if error is not None:
        reasons = (*error.reasons, *spoiled, *noted)
        return Verdict(Word.COUNTING_ERROR, reasons, error.explained_by, error.miscounted)
    own = [one for one in ceilings if one.rule == (record.rule or COUNT)] or ceilings
    noted = (*_chosen_rule(own[0], ceilings), *_other_rules(ceilings, own[0].rule), *noted)
    if spoiled:
        return Verdict(Word.SPOILED, (*spoiled, *noted))
    low = low_reason(record, _bus_ceiling(own), probe)
    if low:
        return Verdict(Word.LOW, (low, *noted))
    parts = "; ".join(f"{percent(one.fraction)} of the ceiling at {one.name}" for one in own)
    return Verdict(Word.OK, (f"Plausible: {parts}.", *noted))


def judged(
    record: Record,
    alternatives: Sequence[Alternative] = (),
    spoiled: Sequence[str] = (),
    probe: Record | None = None,
) -> Record:
    """The record with its derived fields and its verdict filled in."""
    verdict = judge(record, alternatives, spoiled, probe)
    return replace(
        derive(record),
        verdict=str(verdict.word),
        verdict_reasons=list(verdict.reasons),
        excess_explained_by=list(verdict.excess_explained_by),
    )


def not_applicable_reason(record: Record) -> str:
    """Why one token does not read the weights once over the bus here; empty when it does."""
    if record.batch is not None and record.batch > 1:
        return f"Batch {record.batch}: one read of the weights serves several tokens."
    if record.draft_model:
        return "A draft model guesses ahead: one read of the weights may give several tokens."
    if record.hosts is not None and record.hosts > 1:
        return f"{record.hosts} machines share the weights: one machine's bandwidth is not the limit."
    if any(warning.code == PROMPT_CACHE for warning in record.warnings):
        return "A prompt cache was in use: part of the work was done before the clock started."
    cache, weights = record.last_level_cache_bytes, record.weight_bytes_per_token
    if cache and weights and weights <= cache:
        return (
            f"The {gb(weights)} that a token reads fit the last-level cache ({gb(cache)}):"
            " the memory bus is not what limits it."
        )
    return ""


def _nothing_measured(record: Record) -> str:
    because = f": {record.reason.rstrip('.')}" if record.reason else ""
    return f"Nothing was measured (the run's status is {record.status}{because})."


def _chosen_rule(own: JudgedCeiling, ceilings: Sequence[JudgedCeiling]) -> list[str]:
    """That a rule other than the count is in force, and what the count makes of the same rate.

    A fraction below 100 % proves no rule: all bytes of a mixture may hide below a bus that is far from full.
    """
    if own.rule in COUNTING_RULES:
        return []
    return [
        f"The rule in force, {own.rule}, {rule_words(own.rule)}; by the count it is {percent(one.fraction)}"
        f" of the ceiling at {one.name}."
        for one in ceilings
        if one.rule in COUNTING_RULES and one.gbps == own.gbps
    ]


def _other_rules(ceilings: Sequence[JudgedCeiling], own_rule: str) -> list[str]:
    """A sentence for each other rule whose ceiling is exceeded: that rule is wrong, the run stands."""
    worst: dict[str, JudgedCeiling] = {}
    for one in ceilings:
        is_over = one.fraction > 1 and one.rule != own_rule
        if is_over and (one.rule not in worst or one.fraction > worst[one.rule].fraction):
            worst[one.rule] = one
    return [
        f"Without the overrides it would be {percent(one.fraction)} of the ceiling at {one.name}."
        if one.rule == WITHOUT_OVERRIDES
        else f"The rule {one.rule} would make it {percent(one.fraction)} of the ceiling at {one.name}:"
        " that rule counts what no token reads."
        for one in worst.values()
    ]


def _bus_ceiling(ceilings: Sequence[JudgedCeiling]) -> JudgedCeiling | None:
    """The spec ceiling, else the theoretical one: the low question is asked of these only."""
    for kind in (BandwidthKind.SPEC, BandwidthKind.THEORETICAL):
        for one in ceilings:
            if one.kind is kind:
                return one
    return None
