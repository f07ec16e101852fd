"""Records made to break whoever shows them: every field of the schema with a text and a number of ill will.

The values fit the schema, so that the lines are records; `misfits` do not, so that they are damage.
"""

import functools
import json
import typing
import unicodedata
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

import msgspec

from tests.tui.office_ledger import DENSE, office
from workbench.ledger.record import Record

ACTING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that a terminal or a reader's eye would act on."""
TEXTS = {
    "ansi": "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "markup": "[bold red]loud[/] [@click=app.quit]q[/] [/nope] $text [link=file:///etc/passwd]x[/link]",
    "bidi": "abc\u202egpj.exe\u2066\u200b",
    "newlines": "a\nworkbench: all is well\r\n\x0b\u2028next",
    "long": "x" * 5_000,
    "wide": "wide 字 e\u0301" * 600,
    "empty": "",
    "blank": "   ",
}
BOMB: list[Any] = functools.reduce(lambda inner, _: [inner], range(900), [])
"""Nested nearly as deep as a decoder goes: who encodes it from a deeper stack fails."""
NUMBERS = (0, -1, 2**63 - 1, -(2**63), 1e308, -1e308, 5e-324, 1e-7)


def record(text: str, number: float, **keep: Any) -> dict[str, Any]:
    """Every field of a record with this text and this number, but for those in `keep`."""
    return {name: value_of(hint, text, number) for name, hint in HINTS.items()} | keep


def one_field(name: str, text: str, number: float) -> dict[str, Any]:
    """A sound record of the office ledger with one field out of place."""
    return msgspec.to_builtins(SOUND) | {name: value_of(HINTS[name], text, number)}


def misfits(name: str) -> list[dict[str, Any]]:
    """The sound record with values in one field that its type does not allow (where there are such)."""
    fields = msgspec.to_builtins(SOUND)
    odd = [7, "7", True, [], [7], {}, {"a": 7}, [[[[]]]], {"a": {"b": [None]}}, 10**400, -(10**30), 1.5, BOMB]
    return [fields | {name: value} for value in odd if not _fits(name, value)]


def line(fields: dict[str, Any]) -> bytes:
    """One line of a ledger, its newline included."""
    return json.dumps(fields).encode() + b"\n"


def acting(text: str) -> set[str]:
    """The characters of a text, newlines aside, that would act on a terminal."""
    return {c for c in text if c != "\n" and unicodedata.category(c) in ACTING}


def value_of(hint: Any, text: str, number: float) -> Any:
    """A JSON value of this type."""
    if get_origin(hint) in {UnionType, typing.Union}:
        hint = next(one for one in get_args(hint) if one is not NoneType)
    while get_origin(hint) is typing.Annotated:
        hint = get_args(hint)[0]
    inner = get_args(hint)
    if get_origin(hint) is list:
        return [value_of(inner[0], text, number)] * 2
    if get_origin(hint) is dict:
        return {text: value_of(inner[1], text, number), "matched": value_of(inner[1], text, number)}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return {name: value_of(of, text, number) for name, of in typing.get_type_hints(hint).items()}
    simple = {
        str: text,
        bool: True,
        float: float(number),
        int: number if isinstance(number, int) else int(max(-(2**63), min(2**63 - 1, number))),
    }
    return simple[hint]


def _fits(name: str, value: Any) -> bool:
    try:
        msgspec.convert({**_SMALLEST, name: value}, Record)
    except msgspec.ValidationError:
        return False
    return True


HINTS = typing.get_type_hints(Record, include_extras=True)
SOUND = office(4, DENSE)
_SMALLEST = {"record_id": "", "run_group_id": "", "experiment": "", "status": ""}
