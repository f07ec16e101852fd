"""The damage job, the witness put to the proof: damaged weights, one real step, and whether a logit moved.

The tensors are damaged as they come from the file, so that everything after that is mlx-lm's own doing. The
prefill is clean: only what the one step reads can show.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from workbench.errors import WorkerError
from workbench.witness.reasons import not_witnessed
from workbench.worker.jobs.damaging.parts import divide
from workbench.worker.jobs.damaging.trial import CleanStep, clean_step, tried
from workbench.worker.jobs.tracing.failures import reason_of
from workbench.worker.jobs.tracing.headers import of_checkpoint
from workbench.worker.jobs.tracing.reading import built_from, reading_at, tracing
from workbench.worker.messages import DamageRequest
from workbench.worker.outlet import Say

PREFILLED = 16
"""Tokens before the step; the trace looks at the same context."""


def run(request: DamageRequest, say: Say) -> None:
    """Say one `Damaged` for each part of each group, and whether the graph had expected it."""
    path = Path(request.path)
    with TemporaryDirectory() as folder, tracing():
        headers = of_checkpoint(path, Path(folder))
        built = built_from(Path(folder), headers)
        reading = reading_at(built, headers, PREFILLED)
    clean = _clean_step(path, request.seed)
    parts = divide(
        request.groups,
        {header.name: header for header in headers},
        {read.name: read for read in reading.reads},
        built,
        clean.chosen,
    )
    for part in parts:
        say(tried(path, part, clean, request.seed))


def _clean_step(path: Path, seed: int) -> CleanStep:
    """The undamaged step, or in words why this backend takes none of this model."""
    try:
        return clean_step(path, PREFILLED, seed)
    except WorkerError:
        raise
    except Exception as error:
        reason, detail = reason_of(error)
        words = not_witnessed(reason, detail).words
        raise WorkerError(
            f"The model takes no real step here: {words}.",
            "The witness without a proof needs no step.",
            code=str(reason),
        ) from error
