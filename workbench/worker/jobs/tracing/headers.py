"""The headers that a trace works from: handed over in a folder, or read from a local checkpoint."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from workbench.checkpoint.config import CONFIG_LIMIT_BYTES
from workbench.checkpoint.files import read_small
from workbench.checkpoint.reading import open_checkpoint

HEADERS_FILE = "headers.json"
QUANTIZATION_FILE = "hf_quant_config.json"
"""Where NVIDIA's ModelOpt keeps what config.json does not say; mlx-lm reads it."""


@dataclass(frozen=True, slots=True)
class Header:
    """One tensor of the file, as its header describes it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int


def given(folder: Path) -> list[Header]:
    """The tensors of the folder's headers.json: rows of name, dtype, shape, bytes in the file."""
    rows: Sequence[tuple[str, str, tuple[int, ...], int]] = msgspec.json.decode(
        (folder / HEADERS_FILE).read_bytes(), type=list[tuple[str, str, tuple[int, ...], int]]
    )
    return [Header(*row) for row in rows]


def of_checkpoint(path: Path, folder: Path) -> list[Header]:
    """The tensors of the local checkpoint at `path`; its configuration is copied to `folder`."""
    checkpoint = open_checkpoint(path)
    (folder / "config.json").write_text(json.dumps(checkpoint.config), encoding="utf-8")
    beside = checkpoint.path / QUANTIZATION_FILE
    if beside.is_file():
        (folder / QUANTIZATION_FILE).write_bytes(read_small(beside, beside.name, CONFIG_LIMIT_BYTES))
    return [Header(t.name, t.dtype, t.shape, t.nbytes) for t in checkpoint.tensors]
