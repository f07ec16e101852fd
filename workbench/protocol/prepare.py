"""What a run may need before it: synthetic checkpoints built, the machine's stamp, its bandwidth probed.

Each is a job of the worker; none of them is a measurement of a model.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

from msgspec.structs import replace

from workbench.errors import CheckpointError, WorkerError
from workbench.ledger import store
from workbench.ledger.parts import KernelFigure
from workbench.ledger.record import Record
from workbench.ledger.table import load, record_of
from workbench.ledger.words import megabytes
from workbench.locations import ledger_path, synthetic_dir
from workbench.machine.spoiled import spoiled_by
from workbench.machine.stamp import MachineStamp, compose, facts
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.protocol.decode_worker import on_cuda
from workbench.protocol.drafting import condition_fields_typed
from workbench.protocol.past import probes_of
from workbench.protocol.watch import Watch
from workbench.shelf.synthetic import NAMES, PREFIX, SPECS, is_built, path_of
from workbench.worker.client import Worker, WorkerProcess
from workbench.worker.messages import (
    Failed,
    Probed,
    ProbeRequest,
    Probing,
    Ready,
    Report,
    Request,
    Stamp,
    StampRequest,
    Synthesized,
    SynthesizeRequest,
)

Spawn = Callable[[str], Awaitable[WorkerProcess]]
METHOD = (
    "operations batched into one evaluation, each on arrays of its own; warm-up until two batches agree; "
    "the best batch of the best kernel is the achieved figure"
)


async def ensure_built(
    names: Iterable[str],
    on_built: Callable[[Synthesized], None] | None = None,
    *,
    spawn: Spawn = Worker.start,
) -> dict[str, Path]:
    """Build those of the named synthetic checkpoints that are missing; {name: path} of all.

    `on_built` hears of each that had to be built. Raises CheckpointError for a name that there is not, and
    WorkerError when one cannot be built.
    """
    wanted = [name.removeprefix(PREFIX) for name in names]
    if unknown := sorted(set(wanted) - set(SPECS)):
        raise CheckpointError(
            f"There is no synthetic checkpoint {unknown[0]!r}.", f"There are: {', '.join(NAMES)}."
        )
    paths = {name: path_of(name) for name in wanted}
    missing = [name for name, path in paths.items() if not is_built(path)]
    if not missing:
        return paths
    request = SynthesizeRequest(directory=str(synthetic_dir()), names=missing)
    async with _job("synthesize", request, spawn) as reports:
        async for report in reports:
            if isinstance(report, Synthesized) and on_built is not None:
                on_built(report)
    return paths


async def machine_stamp(
    alias: str | None = None, command: Sequence[str] = (), *, spawn: Spawn = Worker.start
) -> MachineStamp:
    """Stamp this machine, with a worker's word on device and versions. Raises WorkerError without one."""
    worker = await worker_stamp(spawn=spawn)
    return compose(await facts(), worker, alias=alias, command=command)


async def worker_stamp(*, spawn: Spawn = Worker.start) -> Stamp:
    """What a worker says of its backend. Raises WorkerError when there is none that works."""
    async with _job("stamp", StampRequest(), spawn) as reports:
        async for report in reports:
            if isinstance(report, Ready):
                return report.stamp
    raise WorkerError("The worker ended without its stamp.", "Try again; its log has the details.")


async def probe(
    *,
    quick: bool = True,
    repeats: int = 8,
    size_bytes: int = 0,
    alias: str | None = None,
    command: Sequence[str] = (),
    ledger: Path | None = None,
    on_kernel: Callable[[Probing], None] | None = None,
    spawn: Spawn = Worker.start,
    watch: Watch | None = None,
) -> tuple[BandwidthFigure, Record]:
    """Probe the achieved memory bandwidth, record it, and give the figure with its record.

    `quick` runs only the reductions that reach the memory's limit (a second or two), otherwise all kernels
    run; `on_kernel` hears of each as it begins. Raises WorkerError, and LedgerError when the ledger does not
    take the record.
    """
    watch = watch or Watch()
    await watch.look()
    known = await facts()
    stamp = probed = None
    request = ProbeRequest(bytes=size_bytes, repeats=repeats, quick=quick)
    try:
        async with _job("probe", request, spawn) as reports:
            async for report in reports:
                if isinstance(report, Ready):
                    stamp = compose(known, report.stamp, alias=alias, command=command)
                    await watch.begin(report.pid, gpu=on_cuda(report.stamp))
                elif isinstance(report, Probing) and on_kernel is not None:
                    on_kernel(report)
                elif isinstance(report, Probed):
                    probed = report
    finally:
        await watch.end()
    if stamp is None or probed is None or not probed.kernels:
        raise WorkerError("The probe gave no figure.", "Try again; its log has the details.")
    record = store.append(ledger or ledger_path(), _probe_record(stamp, probed, watch))
    figure = figure_of(record)
    assert figure is not None
    return figure, record


def figure_of(record: Record) -> BandwidthFigure | None:
    """The achieved figure of a bandwidth record, with kernel, dtype, size, repeats and date as its source."""
    kernels = record.kernels or []
    if not record.achieved_gbps or not kernels:
        return None
    best = max(kernels, key=lambda kernel: kernel.best_gbps)
    threads = f", {record.threads} threads" if record.threads else ""
    source = (
        f"workbench probe: {best.kernel} {best.dtype}, {megabytes(best.bytes)} MB x {best.batched} batched, "
        f"best of {best.repeats}{threads}, {(record.date or '')[:10]}"
    )
    return BandwidthFigure(round(record.achieved_gbps, 2), BandwidthKind.ACHIEVED, source)


def stored_figures(stamp: MachineStamp, ledger: Path | None = None) -> list[BandwidthFigure]:
    """Probed figures of this machine that the ledger holds and nobody discarded, the newest first.

    Raises LedgerError when the ledger cannot be read.
    """
    path = ledger or ledger_path()
    table = load(path)
    probes = (record_of(path, row) for row in table.rows if row.experiment == "bandwidth")
    mine = probes_of(probes, stamp, table.discarded)
    return [figure for record in mine if (figure := figure_of(record)) is not None]


def _probe_record(stamp: MachineStamp, probed: Probed, watch: Watch) -> Record:
    kernels = [
        KernelFigure(k.kernel, k.dtype, k.bytes, k.batched, k.repeats, k.best_gbps, k.median_gbps)
        for k in probed.kernels
    ]
    record = Record(
        record_id=str(uuid4()),
        run_group_id=str(uuid4()),
        experiment="bandwidth",
        status="measured",
        scope=f"Memory bandwidth that kernels reach on {stamp.device or 'an unnamed device'}; no model ran.",
        **asdict(stamp),
        **condition_fields_typed(watch.fields),
        achieved_gbps=max(kernel.best_gbps for kernel in kernels),
        kernels=kernels,
        threads=probed.threads,
        method=METHOD,
    )
    return replace(record, verdict_reasons=spoiled_by(record))


@asynccontextmanager
async def _job(job: str, request: Request, spawn: Spawn) -> AsyncIterator[AsyncIterator[Report]]:
    """One job of the worker: what it says, Failed as WorkerError. The process is gone when the block ends."""
    worker = await spawn(job)
    try:
        yield _asked(worker, request)
    finally:
        await worker.stop()


async def _asked(worker: WorkerProcess, request: Request) -> AsyncIterator[Report]:
    async for report in worker.reports():
        if isinstance(report, Failed):
            raise WorkerError(report.message, report.hint, code=report.code)
        yield report
        if isinstance(report, Ready):
            await worker.send(request)
