"""The trace job: the graph witness. From config and headers to what one decode step reads of each tensor.

It needs no weights and loads none: nothing here is evaluated, and no weight file is opened.
"""

from pathlib import Path

from workbench.worker.jobs.tracing.headers import given, of_checkpoint
from workbench.worker.jobs.tracing.reading import built_from, reading_at, tracing
from workbench.worker.messages import Traced, TraceRequest
from workbench.worker.outlet import Say


def run(request: TraceRequest, say: Say) -> None:
    """Say one `Traced` a context. Raises WorkerError whose code is a `Reason` when there is no graph."""
    folder = Path(request.folder)
    with tracing():
        headers = of_checkpoint(Path(request.path), folder) if request.path else given(folder)
        built = built_from(folder, headers)
        for context in request.contexts:
            say(Traced(reading_at(built, headers, context)))
