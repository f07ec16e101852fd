"""Rows to set a fraction beside: the source documents' office table, and this ledger's own.

A fraction means something only with its denominator and its date: every row names both.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.analysis.least_squares import Point
from workbench.analysis.rates import plausible_tps
from workbench.ledger.row import Row
from workbench.ledger.status import COMPLETE
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind, ceiling_tps, fraction

SPEC = BandwidthFigure(819, BandwidthKind.SPEC, "Apple, M3 Ultra")
STREAMED = BandwidthFigure(638, BandwidthKind.ACHIEVED, "a kernel that streamed on that machine")
MACHINE = "office, Apple M3 Ultra"
DATE = "2026-09-15"
SIMILAR = 3.0
"""Bytes per token within this factor are similar."""


@dataclass(frozen=True, slots=True)
class OfficeRow:
    """One row of "The Decode Ceiling": tok/s as printed there, bytes per token from the headers."""

    model: str
    weight_bytes: int
    tps: float
    is_mixture: bool = False


OFFICE = (
    OfficeRow("Qwen3.5-0.8B-4bit", 423_938_240, 338),
    OfficeRow("Qwen3.5-2B-4bit", 1_059_315_904, 257),
    OfficeRow("Qwen3.5-4B-4bit", 2_367_118_848, 148),
    OfficeRow("Qwen3.5-9B-4bit", 4_465_912_320, 95),
    OfficeRow("Qwen3.5-27B-4bit", 14_417_645_056, 32.6),
    OfficeRow("Qwen3.5-35B-A3B-4bit", 1_659_035_776, 89, is_mixture=True),
)
"""Measured on office, 2026-09-15, mlx 0.32.2; the rates are mlx-lm's own, N/(N-1) above ours."""

PUBLISHED_OVERHEAD_S = 1.7e-3
PUBLISHED_GBPS = 497.0
"""The pair that "The Decode Ceiling" gives for office; bytes-squared weights over the dense rows give it."""


@dataclass(frozen=True, slots=True)
class Beside:
    """One row beside a verdict: `fraction` is of the ceiling at `of` (a bandwidth figure's name)."""

    model: str
    machine: str
    date: str
    weight_bytes: int
    tps: float
    of: str
    fraction: float


def office_points() -> tuple[list[Point], Point]:
    """The five dense office rows as points of one fit, and the mixture, which is shown and never fitted."""
    dense = [
        Point(row.model, row.weight_bytes, row.tps, group=MACHINE) for row in OFFICE if not row.is_mixture
    ]
    [mixture] = [Point(row.model, row.weight_bytes, row.tps) for row in OFFICE if row.is_mixture]
    return dense, mixture


def office_beside(weight_bytes: int, is_mixture: bool = False, count: int = 2) -> list[Beside]:
    """The office rows of the same kind that are nearest in bytes per token, at both denominators."""
    alike = [row for row in OFFICE if row.is_mixture == is_mixture]
    nearest = sorted(alike, key=lambda row: _distance(row.weight_bytes, weight_bytes))[:count]
    return [
        Beside(
            row.model,
            MACHINE,
            DATE,
            row.weight_bytes,
            row.tps,
            figure.name,
            fraction(row.tps, ceiling_tps(figure.gbps, row.weight_bytes)),
        )
        for row in nearest
        for figure in (SPEC, STREAMED)
    ]


def ledger_beside(
    rows: Iterable[Row], weight_bytes: int, discarded: Mapping[str, str], but: str = "", count: int = 3
) -> list[Beside]:
    """The ledger's newest measured rows of similar bytes per token, one for each model and machine.

    `but` is the record id that they stand beside; flagged, spoilt and discarded rows are left out.
    """
    newest: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.record_id != but and row.record_id not in discarded and _is_sound(row):
            newest[row.model or "", row.machine] = row
    similar = [
        row
        for row in newest.values()
        if row.weight_bytes_per_token
        and _distance(row.weight_bytes_per_token, weight_bytes) <= math.log(SIMILAR)
    ]
    similar.sort(key=lambda row: _distance(row.weight_bytes_per_token or 1, weight_bytes))
    return [
        Beside(
            row.model or "",
            row.machine,
            (row.date or "")[:10],
            row.weight_bytes_per_token or 0,
            row.generation_tps or 0.0,
            row.denominator,
            row.fraction or 0.0,
        )
        for row in similar[:count]
    ]


def _is_sound(row: Row) -> bool:
    return (
        row.status in COMPLETE
        and row.verdict in {"ok", "low"}
        and plausible_tps(row.generation_tps) is not None
        and row.fraction is not None
        and (row.weight_bytes_per_token or 0) > 0
    )


def _distance(one: int, other: int) -> float:
    """How far two byte counts are apart, as the logarithm of their ratio."""
    return abs(math.log(one / other))
