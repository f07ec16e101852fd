"""The derived fields of a record: effective bandwidth, fractions, prediction errors. No judgement.

The formulas themselves are in `prediction.ceiling`.
"""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from workbench.analysis.rates import plausible_tps
from workbench.ledger.parts import Fraction, NamedCeiling, NamedPrediction
from workbench.ledger.record import Record
from workbench.prediction.ceiling import ceiling_tps, effective_gbps, fraction


def derive(record: Record) -> Record:
    """The record with its derived fields worked out anew from its own figures.

    What cannot be worked out is null. A ceiling that the record only implies (a bandwidth and the bytes per
    token) is written out; predictions get their errors. A rate that no machine has yields nothing.
    """
    tps = plausible_tps(record.generation_tps)
    bytes_per_token = record.weight_bytes_per_token
    ceilings = record.ceilings or _implied_ceilings(record)
    return replace(
        record,
        ceilings=ceilings,
        predicted_decode_tps=_principal_ceiling_tps(record, ceilings),
        effective_gbps=effective_gbps(tps, bytes_per_token) if tps and bytes_per_token else None,
        fractions=fractions(tps, ceilings),
        prediction_error=prediction_error(tps, record.predicted_tps_human),
        predictions=[
            NamedPrediction(said.name, said.tps, prediction_error(tps, said.tps))
            for said in record.predictions
        ],
    )


def fractions(measured_tps: float | None, ceilings: Sequence[NamedCeiling]) -> list[Fraction]:
    """Measured / each named ceiling; none without a rate."""
    if measured_tps is None:
        return []
    return [
        Fraction(ceiling.name, fraction(measured_tps, ceiling.tps)) for ceiling in ceilings if ceiling.tps > 0
    ]


def prediction_error(measured_tps: float | None, predicted_tps: float | None) -> float | None:
    """Measured / predicted - 1: above 0 the machine was faster than the person said."""
    if (
        measured_tps is None
        or predicted_tps is None
        or not math.isfinite(predicted_tps)
        or predicted_tps <= 0
    ):
        return None
    return measured_tps / predicted_tps - 1


def _implied_ceilings(record: Record) -> list[NamedCeiling]:
    gbps, bytes_per_token = record.bandwidth_gbps, record.weight_bytes_per_token
    if not gbps or not bytes_per_token:
        return []
    name = f"{record.bandwidth_kind or 'stated'} {gbps:g} GB/s, {record.rule or 'count'}"
    return [NamedCeiling(name, gbps, ceiling_tps(gbps, bytes_per_token))]


def _principal_ceiling_tps(record: Record, ceilings: Sequence[NamedCeiling]) -> float | None:
    if record.predicted_decode_tps is not None:
        return record.predicted_decode_tps
    if record.bandwidth_gbps and record.weight_bytes_per_token:
        return ceiling_tps(record.bandwidth_gbps, record.weight_bytes_per_token)
    return ceilings[0].tps if ceilings else None
