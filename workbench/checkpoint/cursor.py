"""A bounded little-endian cursor over the start of a file, for headers that say their own lengths.

It never goes past the file's end or its own limit, never allocates what a length field asks for before that
is checked, and skips over what nobody needs.
"""

from struct import Struct
from typing import BinaryIO

from workbench.checkpoint.files import read_exactly
from workbench.errors import CheckpointError, IncompleteCheckpointError
from workbench.escape import visible

_CHUNK_BYTES = 1 << 18
_U32 = Struct("<I")
_U64 = Struct("<Q")


class Cursor:
    """Reads forward from the start of `file`, `file_bytes` long, up to `limit_bytes`."""

    def __init__(self, file: BinaryIO, file_bytes: int, limit_bytes: int, name: str) -> None:
        self._file = file
        self._file_bytes = file_bytes
        self._end = min(file_bytes, limit_bytes)
        self._name = name
        self._buffer = b""
        self._base = 0
        self._at = 0

    @property
    def position(self) -> int:
        """Bytes from the start of the file."""
        return self._base + self._at

    @property
    def left(self) -> int:
        """Bytes that may still be read."""
        return self._end - self.position

    def take(self, count: int, what: str) -> bytes:
        """The next `count` bytes; `what` they are goes into the message where there are fewer."""
        if count > len(self._buffer) - self._at:
            self._fill(count, what)
        start = self._at
        self._at += count
        return self._buffer[start : self._at]

    def u32(self, what: str) -> int:
        """The next four bytes as a number."""
        number: int = _U32.unpack(self.take(4, what))[0]
        return number

    def u64(self, what: str) -> int:
        """The next eight bytes as a number."""
        number: int = _U64.unpack(self.take(8, what))[0]
        return number

    def text(self, limit_bytes: int, what: str) -> str:
        """The next string (a u64 length and its UTF-8), of at most `limit_bytes`."""
        length = self.u64(f"the length of {what}")
        if length > limit_bytes:
            raise self._absurd(f"{what} of {length:,} bytes")
        return self.take(length, what).decode("utf-8", "backslashreplace")

    def check_count(self, count: int, limit: int, smallest_bytes: int, what: str) -> None:
        """Raise where `count` entries of at least `smallest_bytes` each cannot follow."""
        if count > limit or count * smallest_bytes > self.left:
            raise self._absurd(f"a count of {count:,} {what}")

    def skip(self, count: int, what: str) -> None:
        """Go on by `count` bytes without reading them."""
        if count <= len(self._buffer) - self._at:
            self._at += count
            return
        self._check(count, what)
        self._base, self._at, self._buffer = self.position + count, 0, b""
        self._file.seek(self._base)

    def skip_strings(self, count: int, what: str) -> None:
        """Go on over `count` strings, each a u64 length and its bytes: the long part of a vocabulary."""
        unpack = _U64.unpack_from
        while count:
            buffer, at, last = self._buffer, self._at, len(self._buffer) - 8
            while count and at <= last:
                after = at + 8 + unpack(buffer, at)[0]
                if after > last + 8:
                    break
                at = after
                count -= 1
            self._at = at
            if count:
                self.skip(self.u64(what), what)
                count -= 1

    def _fill(self, count: int, what: str) -> None:
        self._check(count, what)
        rest = self._buffer[self._at :]
        fetched = min(max(count - len(rest), _CHUNK_BYTES), self._end - self.position - len(rest))
        self._base, self._at = self.position, 0
        self._buffer = rest + read_exactly(self._file, fetched, self._name)

    def _check(self, count: int, what: str) -> None:
        if count <= self.left:
            return
        where = f"{what} of {count:,} bytes at byte {self.position:,}"
        if count > self._file_bytes or self._end < self._file_bytes:
            raise self._absurd(where)
        raise IncompleteCheckpointError(
            f"{visible(self._name)}: the file ends inside its header ({where})",
            "Download it again.",
            code="file_truncated",
        )

    def _absurd(self, what: str) -> CheckpointError:
        return CheckpointError(
            f"{visible(self._name)}: {what} is absurd for this file: refused without reading it",
            "Download the file again.",
            code="header_absurd",
        )
