"""One door for files of other programs: which form a file has, and its records."""

from contextlib import suppress
from pathlib import Path

import msgspec

from workbench.errors import LedgerError
from workbench.ledger.imported import Imported
from workbench.ledger.llama_bench import import_llama_bench, is_row
from workbench.ledger.source_rows import import_source_rows
from workbench.ledger.store import UNDECODABLE
from workbench.locations import shown

_LOOK_AT_BYTES = 1_000_000
_LOOK_AT_LINES = 200


def import_file(path: Path, measured_by: str | None = None) -> Imported:
    """The records of llama-bench's JSON or JSONL, or of the source documents' JSONL, told apart by content.

    Raises `LedgerError` when the file is not there or is neither.
    """
    try:
        if path.exists() and not path.is_file():  # a FIFO would be waited for
            raise LedgerError(
                f"{shown(path)} is not a regular file.", "Check the path.", code="import_missing"
            )
        with path.open("rb") as stream:
            head = stream.read(_LOOK_AT_BYTES)
    except OSError as error:
        why = (error.strerror or "unknown error").lower()
        raise LedgerError(
            f"{shown(path)} cannot be read: {why}.", "Check the path.", code="import_missing"
        ) from error
    if not head.strip():
        raise LedgerError(f"{shown(path)} is empty.", "Nothing was imported.", code="import_empty")
    if head.lstrip().startswith(b"[") or _is_llama_bench(head):
        return import_llama_bench(path, measured_by or "whoever ran llama-bench")
    return import_source_rows(path)


def _is_llama_bench(head: bytes) -> bool:
    """Whether one of the first lines is its row: what it logs may stand before."""
    for line in head.splitlines()[:_LOOK_AT_LINES]:
        with suppress(*UNDECODABLE):
            if is_row(msgspec.json.decode(line)):
                return True
    return False
