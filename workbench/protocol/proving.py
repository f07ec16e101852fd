"""The witness put to the proof: a worker damages weights in memory, and says whether a logit moved."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from fnmatch import translate

import psutil

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint, State
from workbench.errors import CheckpointError, UsageError, WorkerError
from workbench.escape import visible
from workbench.witness.groups import by_role
from workbench.witness.reasons import SENTENCES, Reason
from workbench.worker.client import Worker
from workbench.worker.messages import Damaged, DamageRequest, Failed, Ready

_PROOF_ROOM = 1.5
"""Memory that a proof needs, in parts of the model's own: one damaged role beside it."""

Start = Callable[[str], Awaitable[Worker]]


async def prove(
    checkpoint: Checkpoint,
    count: Count,
    patterns: Sequence[str] = (),
    *,
    seed: int = 0,
    start: Start = Worker.start,
) -> AsyncIterator[Damaged]:
    """Damage every role's tensors in turn, take one real step each, and say whether a logit moved.

    With `patterns` (names of tensors, or globs) the tensors that each names are damaged instead of the roles.
    The checkpoint must lie on this machine with its weights, and fit in memory. Raises CheckpointError,
    UsageError or WorkerError in words; closing the iterator ends the worker.
    """
    _require_weights(checkpoint)
    groups = {pattern: named(count, pattern) for pattern in patterns} or by_role(count)
    _require_room(count)
    worker = await start("damage")
    try:
        async for report in worker.reports():
            match report:
                case Ready():
                    await worker.send(DamageRequest(str(checkpoint.path), groups, seed))
                case Damaged():
                    yield report
                case Failed(code, message, hint):
                    raise WorkerError(message, hint, code=code)
                case _:
                    pass
    finally:
        await worker.stop()


def named(count: Count, pattern: str) -> list[str]:
    """The tensors that a pattern names. Raises UsageError where it names none."""
    matches = re.compile(translate(pattern)).match
    names = [row.name for row in count.rows if matches(row.name)]
    if not names:
        raise UsageError(
            f"No tensor of this checkpoint is named {visible(pattern, 120)}.",
            "`workbench audit CHECKPOINT --tensors` lists them all.",
            code="no_such_tensor",
        )
    return names


def _require_weights(checkpoint: Checkpoint) -> None:
    name = visible(checkpoint.name)
    if checkpoint.gguf is not None:
        raise CheckpointError(
            f"{name} cannot be damaged: {SENTENCES[Reason.GGUF]}.",
            "Prove a safetensors checkpoint of the same model.",
            code="checkpoint_not_loadable",
        )
    if checkpoint.state in (State.INCOMPLETE, State.UNREADABLE) or not checkpoint.path.is_dir():
        raise CheckpointError(
            f"{name} cannot be damaged: a proof loads the model, and it is {checkpoint.state}"
            f" ({checkpoint.reason or 'no directory'}).",
            "The witness without a proof needs headers only.",
            code=f"checkpoint_{checkpoint.state.value.replace(' ', '_')}",
        )
    if not checkpoint.config:
        raise CheckpointError(
            f"{name} cannot be damaged: {SENTENCES[Reason.NO_CONFIG]}.", code="checkpoint_not_loadable"
        )


def _require_room(count: Count) -> None:
    available = psutil.virtual_memory().available
    needed = int(count.resident_bytes * _PROOF_ROOM)
    if needed > available:
        raise WorkerError(
            f"A proof loads the model: it needs {needed / 1e9:.1f} GB of memory, "
            f"and {available / 1e9:.1f} GB are free.",
            "The witness without a proof needs no weights in memory.",
            code="out_of_memory",
        )
