"""Bounded reading of regular files: sizes first, nothing that could block, nothing that is no file.

What a file that is not what its name says really is (a git-lfs pointer, a web page) is said here too.
"""

import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from workbench.errors import CheckpointError, IncompleteCheckpointError
from workbench.escape import visible

_LFS_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\s.*?\nsize (\d{1,20})\b", re.DOTALL)


def open_regular(path: Path, name: str) -> tuple[BinaryIO, int]:
    """The file opened for reading, unbuffered, and its size in bytes; `name` is how messages call it.

    A FIFO or a device is refused, not waited for. Raises CheckpointError, or IncompleteCheckpointError where
    a link leads nowhere.
    """
    shown = visible(name)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise IncompleteCheckpointError(
                f"{shown}: the link's target is missing, so the download did not finish",
                "Download it again.",
                code="blob_missing",
            ) from None
        raise CheckpointError(f"{shown}: no such file", code="file_missing") from None
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise CheckpointError(f"{shown} is not a regular file", code="not_a_regular_file") from None
        raise CheckpointError(f"{shown}: {error.strerror}", code="file_unreadable") from None
    except ValueError:
        raise CheckpointError(f"{shown}: no such file", code="file_missing") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise CheckpointError(f"{shown} is {kind_of(status.st_mode)}, not a file", code="not_a_regular_file")
    return os.fdopen(descriptor, "rb", buffering=0), status.st_size


def read_exactly(file: BinaryIO, count: int, name: str) -> bytes:
    """The next `count` bytes; CheckpointError where the file ends or fails before."""
    parts = []
    missing = count
    try:
        while missing:
            part = file.read(missing)
            if not part:
                raise IncompleteCheckpointError(
                    f"{visible(name)}: the file became shorter while it was read", code="file_truncated"
                )
            parts.append(part)
            missing -= len(part)
    except OSError as error:
        raise CheckpointError(f"{visible(name)}: {error.strerror}", code="file_unreadable") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_small(path: Path, name: str, limit_bytes: int) -> bytes:
    """The whole content of a file of at most `limit_bytes`; CheckpointError otherwise."""
    file, size = open_regular(path, name)
    with file:
        if size > limit_bytes:
            raise CheckpointError(
                f"{visible(name)} has {size:,} bytes; more than {limit_bytes:,} are not read",
                code="file_too_large",
            )
        content = read_exactly(file, size, name)
    refuse_other_content(content[:1024], name)
    return content


def refuse_other_content(start: bytes, name: str) -> None:
    """Raise where a file's first bytes show that it is something else than its name says."""
    shown = visible(name)
    if pointer := _LFS_POINTER.match(start):
        raise IncompleteCheckpointError(
            f"{shown} is a git-lfs pointer to a file of {int(pointer[1]):,} bytes, not the file",
            "Run `git lfs pull` in the repository.",
            code="lfs_pointer",
        )
    if start.startswith(b"\x00\x05\x16\x07"):
        raise CheckpointError(f"{shown} is an AppleDouble file of macOS, no weights", code="apple_double")
    if start.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise CheckpointError(
            f"{shown} is a web page, not the file: the download was answered with HTML",
            "Download it again (is the repository gated?).",
            code="html_page",
        )


def kind_of(mode: int) -> str:
    """What a file mode stands for, in words."""
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFLNK: "a symbolic link",
    }
    return kinds.get(stat.S_IFMT(mode), "something special")


def text_name(name: str) -> str:
    """A file name as text that can be printed and stored: bytes that are no UTF-8 are replaced."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")
