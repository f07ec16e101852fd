"""The trace job: the graph witness. From config and headers to what one decode step reads of each tensor.

It needs no weights and loads none: nothing here is evaluated, and no weight file is opened.
"""

import json
import resource
import sys
import time
from pathlib import Path

import msgspec

from workbench.checkpoint.config import CONFIG_LIMIT_BYTES
from workbench.checkpoint.files import read_small
from workbench.errors import WorkerError
from workbench.witness.reasons import Reason, not_witnessed
from workbench.witness.result import GraphReading
from workbench.worker.jobs.tracing.account import account
from workbench.worker.jobs.tracing.failures import reason_of
from workbench.worker.jobs.tracing.guards import EvaluatedError, nothing_evaluated, routing_assumed
from workbench.worker.jobs.tracing.loading import Built, Header, build
from workbench.worker.jobs.tracing.stepping import Step, step
from workbench.worker.messages import Traced, TraceRequest
from workbench.worker.outlet import Say


def run(request: TraceRequest, say: Say) -> None:
    """Say one `Traced` a context. Raises WorkerError whose code is a `Reason` when there is no graph."""
    folder = Path(request.folder)
    try:
        headers = _headers(request)
        with nothing_evaluated():
            built = build(folder, headers)
            _complete(built)
            for context in request.contexts:
                graph, assumed = _step(built, max(context, 1))
                reading = account(headers, built, graph, context)
                say(Traced(_with_cost(reading, assumed)))
    except WorkerError:
        raise
    except Exception as error:
        reason, detail = reason_of(error)
        raise _failure(reason, detail) from error


def _headers(request: TraceRequest) -> list[Header]:
    """The tensors of the folder's headers.json, or of the local checkpoint that the request names."""
    folder = Path(request.folder)
    if not request.path:
        rows = msgspec.json.decode((folder / "headers.json").read_bytes(), type=list[HeaderRow])
        return [Header(name, dtype, tuple(shape), nbytes) for name, dtype, shape, nbytes in rows]
    from workbench.checkpoint.reading import open_checkpoint

    checkpoint = open_checkpoint(Path(request.path))
    (folder / "config.json").write_text(json.dumps(checkpoint.config), encoding="utf-8")
    beside = checkpoint.path / QUANTIZATION_FILE
    if beside.is_file():
        (folder / QUANTIZATION_FILE).write_bytes(read_small(beside, beside.name, CONFIG_LIMIT_BYTES))
    return [Header(t.name, t.dtype, t.shape, t.nbytes) for t in checkpoint.tensors]


QUANTIZATION_FILE = "hf_quant_config.json"
"""Where NVIDIA's ModelOpt keeps what config.json does not say; mlx-lm reads it."""

HeaderRow = tuple[str, str, list[int], int]
"""A line of headers.json: name, dtype, shape, bytes in the file."""


def _complete(built: Built) -> None:
    if built.missing:
        named = ", ".join(built.missing[:3]) + (", ..." if len(built.missing) > 3 else "")
        raise _failure(Reason.INCOMPLETE, f"{len(built.missing)} parameters: {named}")


def _step(built: Built, context: int) -> tuple[Step, bool]:
    """The step's graph, and whether its routing had to be assumed because the model asks for it."""
    try:
        return step(built.model, context), False
    except Exception as error:
        if reason_of(error)[0] is not Reason.EVALUATES:
            raise
        try:
            with routing_assumed():
                return step(built.model, context), True
        except EvaluatedError:
            raise error from None


def _with_cost(reading: GraphReading, assumed: bool) -> GraphReading:
    from mlx_lm import __version__

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return msgspec.structs.replace(
        reading,
        assumed_routing=assumed,
        mlx_lm=__version__,
        cpu_s=time.process_time(),
        peak_rss_bytes=peak if sys.platform == "darwin" else peak * 1024,
    )


def _failure(reason: Reason, detail: str) -> WorkerError:
    return WorkerError(not_witnessed(reason, detail).words, code=str(reason))
