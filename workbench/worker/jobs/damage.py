"""The damage job, the witness put to the proof: damaged weights, one real step, and whether a logit moved.

The tensors are damaged as they come from the file, so that everything after that is mlx-lm's own doing. The
prefill is clean: only what the one step reads can show.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from workbench.worker.jobs.damaging.parts import divide
from workbench.worker.jobs.damaging.trial import clean_step, tried
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
    clean = clean_step(path, PREFILLED, request.seed)
    parts = divide(
        request.groups,
        {header.name: header for header in headers},
        {read.name: read for read in reading.reads},
        built,
        clean.chosen,
    )
    for part in parts:
        say(tried(path, part, clean, request.seed))
