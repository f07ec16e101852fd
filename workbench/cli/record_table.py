"""Records as one table of text: a row each, with the ledger's own columns."""

from collections.abc import Mapping, Sequence

from workbench.cli import console
from workbench.escape import visible
from workbench.ledger.row import Row
from workbench.ledger.table import HEADERS, RIGHT_ALIGNED, cells


def record_table(rows: Sequence[Row], discarded: Mapping[str, str] | None = None) -> str:
    """The rows under the ledger's headers, the beginning of each record's id first."""
    shown = [
        (row.record_id[:8], *(visible(cell, 34) if cell else "" for cell in cells(row, discarded)))
        for row in rows
    ]
    right = "".join(">" if header in RIGHT_ALIGNED else "<" for header in ("id", *HEADERS))
    return console.table(("id", *HEADERS), shown, right=right)
