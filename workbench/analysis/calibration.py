"""How well people predict: a round's ranking after the reveal, and one person's errors over time.

Being off by a factor counts alike in both directions: twice too high is as wrong as half.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.analysis.rates import plausible_tps
from workbench.ledger.parts import NamedPrediction
from workbench.ledger.record import Record


@dataclass(frozen=True, slots=True)
class Placed:
    """One person's place in a round: `factor` is how many times off (1 is exact); equals share a place."""

    place: int
    name: str
    tps: float
    error: float
    factor: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """One prediction of a person with what was measured then. `error` is measured / predicted - 1."""

    date: str
    model: str
    machine: str
    predicted_tps: float
    measured_tps: float
    error: float
    factor: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A person's record, oldest attempt first.

    `typical_factor` is the median of how many times off; `bias` the median of measured / predicted (above 1:
    says too little). `early_factor` and `late_factor` are the first and the last half's, None under 4
    attempts.
    """

    name: str
    attempts: tuple[Attempt, ...]
    typical_factor: float
    bias: float
    early_factor: float | None
    late_factor: float | None


def rank(predictions: Sequence[NamedPrediction], measured_tps: float) -> list[Placed]:
    """Everybody of a round, the nearest first. Predictions that are no rate come last and off by infinity."""
    ordered = sorted(predictions, key=lambda said: (off_by(said.tps, measured_tps), said.name.casefold()))
    placed: list[Placed] = []
    for number, said in enumerate(ordered, 1):
        factor = off_by(said.tps, measured_tps)
        shares = placed and math.isclose(placed[-1].factor, factor, rel_tol=1e-9)
        place = placed[-1].place if shares else number
        error = measured_tps / said.tps - 1 if math.isfinite(factor) else math.inf
        placed.append(Placed(place, said.name, said.tps, error, factor))
    return placed


def off_by(predicted_tps: float, measured_tps: float) -> float:
    """How many times off a prediction is, 1 or above; infinity for what is no rate."""
    if not math.isfinite(predicted_tps) or predicted_tps <= 0 or measured_tps <= 0:
        return math.inf
    return max(predicted_tps / measured_tps, measured_tps / predicted_tps)


def calibrations(records: Iterable[Record], discarded: Mapping[str, str]) -> list[Calibration]:
    """Everybody who predicted measured runs, most attempts first. Unnamed predictions are `unnamed`.

    No record is held.
    """
    attempts: dict[str, list[Attempt]] = {}
    names: dict[str, str] = {}
    for record in records:
        measured = plausible_tps(record.generation_tps)
        if record.status != "measured" or record.record_id in discarded or measured is None:
            continue
        for name, tps in _said(record):
            factor = off_by(tps, measured)
            if math.isinf(factor):
                continue
            key = name.casefold()
            names.setdefault(key, name)
            attempts.setdefault(key, []).append(
                Attempt(
                    date=record.date or "",
                    model=record.model or "unnamed",
                    machine=record.alias or record.device or "unnamed",
                    predicted_tps=tps,
                    measured_tps=measured,
                    error=measured / tps - 1,
                    factor=factor,
                )
            )
    found = [
        _calibration(names[key], tuple(sorted(mine, key=lambda one: one.date)))
        for key, mine in attempts.items()
    ]
    return sorted(found, key=lambda one: (-len(one.attempts), one.typical_factor))


def _said(record: Record) -> list[tuple[str, float]]:
    if record.predictions:
        only = len(record.predictions) == 1
        return [
            (said.name or (record.predicted_by if only else None) or "unnamed", said.tps)
            for said in record.predictions
        ]
    if record.predicted_tps_human is None:
        return []
    return [(record.predicted_by or "unnamed", record.predicted_tps_human)]


def _calibration(name: str, attempts: tuple[Attempt, ...]) -> Calibration:
    half = len(attempts) // 2 if len(attempts) >= 4 else 0
    return Calibration(
        name=name,
        attempts=attempts,
        typical_factor=statistics.median(one.factor for one in attempts),
        bias=statistics.median(1 + one.error for one in attempts),
        early_factor=statistics.median(one.factor for one in attempts[:half]) if half else None,
        late_factor=statistics.median(one.factor for one in attempts[-half:]) if half else None,
    )
