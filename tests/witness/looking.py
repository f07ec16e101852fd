"""Tracing in the tests' own process, and checkpoints as mlx-lm would save them for a configuration."""

import json
import lzma
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from tests import checkpoints
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.witness.result import GraphReading
from workbench.worker.jobs.trace import run
from workbench.worker.messages import TraceRequest

DATA = Path(__file__).parents[1] / "data"


def look(checkpoint: Checkpoint, *contexts: int) -> list[GraphReading]:
    """What the trace job says of a checkpoint that may exist in memory only."""
    said = []
    with TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(dict(checkpoint.config)))
        rows = [(t.name, t.dtype, t.shape, t.nbytes) for t in checkpoint.tensors]
        (Path(folder) / "headers.json").write_bytes(msgspec.json.encode(rows))
        run(TraceRequest(folder, list(contexts or (3,))), said.append)
    return [report.reading for report in said]


def truth() -> dict[str, dict[str, Any]]:
    """Architectures whose reads were found by execution: name -> configuration, tensors, bytes."""
    return json.loads(lzma.decompress((DATA / "truth" / "decode-reads.json.xz").read_bytes()))


def configurations() -> dict[str, dict[str, Any]]:
    """Small configurations of the architectures that `truth` does not have."""
    return json.loads((DATA / "architectures" / "configs.json").read_text())


def saved_by_mlx_lm(config: Mapping[str, Any], change: Callable[[Any], Any] | None = None) -> Checkpoint:
    """The checkpoint that mlx-lm would save for a configuration: its model's parameters, changed or not."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm.utils import _get_classes

    config = json.loads(json.dumps(config))
    model_class, arguments = _get_classes(config)
    model = model_class(arguments.from_dict(json.loads(json.dumps(config))))
    if change is not None:
        change(model)
    names = {
        mx.float32: "F32",
        mx.float16: "F16",
        mx.bfloat16: "BF16",
        mx.uint8: "U8",
        mx.uint32: "U32",
        mx.int32: "I32",
    }
    tensors = {
        name: (names[array.dtype], tuple(array.shape)) for name, array in tree_flatten(model.parameters())
    }
    return checkpoints.checkpoint(tensors, config)


def from_truth(entry: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint of one entry of `truth`."""
    names = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "uint32": "U32", "int32": "I32"}
    tensors: dict[str, tuple[str, Sequence[int]]] = {
        name: (names[dtype], shape) for name, (dtype, shape, *_) in entry["tensors"].items()
    }
    return checkpoints.checkpoint(tensors, entry["config"])
