"""What the sources may ask of this machine: platform, files, programs, modules.

They come in as one value so that a test can stand up a Mac, a GPU machine or a bare one anywhere.
"""

import importlib
import importlib.util
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType


def quick(argv: Sequence[str], timeout_s: float) -> tuple[int, str]:
    """Run a short command without a terminal; never raises for what the command does."""
    try:
        done = subprocess.run(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, f"no answer within {timeout_s:g} s"
    except OSError as error:
        return 127, error.strerror or str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace")


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
