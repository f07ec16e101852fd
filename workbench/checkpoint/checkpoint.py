"""One checkpoint as its headers and config.json describe it: the data this room hands on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple


class Tensor(NamedTuple):
    """One named entry of a header. `file` indexes `Checkpoint.files`; `nbytes` comes from the offsets."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    file: int


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One shard that the runtime would load: its name relative to the checkpoint and its size on disk."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A weight file that lies beside the loaded ones and is not counted, with the reason in words."""

    name: str
    bytes: int
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a reader must be told: a stable `code` for scripts, one sentence for people."""

    code: str
    message: str


class State(StrEnum):
    """Whether a checkpoint can be counted and loaded."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    NOT_LOADABLE = "not loadable"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One model on disk (or behind a Hub address), as far as its headers tell.

    `config` is config.json as parsed (an empty mapping where there is none, see `findings`); `gguf` is a
    GGUF file's metadata, None for safetensors. `state` with `reason` says whether it can be counted.
    `skipped_tensors` are the entries of the files that do not count (`file` indexes `skipped`): the seed
    rule, which reads every *.safetensors file, needs them.
    """

    path: Path
    name: str
    format: str  # "safetensors" or "gguf"
    config: Mapping[str, Any]
    files: tuple[WeightFile, ...]
    tensors: tuple[Tensor, ...]
    state: State = State.COMPLETE
    reason: str = ""
    skipped: tuple[SkippedFile, ...] = ()
    skipped_tensors: tuple[Tensor, ...] = ()
    findings: tuple[Finding, ...] = ()
    gguf: Mapping[str, Any] | None = field(default=None)

    @property
    def disk_bytes(self) -> int:
        """Bytes of all counted tensors on disk (headers excluded)."""
        return sum(tensor.nbytes for tensor in self.tensors)
