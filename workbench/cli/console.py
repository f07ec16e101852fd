"""How commands speak: data on stdout, words on stderr, one form for errors."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from workbench.errors import UsageError, WorkbenchError


def say(text: str = "") -> None:
    """Words for the person: stderr, so that stdout stays data."""
    print(text, file=sys.stderr, flush=True)


def out(text: str = "") -> None:
    """Data for the next program, or the answer itself."""
    print(text, flush=True)


def out_json(value: Any) -> None:
    """One JSON value on one line; NaN and infinities never appear."""
    out(json.dumps(value, ensure_ascii=False, allow_nan=False))


def fail(error: WorkbenchError, *, as_json: bool) -> int:
    """Say an error in the agreed form and return its exit code."""
    if as_json:
        out_json({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
    else:
        say(f"workbench: {error.message}")
        if error.hint:
            say(f"  {error.hint}")
    return int(error.exit_code)


def fail_words(message: str, hint: str, *, as_json: bool) -> int:
    """Like `fail`, for a usage error that was never raised."""
    return fail(UsageError(message, hint), as_json=as_json)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, right: str = "") -> str:
    """Plain aligned columns; `right` holds one character a column, `>` aligns it right."""
    cells = [list(headers), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    sides = right.ljust(len(headers), "<")
    lines = [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(lines)
