"""What the sources may ask of this machine: platform, files, programs, modules.

They come in as one value so that a test can stand up a Mac, a GPU machine or a bare one anywhere.
"""

import contextlib
import importlib
import importlib.util
import os
import platform
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

LONGEST_ANSWER_BYTES = 1_000_000
_PAUSE_S = 0.005


def quick(
    argv: Sequence[str], timeout_s: float, given_up: Callable[[], bool] = lambda: False
) -> tuple[int, str]:
    """Run a short command without a terminal; never raises for what the command does.

    It ends with the command, not with what the command leaves behind: that is ended too, and all of it once
    `given_up`. An answer that does not stop counts as none.
    """
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,  # and no session of its own: sudo remembers a user by the terminal
        )
    except (OSError, ValueError) as error:
        return 127, getattr(error, "strerror", None) or str(error)
    assert process.stdout is not None
    with process.stdout:
        said = _answer(process, process.stdout.fileno(), time.monotonic() + timeout_s, given_up)
    end_group(process, signal.SIGKILL)
    status = process.wait()
    if said is None:
        return 124, f"no answer within {timeout_s:g} s"
    if len(said) > LONGEST_ANSWER_BYTES:
        return 124, f"an answer of more than {LONGEST_ANSWER_BYTES:,} bytes"
    return status, said.decode("utf-8", "replace")


def _answer(
    process: subprocess.Popen[bytes], pipe: int, until_s: float, given_up: Callable[[], bool]
) -> bytes | None:
    """What the command says until it ends or says too much; None where it takes too long."""
    said = b""
    while time.monotonic() < until_s and not given_up():
        has_ended = process.poll() is not None  # asked before the pipe: then all that it said is in there
        is_ready = bool(select.select([pipe], [], [], 0 if has_ended else _PAUSE_S)[0])
        more = os.read(pipe, 65536) if is_ready else b""
        said += more
        if len(said) > LONGEST_ANSWER_BYTES or (has_ended and not more):
            return said
        if is_ready and not more:
            time.sleep(_PAUSE_S)  # its stdout is closed, but it goes on
    return None


def end_group(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal a program that leads a process group, and what it has started; nothing where we may not."""
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.killpg(process.pid, number)


def text_of(path: Path) -> str | None:
    """What a small file of the system says; None where it cannot be read."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine as the sources see it.

    `run(argv, timeout_s)` answers (exit status, stdout and stderr together); status 127 when it cannot start,
    124 when it takes too long.
    """

    system: str
    is_root: bool = False
    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=dict)
    which: Callable[[str], str | None] = shutil.which
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None
    load_module: Callable[[str], ModuleType] = importlib.import_module
    run: Callable[[Sequence[str], float], tuple[int, str]] = quick

    @property
    def is_mac(self) -> bool:
        """True on macOS."""
        return self.system == "Darwin"

    @property
    def is_linux(self) -> bool:
        """True on Linux."""
        return self.system == "Linux"


def here() -> Surroundings:
    """The machine we run on."""
    return Surroundings(system=platform.system(), is_root=os.geteuid() == 0, environ=dict(os.environ))
