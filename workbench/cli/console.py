"""How commands speak: data on stdout, words on stderr, one form for errors.

Whatever a name from outside holds, nothing that is printed here moves a cursor, colours or reorders a line.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, TextIO

from workbench.errors import WorkbenchError
from workbench.escape import visible

WIDTH = 110
"""Columns that running text keeps to; tables take what their cells need."""


def prepare_streams() -> None:
    """Let no letter be an error: what the stream's encoding lacks is written as its escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """Words for the person: stderr, so that stdout stays data. That nobody listens stops nothing."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(_safe(text), file=sys.stderr, flush=True)


def say_wrapped(text: str, first: str = "", later: str = "  ") -> None:
    """`say` for running text."""
    say("\n".join(wrapped(text, first, later)))


def say_over(text: str = "") -> None:
    """Words that the next ones replace; only where `can_say_over`."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"\r{_safe(text)}\x1b[K", end="", file=sys.stderr, flush=True)


def can_say_over() -> bool:
    """Whether stderr is a terminal that can replace a line."""
    return is_terminal(sys.stderr) and os.environ.get("TERM", "dumb") != "dumb"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person may sit at the stream; a closed one is none."""
    return stream is not None and not stream.closed and stream.isatty()


def out(text: str = "") -> None:
    """Data for the next program, or the answer itself."""
    print(_safe(text), flush=True)


def out_lines(lines: Iterable[str]) -> None:
    """`out` for each line."""
    for line in lines:
        out(line)


def out_json(value: Any) -> None:
    """One JSON value on one line of ASCII; NaN and infinities become null."""
    print(_json(value), flush=True)


def out_json_array(values: Iterable[Any]) -> None:
    """The same for an array whose values come one after the other: they need not be in memory together."""
    print("[", end="")
    for number, value in enumerate(values):
        print(", " if number else "", _json(value), sep="", end="")
    print("]", flush=True)


def fail(error: WorkbenchError, *, as_json: bool) -> int:
    """Say an error in the agreed form and return its exit code."""
    if as_json:
        out_json({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
    else:
        say_wrapped(error.message, "workbench: ")
        if error.hint:
            say_wrapped(error.hint, "  ")
    return int(error.exit_code)


def as_text(word: str) -> str:
    """A word of the command line as text: bytes of it that are no UTF-8 become the replacement character."""
    return word if word.isascii() else word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def flush_stdout() -> None:
    """Write what stdout still holds; OSError where it cannot be (the interpreter's end would complain)."""
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def abandon_stdout() -> None:
    """Send what stdout still holds nowhere: its reader is gone, and the interpreter's end would complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, right: str = "") -> str:
    """Plain aligned columns; `right` holds one character a column, `>` aligns it right."""
    cells = [list(headers), *([_one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    sides = right.ljust(len(headers), "<")
    lines = [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(lines)


def pairs(lines: Sequence[tuple[str, str]]) -> list[str]:
    """Labels in one column, their texts wrapped in the next."""
    width = max((len(label) for label, _ in lines), default=0)
    indent = " " * (width + 2)
    return [line for label, text in lines for line in wrapped(text, f"{label:<{width}}  ", indent)]


def wrapped(text: str, first: str = "", later: str | None = None) -> list[str]:
    """Running text in lines of `WIDTH` columns at most where its words allow, the later ones indented."""
    text = _one_line(text)
    if len(first) + len(text) <= WIDTH:
        return [f"{first}{text}".rstrip()]
    import textwrap

    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _safe(text: str) -> str:
    """The text with everything that a terminal would obey written out, newlines aside."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join(visible(line, len(line)) if line else "" for line in text.split("\n"))


def _one_line(text: str) -> str:
    """`_safe` for a cell or a paragraph: newlines are written out too, so that no text begins a line."""
    return visible(text, len(text)) if text else ""


def _json(value: Any) -> str:
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(value, default=_plain), parse_constant=lambda _: None)
        return json.dumps(finite)


def _plain(value: Any) -> Any:
    """Records and other structures as JSON has them."""
    from msgspec import to_builtins

    return to_builtins(value)
