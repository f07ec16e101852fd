"""A traced step in bytes of the file: what it reads of every tensor that the checkpoint holds."""

from collections.abc import Sequence

from workbench.witness.result import GraphReading, TensorRead
from workbench.worker.jobs.tracing.headers import Header
from workbench.worker.jobs.tracing.loading import Built
from workbench.worker.jobs.tracing.reads import Read, reads
from workbench.worker.jobs.tracing.stepping import Step

_KINDS = ("full", "experts", "lookup", "never")


def account(headers: Sequence[Header], built: Built, step: Step, context: int) -> GraphReading:
    """The step's reads, tensor by tensor.

    Bytes of a tensor = its bytes in the file x the part of it that became a parameter x the share of the
    parameter that the step reads; a row looked up in a table that is read in full counts no second time. A
    parameter's resident bytes are divided among the tensors it was made of by their bytes in the file. A
    tensor that several parameters hold a copy of (AWQ's scales become scales and biases) counts as its copy
    that is read most: these are bytes of the file, and what the copies take stands in the resident bytes.
    """
    found = reads(step.graph, [step.logits], len(step.parameters))
    by_parameter = dict(zip(step.parameters, found, strict=False))
    resident = dict(zip(step.parameters, step.nbytes, strict=False))
    resident.update(dict.fromkeys(built.aliases, 0))
    on_disk = {header.name: header.nbytes for header in headers}

    used: dict[str, list[tuple[Read, float, float]]] = {}  # tensor -> (read, part, resident bytes)
    for parameter, origin in built.origins.items():
        if parameter not in by_parameter:
            continue
        weights = {tensor: on_disk[tensor] * part for tensor, part in origin.items()}
        whole = sum(weights.values()) or 1.0
        for tensor, part in origin.items():
            entry = (by_parameter[parameter], part, resident[parameter] * weights[tensor] / whole)
            used.setdefault(tensor, []).append(entry)

    rows = [_row(header, used.get(header.name, [])) for header in headers]
    cached = zip(found[len(step.parameters) :], step.nbytes[len(step.parameters) :], strict=False)
    return GraphReading(
        context=context,
        weight_bytes=sum(row.weight_bytes for row in rows),
        lookup_bytes=sum(row.lookup_bytes for row in rows),
        resident_bytes=sum(resident.values()),
        context_read_bytes=round(sum((read.share + read.rows) * nbytes for read, nbytes in cached)),
        reads=rows,
        unknown=list(built.unknown),
        cache_only=_cache_only(built, step, by_parameter),
    )


def _row(header: Header, used: list[tuple[Read, float, float]]) -> TensorRead:
    if not used:
        return TensorRead(header.name, "dropped", 0, 0, 0, 0)
    kind = min((read.kind for read, _, _ in used), key=_KINDS.index)
    copied = sum(part for _, part, _ in used) > 1.001
    of_all = max if copied else sum
    rows = 0.0 if kind == "full" else of_all(part * read.rows for read, part, _ in used)
    return TensorRead(
        header.name,
        kind,
        _whole(header.nbytes * of_all(part * read.share for read, part, _ in used)),
        _whole(header.nbytes * rows),
        _whole(sum(memory for _, _, memory in used)),
        max(read.times for read, _, _ in used),
    )


def _whole(amount: float) -> int:
    """Whole bytes, rounded down as the count does; what floating point left of an integer counts as one."""
    return int(amount + 1e-3)


def _cache_only(built: Built, step: Step, by_parameter: dict[str, Read]) -> list[str]:
    """Tensors that do not reach this step's logits but write what a later step may read from the cache."""
    later = reads(step.graph, step.next_caches, len(step.parameters))
    waiting = {
        name
        for name, read in zip(step.parameters, later, strict=False)
        if read.kind != "never" and by_parameter[name].kind == "never"
    }
    return sorted({tensor for name in waiting for tensor in built.origins.get(name, {})})
