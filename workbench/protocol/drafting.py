"""The record as it is drafted at the lock: what it would say if the run died now.

Everything known before the model loads is in it; `recording` adds the results.
"""

import dataclasses
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from msgspec.structs import replace

from workbench.ledger.parts import GpuClock, LockedPrediction, NamedPrediction
from workbench.ledger.record import Record
from workbench.machine.stamp import MachineStamp
from workbench.protocol.accounts import bytes_fields, figure_fields, model_fields, settings_fields
from workbench.protocol.past import Past
from workbench.protocol.plan import Plan

INTERRUPTED = "The program ended before the run did."


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
    if record.last_level_cache_bytes is None:
        reasons["last_level_cache_bytes"] = (
            "no call tells it of this device, or a virtual machine makes it up"
        )
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
