"""The whole way from a folder with a configuration to a reading of the graph; failures get their reasons."""

import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from workbench.errors import WorkerError
from workbench.witness.reasons import Reason, not_witnessed
from workbench.witness.result import GraphReading
from workbench.worker.jobs.tracing.account import account
from workbench.worker.jobs.tracing.failures import reason_of
from workbench.worker.jobs.tracing.guards import EvaluatedError, nothing_evaluated, routing_assumed
from workbench.worker.jobs.tracing.headers import Header
from workbench.worker.jobs.tracing.loading import Built, build
from workbench.worker.jobs.tracing.stepping import Step, step


@contextmanager
def tracing() -> Iterator[None]:
    """Evaluate nothing inside; whatever fails is raised as a WorkerError whose code is a `Reason`."""
    try:
        with nothing_evaluated():
            yield
    except WorkerError:
        raise
    except Exception as error:
        reason, detail = reason_of(error)
        raise _failure(reason, detail) from error


def built_from(folder: Path, headers: Sequence[Header]) -> Built:
    """The model that mlx-lm builds from the folder's config.json and these headers, without values."""
    built = build(folder, headers)
    if built.missing:
        named = ", ".join(built.missing[:3]) + (", ..." if len(built.missing) > 3 else "")
        what = "1 parameter" if len(built.missing) == 1 else f"{len(built.missing)} parameters"
        raise _failure(Reason.INCOMPLETE, f"{what}: {named}")
    return built


def reading_at(built: Built, headers: Sequence[Header], context: int) -> GraphReading:
    """What the step after `context` tokens reads, with what it cost this process to find out."""
    from mlx_lm import __version__

    graph, assumed = _step(built, max(context, 1))
    return msgspec.structs.replace(
        account(headers, built, graph, context),
        assumed_routing=assumed,
        mlx_lm=__version__,
        cpu_s=time.process_time(),
        peak_rss_bytes=_peak_rss_bytes(),
    )


def _step(built: Built, context: int) -> tuple[Step, bool]:
    """The step's graph, and whether its routing had to be assumed because the model asks for it."""
    try:
        return step(built.model, context), False
    except Exception as error:
        reason, _ = reason_of(error)
        if reason is Reason.FAILED and built.unknown:  # loaded all the same, of whatever shapes there were
            places = f"no place for {len(built.unknown)} of them, for example {built.unknown[0]}"
            raise _failure(Reason.MISMATCH, places) from error
        if reason is not Reason.EVALUATES:
            raise
        try:
            with routing_assumed():
                return step(built.model, context), True
        except EvaluatedError:
            raise error from None


def _peak_rss_bytes() -> int:
    """The most memory that this process held. Linux keeps the parent's peak in `ru_maxrss` across exec."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS: in bytes
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def _failure(reason: Reason, detail: str) -> WorkerError:
    return WorkerError(not_witnessed(reason, detail).words, code=str(reason))
