"""The record as it is drafted at the lock: what it would say if the run died now.

Everything known before the model loads is in it; `recording` adds the results.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from msgspec.structs import replace

from workbench.ledger.record import FitEstimate, GpuClock, LockedPrediction, NamedPrediction, Record
from workbench.machine.stamp import MachineStamp
from workbench.protocol.accounts import bytes_fields, figure_fields, model_fields, settings_fields
from workbench.protocol.estimating import estimate_of
from workbench.protocol.plan import Plan

INTERRUPTED = "The program ended before the run did."
RUNS = {"single", "ladder", "energy", "demo"}
"""Experiments that run a model here."""


@dataclass(frozen=True, slots=True)
class Past:
    """What the ledger already knew when the plan was made.

    `earlier_runs` of this checkpoint, whatever came of them; `probe` is this machine's newest bandwidth
    record, `estimate` what the fit over its runs expects. None where the ledger could not be read or has no
    such record.
    """

    earlier_runs: int | None = None
    seconds_since_last_run: float | None = None
    probe: Record | None = None
    estimate: FitEstimate | None = None


@dataclass(frozen=True, slots=True)
class Locked:
    """The predictions of one lock, with every earlier number that they corrected."""

    lock_id: str
    locks: tuple[LockedPrediction, ...]
    predictions: tuple[NamedPrediction, ...]
    by: str | None

    @property
    def tps(self) -> float:
        """The prediction that the run is judged by: the first one named."""
        return self.predictions[0].tps


def draft(plan: Plan, stamp: MachineStamp, conditions: dict[str, Any], past: Past, locked: Locked) -> Record:
    """The record of a run that was locked and no more: its status is `interrupted` until it ends."""
    drafted = Record(
        record_id=str(uuid4()),
        run_group_id=plan.run_group_id,
        experiment=plan.experiment,
        status="interrupted",
        reason=INTERRUPTED,
        **asdict(stamp),
        **condition_fields_typed(conditions),
        **model_fields(plan.checkpoint),
        **bytes_fields(plan),
        **figure_fields(estimated(plan, past)),
        **settings_fields(plan),
        **locked_fields(locked),
        page_cache=plan.page_cache,
        earlier_runs_seen=past.earlier_runs,
        seconds_since_last_run=past.seconds_since_last_run,
    )
    return with_reasons(drafted)


def estimated(plan: Plan, past: Past) -> Plan:
    """The plan with what the past expects of it: for a run that is locked, never before."""
    return dataclasses.replace(plan, fit_estimate=past.estimate)


def with_reasons(record: Record) -> Record:
    """The record with a reason for each condition that only the run itself could have told."""
    reasons = dict(record.conditions_reasons or {})
    if record.kernel_cache is None:
        reasons["kernel_cache"] = "the run ended before its warm-up"
    if record.seconds_since_last_run is None:
        reasons["seconds_since_last_run"] = "the ledger holds no earlier run of this machine"
    return replace(record, conditions_reasons=reasons)


def locked_fields(locked: Locked) -> dict[str, Any]:
    """The record's prediction group, as far as people fill it."""
    return {
        "lock_id": locked.lock_id,
        "locks": list(locked.locks),
        "predicted_by": locked.by,
        "predicted_tps_human": locked.tps,
        "predicted_at": locked.locks[-1].at,
        "predictions": list(locked.predictions),
    }


def condition_fields_typed(conditions: dict[str, Any]) -> dict[str, Any]:
    """Conditions as the machine room gives them, with the record's own types."""
    clock = conditions.get("gpu_clock_mhz")
    return conditions | {"gpu_clock_mhz": GpuClock(**clock) if clock else None}


def past_of(records: Sequence[Record], plan: Plan, stamp: MachineStamp, now: datetime | None = None) -> Past:
    """What `records` say of this checkpoint's and this machine's past."""
    model = model_fields(plan.checkpoint)
    runs = [record for record in records if record.experiment in RUNS and record.status != "discarding"]
    mine = [record for record in runs if _same_machine(record, stamp)]
    return Past(
        earlier_runs=sum(_same_checkpoint(record, model) for record in runs),
        seconds_since_last_run=_seconds_since(mine, now or datetime.now(UTC)),
        probe=next(iter(probes_of(records, stamp)), None),
        estimate=estimate_of(plan, stamp, records),
    )


def probes_of(records: Sequence[Record], stamp: MachineStamp) -> list[Record]:
    """Bandwidth records of this machine that nobody discarded, the newest first."""
    discarded = {record.discards for record in records}
    probes = [
        record
        for record in records
        if record.experiment == "bandwidth"
        and record.status == "measured"
        and record.achieved_gbps
        and record.record_id not in discarded
        and _same_machine(record, stamp)
    ]
    return sorted(probes, key=lambda record: record.date or "", reverse=True)


def _same_machine(record: Record, stamp: MachineStamp) -> bool:
    return (record.device, record.gpu_cores, record.memory_bytes) == (
        stamp.device,
        stamp.gpu_cores,
        stamp.memory_bytes,
    )


def _same_checkpoint(record: Record, model: dict[str, Any]) -> bool:
    """Same configuration and files (a checkpoint may be renamed); by name where the record has neither."""
    if record.config_sha256 and record.files and model["config_sha256"]:
        return (record.config_sha256, record.files) == (model["config_sha256"], model["files"])
    return bool(record.model == model["model"])


def _seconds_since(runs: Sequence[Record], now: datetime) -> float | None:
    """Since the end of the last run, as far as its record tells how long it took."""
    ends = [start.timestamp() + _took_s(run) for run in runs if (start := _moment(run.date)) is not None]
    return round(max(0.0, now.timestamp() - max(ends)), 1) if ends else None


def _took_s(run: Record) -> float:
    decoding_s = sum(sum(steps) for steps in run.token_times_ns or ()) / 1e9
    return (run.load_s or 0.0) + (run.ttft_s or 0.0) * len(run.repeats_tps) + decoding_s


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
