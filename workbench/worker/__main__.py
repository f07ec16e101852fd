"""The worker process: `python -P -m workbench.worker JOB`. One job, then it ends.

Imports its libraries, says `Ready`, waits for one request on stdin, and hands it to the job. It computes
nothing itself.
"""

import importlib
import os
import signal
import sys
import threading
import traceback
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn, Protocol, cast

import msgspec

from workbench.errors import WorkbenchError, WorkerError
from workbench.exits import ExitCode
from workbench.locations import log_dir
from workbench.worker import messages
from workbench.worker.lifeline import EXIT_AFTER_S, Lifeline
from workbench.worker.log import escaped, open_log
from workbench.worker.messages import Failed, Finished, Ready, Request
from workbench.worker.outlet import Outlet, Say


@dataclass(frozen=True)
class Job:
    """What a job asks for, and the libraries whose import must not count as the job's own time."""

    request: type[Request]
    libraries: tuple[str, ...] = ("mlx.core", "mlx_lm")


class JobModule(Protocol):
    """What every module in `workbench.worker.jobs` that is a job offers."""

    def run(self, request: Request, say: Say) -> None:
        """Do the request and say what happens; raise WorkbenchError for a failure in words."""


JOBS = {
    "stamp": Job(messages.StampRequest, ("mlx.core",)),
    "decode": Job(messages.DecodeRequest),
    "probe": Job(messages.ProbeRequest, ("mlx.core",)),
    "synthesize": Job(messages.SynthesizeRequest),
    "trace": Job(messages.TraceRequest),
    "damage": Job(messages.DamageRequest),
}

# The worker reads what lies on this machine; nothing it loads may reach for the network.
_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "MLXLM_USE_MODELSCOPE": "False",
    "TOKENIZERS_PARALLELISM": "false",
}


# No job needs it, and transformers imports it wherever it is installed: seconds and hundreds of megabytes.
_UNWANTED = "torch"


def main(argv: list[str]) -> NoReturn:
    """Run one job over the pipes this process was started with, and exit."""
    if len(argv) != 1 or argv[0] not in JOBS:
        sys.stderr.write(f"usage: python -P -m workbench.worker {{{','.join(JOBS)}}}\n")
        raise SystemExit(ExitCode.USAGE)
    job = argv[0]
    outlet, lifeline = _take_pipes(job)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(_QUIET)
    code = 0
    try:
        _serve(job, outlet, lifeline)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BrokenPipeError:  # the UI is gone: nobody is left to tell
        code = 1
    # Without the interpreter's and the backend's tear-down, which may hang or crash after the work is done.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _serve(job: str, outlet: Outlet, lifeline: Lifeline) -> None:
    try:
        module = _import(job)
        from workbench.worker.jobs.stamp import take

        outlet.say(Ready(stamp=take(), pid=os.getpid()))
        request = _decoded(lifeline.request_line(), JOBS[job].request)
        module.run(request, outlet.say)
        outlet.say(Finished())
    except BrokenPipeError:
        raise
    except WorkbenchError as error:
        traceback.print_exc()
        outlet.say(Failed(error.code, error.message, error.hint))
    except MemoryError:
        traceback.print_exc()
        outlet.say(
            Failed(
                "out_of_memory", f"The {job} job ran out of memory.", "Close other programs and try again."
            )
        )
    except Exception as error:
        traceback.print_exc()
        what = escaped(f"{type(error).__name__}: {error}")
        outlet.say(
            Failed("worker_failed", f"The {job} job failed: {what}", "The worker's log has the details.")
        )


def _take_pipes(job: str) -> tuple[Outlet, Lifeline]:
    """Move the pipes away from 0 and 1, where libraries print and ask."""
    outlet = Outlet(os.dup(1))
    lifeline_fd = os.dup(0)
    log = open_log(log_dir(), job, os.getpid())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(nothing)
    os.close(log)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return outlet, Lifeline(lifeline_fd)


def _import(job: str) -> JobModule:
    """Import the job's libraries and the job. Raises WorkerError that says what to install."""
    sys.modules[_UNWANTED] = None  # type: ignore[assignment]  # to every import: not installed
    for library in JOBS[job].libraries:
        try:
            importlib.import_module(library)
        except ImportError as error:
            traceback.print_exc()
            raise _missing(library, error) from error
    return cast(JobModule, importlib.import_module(f"workbench.worker.jobs.{job}"))


def _missing(library: str, error: ImportError) -> WorkerError:
    package = "mlx" if library.startswith("mlx.") else "mlx-lm"
    why = escaped(str(error))
    if sys.platform == "linux":
        hint = (
            'Install one backend: pip install "decode-workbench[cpu]", or '
            '"decode-workbench[cuda13]" for an NVIDIA GPU (never both in one environment).'
        )
    else:
        hint = (
            f"Install it again: pip install --force-reinstall {package} (Apple Silicon, macOS 14 or later)."
        )
    return WorkerError(f"No working {package} in this Python: {why}", hint, code="backend_missing")


def _decoded(line: bytes, wanted: type[Request]) -> Request:
    try:
        return msgspec.json.decode(line, type=wanted)
    except msgspec.MsgspecError as error:
        raise WorkerError(f"The worker got a request it does not know: {escaped(str(error))}") from error


def _end(number: int, _frame: FrameType | None) -> None:
    """SIGTERM: let `finally` blocks run, undisturbed by a second signal and for a short while only."""
    signal.signal(number, signal.SIG_IGN)
    last_word = threading.Timer(EXIT_AFTER_S, os._exit, (128 + number,))
    last_word.daemon = True
    last_word.start()
    raise SystemExit(128 + number)


if __name__ == "__main__":
    main(sys.argv[1:])
