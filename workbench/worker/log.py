"""Where a worker's stray output goes: one file per worker, the newest few kept.

Both ends use it: the worker writes the file, its client quotes the last line when the worker dies.
"""

import os
from contextlib import suppress
from pathlib import Path

KEPT_LOGS = 20
_TAIL_BYTES = 8192


def path_of(directory: Path, job: str, pid: int) -> Path:
    """The log file of the worker `pid` that runs `job`."""
    return directory / f"{job}-{pid}.log"


def open_log(directory: Path, job: str, pid: int) -> int:
    """A file descriptor for the worker's stray output; `os.devnull` where the folder cannot be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _drop_old(directory)
        return os.open(
            path_of(directory, job, pid), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600
        )
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def last_line(path: Path) -> str:
    """The last line with anything on it, escaped and cut to 300 characters; empty without a log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return escaped(next((line.strip() for line in reversed(lines) if line.strip()), ""))


def escaped(text: str, limit: int = 300) -> str:
    """`text` on one line with everything that is not printable written as an escape, cut to `limit`."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _drop_old(directory: Path) -> None:
    """Leave room for one more log among the newest `KEPT_LOGS`."""
    logs: list[tuple[float, Path]] = []
    for path in directory.glob("*.log"):
        with suppress(OSError):
            logs.append((path.stat().st_mtime, path))
    for _, path in sorted(logs, reverse=True)[KEPT_LOGS - 1 :]:
        with suppress(OSError):
            path.unlink()
