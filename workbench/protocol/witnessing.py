"""The graph witness, asked for: a worker traces the checkpoint's decode graph, watched from here.

Whatever goes wrong in it becomes a reason in words; the count stands alone then.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil

from workbench.accounting.count import Count
from workbench.accounting.engine import count as counted
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.checkpoint.config import CONFIG_LIMIT_BYTES
from workbench.checkpoint.files import read_small
from workbench.errors import CheckpointError, WorkerError
from workbench.ledger import parts
from workbench.locations import cache_dir
from workbench.witness import cache
from workbench.witness.agreement import ASSUMED_ROUTING, Agreement, compare
from workbench.witness.reasons import NotWitnessed, Reason, heard, not_witnessed
from workbench.witness.result import GraphReading
from workbench.worker.client import Worker
from workbench.worker.messages import Failed, Ready, Traced, TraceRequest

DEFAULT_CONTEXT = 209
"""Tokens before the step: the protocol's prompt."""

QUANTIZATION_FILE = "hf_quant_config.json"

Start = Callable[[str], Awaitable[Worker]]


@dataclass(frozen=True, slots=True)
class Limits:
    """When a trace is stopped: seconds, and bytes of resident memory. Headers need neither."""

    time_s: float = 120.0
    memory_bytes: int = 2 * 2**30
    poll_s: float = 0.1


@dataclass(frozen=True, slots=True)
class Witnessed:
    """The readings, one for each context that was asked for, in that order."""

    readings: tuple[GraphReading, ...]


async def witness(
    checkpoint: Checkpoint,
    contexts: Sequence[int] = (DEFAULT_CONTEXT,),
    *,
    limits: Limits = Limits(),
    use_cache: bool = True,
    start: Start = Worker.start,
) -> Witnessed | NotWitnessed:
    """What one decode step reads, by the graph, at each context (tokens before the step, at least 1).

    Needs config and headers only: a remote checkpoint can be witnessed too. Never raises for what a
    checkpoint contains. Cancelling the task ends the worker.
    """
    if checkpoint.gguf is not None:
        return not_witnessed(Reason.GGUF)
    if not checkpoint.config:
        return not_witnessed(Reason.NO_CONFIG)
    quantization = _beside(checkpoint)
    directory = cache_dir() / "witness"
    # In threads: a hundred thousand headers take a third of a second, and the screens go on meanwhile.
    name = await asyncio.to_thread(cache.key, checkpoint, _libraries(), quantization)
    if use_cache:
        kept = await asyncio.to_thread(cache.recall, directory, name)
        if len(contexts) == 1 and contexts[0] in kept.failures:
            return kept.failures[contexts[0]]
        if all(context in kept.readings for context in contexts):
            return Witnessed(tuple(kept.readings[context] for context in contexts))
    with TemporaryDirectory(prefix="witness-", ignore_cleanup_errors=True) as folder:
        await asyncio.to_thread(_fill, Path(folder), checkpoint, quantization)
        found = await _trace(TraceRequest(folder, list(contexts)), limits, start)
    if not isinstance(found, NotWitnessed):
        await asyncio.to_thread(cache.keep, directory, name, found)
        return Witnessed(tuple(found))
    if len(contexts) == 1:  # of several, nobody knows which one failed
        cache.keep_failure(directory, name, contexts[0], found)
    return found


async def seals(
    checkpoint: Checkpoint, count: Count, contexts: Sequence[int] = (DEFAULT_CONTEXT,)
) -> list[Agreement]:
    """The count against the graph at several contexts, by one worker; without a graph one seal says why."""
    found = await witness(checkpoint, contexts)
    readings = [found] if isinstance(found, NotWitnessed) else found.readings
    return await asyncio.to_thread(_held, checkpoint, count, readings)


def _held(
    checkpoint: Checkpoint, count: Count, readings: Sequence[GraphReading | NotWitnessed]
) -> list[Agreement]:
    """Against what the rules alone say: the graph is not held against a person's overrides."""
    by_rules = counted(checkpoint) if count.is_overridden else count
    return [compare(by_rules, reading) for reading in readings]


def as_recorded(agreement: Agreement) -> parts.Witness:
    """The agreement as the ledger's record has it."""
    return parts.Witness(
        bytes_per_token=agreement.graph_bytes,
        status=str(agreement.status),
        reason=agreement.reason or (ASSUMED_ROUTING if agreement.assumed_routing else None),
        at_context=agreement.at_context,
        mlx_lm=agreement.mlx_lm,
        differs=[one.words for one in agreement.disagreements],
    )


def _beside(checkpoint: Checkpoint) -> bytes:
    """NVIDIA's file that says the quantization where config.json does not; most checkpoints have none."""
    try:
        return read_small(checkpoint.path / QUANTIZATION_FILE, QUANTIZATION_FILE, CONFIG_LIMIT_BYTES)
    except CheckpointError:
        return b""


def _fill(folder: Path, checkpoint: Checkpoint, quantization: bytes) -> None:
    """Write what the trace job reads: config, headers, and nothing of the weights."""
    (folder / "config.json").write_text(json.dumps(checkpoint.config, default=str), encoding="utf-8")
    headers = [(t.name, t.dtype, t.shape, t.nbytes) for t in checkpoint.tensors]
    (folder / "headers.json").write_bytes(msgspec.json.encode(headers))
    if quantization:
        (folder / QUANTIZATION_FILE).write_bytes(quantization)


async def _trace(request: TraceRequest, limits: Limits, start: Start) -> list[GraphReading] | NotWitnessed:
    try:
        worker = await start("trace")
    except WorkerError as error:
        return not_witnessed(Reason.CRASHED, error.message)
    watch = asyncio.create_task(_grown_beyond(worker, limits))
    listen = asyncio.create_task(_listen(worker, request))
    try:
        done, _ = await asyncio.wait(
            {watch, listen}, timeout=limits.time_s, return_when=asyncio.FIRST_COMPLETED
        )
        if listen in done:
            return listen.result()
        if watch in done:
            return not_witnessed(Reason.OUT_OF_MEMORY, f"over {limits.memory_bytes / 1e9:.1f} GB")
        return not_witnessed(Reason.OUT_OF_TIME, f"{limits.time_s:g} s")
    finally:
        for task in (watch, listen):
            task.cancel()
        await worker.stop()


async def _listen(worker: Worker, request: TraceRequest) -> list[GraphReading] | NotWitnessed:
    readings: list[GraphReading] = []
    try:
        async for report in worker.reports():
            match report:
                case Ready():
                    await worker.send(request)
                case Traced(reading):
                    readings.append(reading)
                case Failed(code, message):
                    return heard(code, message)
                case _:
                    pass
    except WorkerError as error:
        return not_witnessed(Reason.CRASHED, error.message)
    if len(readings) != len(request.contexts):
        return not_witnessed(Reason.CRASHED, "it ended before its last word")
    return readings


async def _grown_beyond(worker: Worker, limits: Limits) -> None:
    """Returns when the worker holds more memory than a trace may."""
    try:
        process = psutil.Process(worker.pid)
        while process.memory_info().rss <= limits.memory_bytes:
            await asyncio.sleep(limits.poll_s)
    except psutil.Error:  # it ended; its last words are in the pipe
        await asyncio.Event().wait()


def _libraries() -> dict[str, str]:
    found = {}
    for library in ("mlx", "mlx-lm"):
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "none"
    return found
