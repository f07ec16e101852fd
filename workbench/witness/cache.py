"""Readings of the graph kept on disk: the same config, headers and libraries give the same graph.

A cache that cannot be read or written is as good as none.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from workbench.checkpoint.checkpoint import Checkpoint
from workbench.witness.reasons import NotWitnessed, Reason
from workbench.witness.result import GraphReading

TRACE_VERSION = 1
"""Raised whenever the trace itself says something else about the same checkpoint."""

_LASTING = {
    Reason.UNSUPPORTED_TYPE,
    Reason.REMOTE_CODE,
    Reason.CONFIG_INCOMPLETE,
    Reason.CONFIG_WRONG,
    Reason.MISMATCH,
    Reason.INCOMPLETE,
    Reason.UNSUPPORTED_DTYPE,
    Reason.UNSUPPORTED_QUANTIZATION,
    Reason.EVALUATES,
    Reason.KERNEL_MISSING,
    Reason.NOT_EXPORTABLE,
}
"""Reasons that the same libraries will give again. Time, memory and crashes may be better next time."""


class Kept(msgspec.Struct, frozen=True):
    """What lies in one file, by context: readings, and why there is none."""

    readings: dict[int, GraphReading] = {}
    failures: dict[int, NotWitnessed] = {}


def key(checkpoint: Checkpoint, libraries: Mapping[str, str], beside: bytes = b"") -> str:
    """The cache's name for a checkpoint: SHA-256 over config, headers, and the libraries' versions.

    `beside` is what else the trace reads: the file that completes config.json's quantization.
    """
    digest = hashlib.sha256(beside)
    config = json.dumps(checkpoint.config, sort_keys=True, default=str)
    digest.update(f"{TRACE_VERSION} {sorted(libraries.items())} {config}".encode())
    for tensor in sorted(checkpoint.tensors):
        digest.update(f"\0{tensor.name}\0{tensor.dtype}\0{tensor.shape}\0{tensor.nbytes}".encode())
    return digest.hexdigest()


def recall(directory: Path, name: str) -> Kept:
    """What was kept under `name`; nothing where there is nothing usable."""
    try:
        return msgspec.json.decode((directory / f"{name}.json").read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError):
        return Kept()


def keep(directory: Path, name: str, found: Sequence[GraphReading]) -> None:
    """Add readings to what is kept under `name`. Never raises."""
    before = recall(directory, name)
    readings = before.readings | {reading.context: reading for reading in found}
    _write(directory, name, Kept(readings, before.failures))


def keep_failure(directory: Path, name: str, context: int, found: NotWitnessed) -> None:
    """Add why there is no reading at this context, unless it may go better next time. Never raises."""
    if found.reason in _LASTING:
        before = recall(directory, name)
        _write(directory, name, Kept(before.readings, before.failures | {context: found}))


def _write(directory: Path, name: str, kept: Kept) -> None:
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=directory, suffix=".tmp", delete=False) as file:
            file.write(msgspec.json.encode(kept))
        Path(file.name).replace(directory / f"{name}.json")
