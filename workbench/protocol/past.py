"""What the ledger already knows when a run is planned: earlier runs, the newest probe, what a fit expects.

Pure, over records that somebody has read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from workbench.analysis.fit_groups import RUNS
from workbench.ledger.corrections import discarded
from workbench.ledger.moments import moment_of
from workbench.ledger.record import FitEstimate, Record
from workbench.machine.stamp import MachineStamp
from workbench.protocol.accounts import model_fields
from workbench.protocol.estimating import estimate_of
from workbench.protocol.plan import Plan


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


def past_of(records: Sequence[Record], plan: Plan, stamp: MachineStamp, now: datetime | None = None) -> Past:
    """What `records` say of this checkpoint's and this machine's past; their token times are not needed."""
    model = model_fields(plan.checkpoint)
    runs = [record for record in records if record.experiment in RUNS and record.status != "discarding"]
    mine = [record for record in runs if _same_machine(record, stamp)]
    return Past(
        earlier_runs=sum(_same_checkpoint(record, model) for record in runs),
        seconds_since_last_run=_seconds_since(mine, now or datetime.now(UTC)),
        probe=next(iter(probes_of(records, stamp, discarded(records))), None),
        estimate=estimate_of(plan, stamp, records),
    )


def probes_of(records: Iterable[Record], stamp: MachineStamp, taken_back: Mapping[str, str]) -> list[Record]:
    """Bandwidth records of this machine that are not among `taken_back`, the newest first."""
    probes = [
        record
        for record in records
        if record.experiment == "bandwidth"
        and record.status == "measured"
        and record.achieved_gbps
        and record.record_id not in taken_back
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
    ends = [start.timestamp() + _took_s(run) for run in runs if (start := moment_of(run.date)) is not None]
    return round(max(0.0, now.timestamp() - max(ends)), 1) if ends else None


def _took_s(run: Record) -> float:
    each_s = (run.ttft_s or 0.0) + (run.decode_s or 0.0) + (run.cooldown_s or 0.0)
    return (run.load_s or 0.0) + len(run.repeats_tps) * each_s
