"""What the ledger already knows when a run is planned: earlier runs, the newest probe, what a fit expects.

Pure, over records that somebody has read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from workbench.analysis.fit_groups import RUNS
from workbench.ledger.moments import moment_of
from workbench.ledger.parts import FitEstimate
from workbench.ledger.record import Record
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


def past_of(
    records: Iterable[Record],
    plan: Plan,
    stamp: MachineStamp,
    discarded: Mapping[str, str],
    now: datetime | None = None,
) -> Past:
    """What `records` say of this checkpoint's and this machine's past, in one pass that holds none of them.

    Their token times are not needed; `discarded` is what later records take back.
    """
    tally = _Tally(model_fields(plan.checkpoint), stamp)
    passing = tally.over(records)
    estimate = estimate_of(plan, stamp, passing, discarded)
    for _ in passing:  # whatever the fit did not look at
        pass
    since_s = None if tally.last_end_s is None else (now or datetime.now(UTC)).timestamp() - tally.last_end_s
    return Past(
        earlier_runs=tally.earlier_runs,
        seconds_since_last_run=None if since_s is None else round(max(0.0, since_s), 1),
        probe=next(iter(probes_of(tally.probes, stamp, discarded)), None),
        estimate=estimate,
    )


def probes_of(records: Iterable[Record], stamp: MachineStamp, discarded: Mapping[str, str]) -> list[Record]:
    """Bandwidth records of this machine that nobody has taken back, the newest first."""
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


class _Tally:
    """Counts records as they pass: runs of one checkpoint, the end of a machine's last run, its probes."""

    def __init__(self, model: dict[str, Any], stamp: MachineStamp) -> None:
        self.earlier_runs = 0
        self.last_end_s: float | None = None
        self.probes: list[Record] = []
        self._model = model
        self._stamp = stamp

    def over(self, records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            if record.experiment == "bandwidth":
                self.probes.append(record)
            elif record.experiment in RUNS and record.status != "discarding":
                self.earlier_runs += _same_checkpoint(record, self._model)
                self._note_end(record)
            yield record

    def _note_end(self, run: Record) -> None:
        """As far as its record tells how long it took."""
        began = moment_of(run.date) if _same_machine(run, self._stamp) else None
        if began is not None:
            self.last_end_s = max(self.last_end_s or 0.0, began.timestamp() + _took_s(run))


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


def _took_s(run: Record) -> float:
    each_s = (run.ttft_s or 0.0) + (run.decode_s or 0.0) + (run.cooldown_s or 0.0)
    return (run.load_s or 0.0) + len(run.repeats_tps) * each_s
