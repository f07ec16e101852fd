"""The ledger on disk: append one record, read all. Nothing here rewrites, sorts or repairs a line.

What records mean is not known here; a correction is one more record.
"""

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from workbench import locations
from workbench.collector import no_collector
from workbench.errors import LedgerError
from workbench.ledger.disk import file_to_disk, folder_to_disk
from workbench.ledger.lines import Line, line_at, lines_of
from workbench.ledger.record import SCHEMA_VERSION, Record, sealed

LOCK_WAIT_S = 10.0
"""How long an append waits for another writer before it puts the record elsewhere."""

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for a line that is no JSON or does not fit."""

_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_DECODER = msgspec.json.Decoder(Record)
_SMALLEST = {"record_id": "", "run_group_id": "", "experiment": "", "status": ""}


class UnwrittenRecordError(LedgerError):
    """The ledger did not take a record. `rescued_to` is the file that holds it now, None if there is none."""

    def __init__(self, message: str, hint: str, line: bytes, rescued_to: Path | None) -> None:
        super().__init__(message, hint)
        self.line = line
        self.rescued_to = rescued_to


@dataclass(frozen=True, slots=True)
class Reading:
    """What a ledger holds: its records in file order, and (line number from 1, why) for damaged lines."""

    records: list[Record] = field(default_factory=list)
    damaged: list[tuple[int, str]] = field(default_factory=list)


def append(path: Path, record: Record) -> Record:
    """Seal `record`, append it as one line, and return it as written.

    The line goes out in one write under a lock and is on the disk when this returns. Raises
    `UnwrittenRecordError` when the ledger does not take it; the record then lies in the file it names.
    """
    written = sealed(record)
    append_line(path, msgspec.json.encode(written))
    return written


def append_line(path: Path, line: bytes) -> None:
    """Append one line as it is (a merged record keeps fields that this version does not know)."""
    append_lines(path, [line])


def append_lines(path: Path, lines: Sequence[bytes], *, only_at: int | None = None) -> bool:
    """Append several lines in one write, as a merge does: all of them get in, or none does.

    With `only_at` nothing is written, and False returned, where the ledger is not of so many bytes any more:
    another program appended since it was read.
    """
    if any(b"\n" in line for line in lines):
        raise ValueError("a ledger line cannot hold a newline")
    if not lines:
        return True
    together = b"\n".join(lines)
    try:
        return _append(path, together, only_at)
    except OSError as error:
        raise _unwritten(path, together, error) from error


def read(path: Path, *, token_times: bool = True) -> Reading:
    """Every record of a ledger that can be read, and what is wrong with the lines that cannot.

    Unknown fields and newer schema versions are read as far as this version knows them. Without
    `token_times` those are null: they are nine tenths of a long ledger's memory. A ledger that does not
    exist yet is empty. Raises `LedgerError` only when the file itself cannot be read.
    """
    reading = Reading()
    with no_collector():
        reading.records.extend(records(path, reading.damaged, token_times=token_times))
    return reading


def records(
    path: Path, damaged: list[tuple[int, str]] | None = None, *, token_times: bool = True
) -> Iterator[Record]:
    """The same one after the other: a long ledger need not be in memory. `damaged` gets the other lines."""
    for line, found in each(path):
        if isinstance(found, Record):
            if not token_times:
                msgspec.structs.force_setattr(found, "token_times_ns", None)
            yield found
        elif damaged is not None:
            damaged.append((line.number, found))


def each(path: Path) -> Iterator[tuple[Line, Record | str]]:
    """Every line that is not blank, as the record it holds or what is wrong with it."""
    for line in lines_of(path):
        if line.raw is None or line.raw.strip():
            found: Record | str
            try:
                found = decode(line)
            except LedgerError as error:
                found = error.message
            yield line, found


def read_at(path: Path, offset: int) -> Record:
    """The record whose line begins at `offset` bytes (a table row knows its own)."""
    return decode(Line(0, offset, line_at(path, offset), True))


def decode(line: Line) -> Record:
    """One line as a record; `LedgerError` says what is wrong with it."""
    if line.raw is None:
        raise LedgerError("the line is too long to be a record", code="damaged_line")
    try:
        if not line.raw.isascii():
            line.raw.decode()  # the decoder passes over the texts that it does not keep
        return _DECODER.decode(line.raw)
    except UNDECODABLE as error:
        newer = _as_far_as_known(line.raw)
        if newer is not None:
            return newer
        raise LedgerError(why_damaged(line, error), code="damaged_line") from error


def why_damaged(line: Line, error: Exception) -> str:
    """What is wrong with a line that does not decode, in words."""
    if not line.ended:
        return "the line is torn: it ends without a newline in the middle of a record"
    if isinstance(error, UnicodeDecodeError):
        return "the line is not UTF-8"
    if isinstance(error, msgspec.ValidationError):
        return f"the line is JSON but no record: {error}"
    if isinstance(error, RecursionError):
        return "the line is nested too deeply to be a record"
    if line.raw and b"\0" in line.raw:
        return "the line holds zero bytes, as a file does after a power cut"
    return f"the line is no JSON: {str(error).removeprefix('JSON is malformed: ')}"


def _as_far_as_known(raw: bytes) -> Record | None:
    """A record of a newer schema without the fields whose meaning has changed; None for anything else."""
    try:
        fields = msgspec.json.decode(raw)
    except UNDECODABLE:
        return None
    version = fields.get("schema_version") if isinstance(fields, dict) else None
    if not isinstance(version, int) or not SCHEMA_VERSION < version < 2**31:
        return None
    for name in Record.__struct_fields__:
        if name not in fields:
            continue
        try:
            msgspec.convert({**_SMALLEST, name: fields[name]}, Record)
        except msgspec.ValidationError:
            del fields[name]
    try:
        return msgspec.convert(fields, Record)
    except msgspec.ValidationError:
        return None


def _append(path: Path, line: bytes, only_at: int | None = None) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOTSUP, "it is not a regular file")  # what takes bytes need not keep them
        _lock(descriptor)
        before = os.fstat(descriptor).st_size
        if only_at is not None and before != only_at:
            return False
        torn = before > 0 and os.pread(descriptor, 1, before - 1) not in {b"\n", b""}
        _write_whole(descriptor, (b"\n" if torn else b"") + line + b"\n", before)
        file_to_disk(descriptor)
    finally:
        os.close(descriptor)  # gives the lock back too
    if is_new:
        folder_to_disk(path.parent)
    return True


def _lock(descriptor: int) -> None:
    deadline = time.monotonic() + LOCK_WAIT_S
    pause_s = 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(errno.ETIMEDOUT, "another program holds the ledger's lock") from None
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.05)
        except OSError as error:
            if error.errno in _NO_LOCKS:  # some network file systems; O_APPEND and one write still hold
                return
            raise
        else:
            return


def _write_whole(descriptor: int, data: bytes, before: int) -> None:
    """One write of everything; a full disk takes a part, which is cut off again: it is nobody's record."""
    written = os.write(descriptor, data)
    if written == len(data):
        return
    if os.fstat(descriptor).st_size == before + written:
        os.ftruncate(descriptor, before)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _unwritten(path: Path, line: bytes, error: OSError) -> UnwrittenRecordError:
    rescued_to = _rescue(path, line)
    why = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EFBIG: "the file is as large as the system allows",
        errno.EROFS: "the disk is read-only",
        errno.EACCES: "writing is not permitted",
        errno.EPERM: "writing is not permitted",
        errno.EISDIR: "it is a folder",
        errno.ETIMEDOUT: f"another program has held its lock for {LOCK_WAIT_S:.0f} s",
    }.get(error.errno or 0, str(error.strerror or error).lower())
    message = f"The ledger {locations.shown(path)} did not take the record: {why}."
    if rescued_to is None:
        return UnwrittenRecordError(
            message + " No other folder took it either.",
            "Make room and keep this program open: the record is still in memory.",
            line,
            None,
        )
    return UnwrittenRecordError(
        f"{message} The record is kept in {locations.shown(rescued_to)}.",
        f"Put that right, then run `workbench ledger merge {rescued_to}`.",
        line,
        rescued_to,
    )


def _rescue_folders(path: Path) -> Iterator[Path]:
    yield path.parent
    yield locations.cache_dir()
    if (home := locations.home()) is not None:
        yield home
    with contextlib.suppress(OSError):  # where every disk is full there is no folder for temporary files
        yield Path(tempfile.gettempdir())


def _rescue(path: Path, line: bytes) -> Path | None:
    """Put the line into a file of its own, in the first folder that takes it."""
    for folder in _rescue_folders(path):
        name = None
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor, name = tempfile.mkstemp(prefix="rescued-record-", suffix=".jsonl", dir=folder)
            try:
                _write_whole(descriptor, line + b"\n", 0)
                file_to_disk(descriptor)
            finally:
                os.close(descriptor)
        except OSError:
            if name is not None:
                with contextlib.suppress(OSError):
                    Path(name).unlink()
        else:
            return Path(name)
    return None
