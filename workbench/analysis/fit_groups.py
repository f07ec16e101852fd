"""Which records make one fit: one machine, runtime, model family and weight format, and only sound runs.

Several runs of one checkpoint are one point: repeating a model does not make a second one.
"""

import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.analysis.counting_error import COUNTING_RULES
from workbench.analysis.fit import Fit, FitRefusedError, estimate, fit
from workbench.analysis.least_squares import Point, Weighting
from workbench.analysis.rates import plausible_tps
from workbench.ledger.parts import FitEstimate
from workbench.ledger.record import Record
from workbench.ledger.status import COMPLETE
from workbench.ledger.words import percent

RUNS = frozenset({"single", "ladder", "energy", "demo"})
SOUND = frozenset({"ok", "low"})
CONTEXT_LIMIT = 0.25
"""Context bytes above this share of the weight bytes would have to be part of the line."""


@dataclass(frozen=True, slots=True)
class Group:
    """What a fit belongs to; `words` is its name."""

    machine: str
    runtime: str
    family: str
    weight_format: str
    context: str

    @property
    def words(self) -> str:
        """For example `office, Apple M3 Ultra | mlx-lm 0.32.2, mlx 0.32.4 | qwen3_5 | 4-bit affine, 64`."""
        parts = (self.machine, self.runtime, self.family, self.weight_format, self.context)
        return " | ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class GroupFit:
    """One group's fit, or why it has none; `left_out` names records that are not in it, with the reason."""

    group: Group
    points: tuple[Point, ...]
    fit: Fit | None
    refusal: str
    left_out: tuple[tuple[str, str], ...] = ()


def group_of(record: Record) -> Group:
    """The group that a record belongs to. What is not known is part of the name, never assumed equal."""
    machine = (
        ", ".join(dict.fromkeys(name for name in (record.alias, record.device) if name)) or "unnamed machine"
    )
    cores = f", {record.gpu_cores} GPU cores" if record.gpu_cores is not None else ""
    mlx = f", mlx {record.mlx}" if record.mlx else ""
    runtime = " ".join(part for part in (record.runtime, record.mlx_lm or record.runtime_commit) if part)
    family = record.architecture or "unknown family"
    if record.experts:
        family += ", mixture"
    return Group(
        f"{machine}{cores}",
        f"{runtime}{mlx}",
        family,
        _format(record),
        _context(record),
    )


def other_kind(mine: Group, theirs: Group) -> str:
    """In words, how my family and weight format differ from another group's; empty where they do not."""
    pairs = ((mine.family, theirs.family), (mine.weight_format, theirs.weight_format))
    return ", ".join(f"{one} and not {other}" for one, other in pairs if not _alike(one, other))


def why_left_out(record: Record, discarded: Mapping[str, str]) -> str:
    """Why a record is in no fit; empty when it is in one."""
    if record.record_id in discarded:
        return f"discarded: {discarded[record.record_id]}"
    if record.status not in COMPLETE:
        return f"its status is {record.status}"
    weight_bytes = record.weight_bytes_per_token or 0
    if plausible_tps(record.generation_tps) is None or weight_bytes <= 0:
        return "no rate or no bytes per token"
    if (record.rule or "count") not in COUNTING_RULES:
        return f"its bytes are by the rule {record.rule}"
    if record.verdict is not None and record.verdict not in SOUND:
        return f"its verdict is {record.verdict}"
    context = record.context_bytes_per_token_end
    if context is not None and context > CONTEXT_LIMIT * weight_bytes:
        return f"its context adds {percent(context / weight_bytes)} to the bytes"
    return ""


def fits(
    records: Iterable[Record], discarded: Mapping[str, str], weighting: Weighting = Weighting.RELATIVE
) -> list[GroupFit]:
    """Every group of a ledger with its fit or the reason why there is none, largest group first.

    No record is held.
    """
    members: dict[Group, _Runs] = {}
    left_out: dict[Group, list[tuple[str, str]]] = {}
    for record in records:
        if record.experiment not in RUNS and record.status != "imported":
            continue
        group = group_of(record)
        members.setdefault(group, {})
        why = why_left_out(record, discarded)
        if why:
            left_out.setdefault(group, []).append((record.record_id, why))
        else:
            _add(members[group], record)
    found = [
        _group_fit(group, _points(runs), tuple(left_out.get(group, ())), weighting)
        for group, runs in members.items()
    ]
    return sorted((one for one in found if one.points), key=lambda one: -len(one.points))


def estimate_for(
    drafted: Record, records: Iterable[Record], discarded: Mapping[str, str]
) -> FitEstimate | None:
    """What the fit of `drafted`'s own group expects of it; None where that group has no fit.

    Only the drafted record's stamp, model, bytes and settings are looked at.
    """
    if not drafted.weight_bytes_per_token:
        return None
    group = group_of(drafted)
    mine = (
        record
        for record in records
        if record.experiment in RUNS and not why_left_out(record, discarded) and group_of(record) == group
    )
    try:
        return estimate(fit(points_of(mine)), drafted.weight_bytes_per_token)
    except FitRefusedError:
        return None


def points_of(records: Iterable[Record]) -> tuple[Point, ...]:
    """One point for each checkpoint: the median rate of its runs, and the larger of their spreads.

    No record is held: there may be a hundred thousand.
    """
    runs: _Runs = {}
    for record in records:
        _add(runs, record)
    return _points(runs)


_Runs = dict[tuple[str, int], tuple[str, list[float], list[float]]]
"""Runs by model and bytes: the group's words, the rates, the spreads that are known."""


def _add(runs: _Runs, record: Record) -> None:
    key = (record.model or "unnamed", record.weight_bytes_per_token or 0)
    if key not in runs:
        runs[key] = (group_of(record).words, [], [])
    _, rates_tps, spreads = runs[key]
    rates_tps.append(record.generation_tps or 0.0)
    if record.tps_cv is not None:
        spreads.append(record.tps_cv)


def _points(runs: _Runs) -> tuple[Point, ...]:
    return tuple(
        Point(model, weight_bytes, statistics.median(rates_tps), max(spreads, default=None), group)
        for (model, weight_bytes), (group, rates_tps, spreads) in runs.items()
    )


def _group_fit(
    group: Group, points: tuple[Point, ...], left_out: tuple[tuple[str, str], ...], weighting: Weighting
) -> GroupFit:
    try:
        return GroupFit(group, points, fit(points, weighting), "", left_out)
    except FitRefusedError as error:
        return GroupFit(group, points, None, error.message, left_out)


def _alike(one: str, other: str) -> bool:
    """The same, or a class's name beside its model type: Qwen3_5ForConditionalGeneration and qwen3_5."""
    (name, _, kind), (other_name, _, another_kind) = one.partition(", "), other.partition(", ")
    short, long = sorted((re.sub("[^a-z0-9]", "", text.casefold()) for text in (name, other_name)), key=len)
    return kind == another_kind and bool(short) and re.match(f"{short}(for|model|lm|$)", long) is not None


def _context(record: Record) -> str:
    """Runs at other context lengths read other bytes, and are another fit."""
    if record.prompt_tokens is None or record.max_tokens is None:
        return ""
    return f"{record.prompt_tokens} + {record.max_tokens} tokens"


def _format(record: Record) -> str:
    quantization = record.quantization
    if quantization is None or quantization.bits is None:
        mode = quantization.mode if quantization is not None else None
        stored = record.dtype.lower() if record.dtype else None
        return mode or stored or ("gguf" if record.format == "gguf" else "not quantized")
    group = f", groups of {quantization.group_size}" if quantization.group_size else ""
    mode = f" {quantization.mode}" if quantization.mode else ""
    return f"{quantization.bits:g}-bit{mode}{group}{', mixed' if quantization.mixed else ''}"
