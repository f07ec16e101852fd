"""What must survive a power cut is on the disk, not in a cache of the system or of the drive."""

import contextlib
import errno
import fcntl
import os
from pathlib import Path


def file_to_disk(descriptor: int) -> None:
    """Everything that was written to an open file. Raises OSError where the disk does not take it."""
    full_sync = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone stops at the drive's cache
    if full_sync is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, full_sync)
            return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # some file systems have no fsync
            raise


def folder_to_disk(folder: Path) -> None:
    """The names in a folder, as far as its file system can: the files themselves are safe already."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
