"""The lock: a prediction on disk before the model may load, as the record the run would leave if it died now.

Its file is held with flock by the living process, so that no reused process id can pass for it. What becomes
of a lock whose process is gone is `recover`'s business.
"""

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from workbench.errors import LedgerError
from workbench.ledger.disk import file_to_disk, folder_to_disk
from workbench.ledger.record import Record
from workbench.locations import shown


class PredictionLock:
    """One living lock: `write` keeps its record up to date, `release` ends it. Good for one run group."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: int | None = None

    @classmethod
    def create(cls, folder: Path, record: Record) -> Self:
        """Write `record` (its `lock_id` names the file) and hold it; on disk when this returns.

        Raises LedgerError when the folder does not take it: then nothing may run.
        """
        lock = cls(folder / f"{record.lock_id}.json")
        lock.write(record)
        return lock

    def write(self, record: Record) -> None:
        """Put `record` in the file's place, whole or not at all; on disk when this returns."""
        try:
            self._write(msgspec.json.encode(record))
        except OSError as error:
            raise LedgerError(
                f"The prediction could not be locked in {shown(self.path.parent)}: "
                f"{os.strerror(error.errno or 0).lower()}.",
                "Make room or permit writing there; nothing was run.",
                code="lock_unwritable",
            ) from error

    def release(self) -> None:
        """The run is in the ledger: remove the file, then let it go."""
        with suppress(FileNotFoundError):
            self.path.unlink()
        self.abandon()

    def abandon(self) -> None:
        """Let the file go but leave it: the next start will append its record."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _write(self, content: bytes) -> None:
        # A new file that is held before it gets its name: nobody ever sees a lock that is torn or free.
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            written = 0
            while written < len(content):
                written += os.write(descriptor, content[written:])
            file_to_disk(descriptor)
            draft.rename(self.path)
            folder_to_disk(self.path.parent)
        except BaseException:
            os.close(descriptor)
            with suppress(FileNotFoundError):
                draft.unlink()
            raise
        self.abandon()
        self._held = descriptor


def claim(path: Path) -> int | None:
    """A descriptor that holds the lock file of a process that is gone; None while its process lives.

    None too for what is no file, and when another process has claimed and removed it meanwhile. The caller
    closes the descriptor.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        ours = stat.S_ISREG(status.st_mode) and os.path.samestat(status, path.stat())
    except OSError:  # held; or removed between open and stat
        ours = False
    if not ours:
        os.close(descriptor)
        return None
    return descriptor
