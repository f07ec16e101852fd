"""The ledger for other programs: csv (one column a field), json (an array), markdown (the table).

Text from checkpoints and people is made safe for where it goes: terminals, spreadsheets, Markdown.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from workbench.escape import visible
from workbench.ledger.record import Record
from workbench.ledger.row import Row
from workbench.ledger.table import HEADERS, RIGHT_ALIGNED, cells

NOT_IN_CSV = frozenset({"token_times_ns"})
"""Too long for a cell; json has it."""
LONGEST_CELL = 200
"""Characters of a cell in a Markdown table."""
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula, in both widths."""


def as_csv(records: Iterable[Record]) -> str:
    """One line a record, one column a field; what is nested is JSON in its cell, null is empty."""
    columns = [name for name in Record.__struct_fields__ if name not in NOT_IN_CSV]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for record in records:
        fields = msgspec.to_builtins(record)
        writer.writerow([_cell(fields[name]) for name in columns])
    return stream.getvalue()


def as_json(records: Iterable[Record]) -> str:
    """A JSON array of the records as they are."""
    return msgspec.json.encode(list(records)).decode()


def as_markdown(rows: Sequence[Row], discarded: Mapping[str, str] | None = None) -> str:
    """The table's columns as a Markdown table."""
    return markdown_table(HEADERS, [cells(row, discarded) for row in rows], RIGHT_ALIGNED)


def markdown_table(headers: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[str] = ()) -> str:
    """Any texts as a Markdown table; the headers in `right` are aligned right."""
    to_the_right = set(right)
    rule = "|".join("---:" if header in to_the_right else "---" for header in headers)
    lines = [_line(headers), f"|{rule}|", *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(markdown_text(text, LONGEST_CELL) for text in texts) + " |"


def markdown_text(text: str, limit: int = 4_000) -> str:
    """A text whose characters mean nothing in Markdown, in one line, at most `limit` of them."""
    if not text:
        return ""
    shown = visible(text, limit)
    for character in "\\|`*_<[":
        shown = shown.replace(character, "\\" + character)
    return shown


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"'{text}" if text.startswith(("\t", "\r", "\n")) or text.lstrip().startswith(_FORMULA) else text
