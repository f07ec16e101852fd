"""A person's words for a rate: `143`, `25 ms`, `ana=120 bo=300`. Words in, tok/s out, or a sentence why not.

Nothing is guessed: a comma or a missing name is asked about.
"""

import math
import re
import sys
from typing import NamedTuple

from workbench.errors import UsageError
from workbench.escape import visible

MOST_TPS = 1e6
LEAST_TPS = 1e-6
LONGEST_NAME = 40
MOST_PEOPLE = 200

_SECONDS = {"ms": 1e-3, "msec": 1e-3, "s": 1.0, "sec": 1.0, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}
_RATES = {"", "tok/s", "t/s", "tokens/s", "token/s", "tps", "toks/s", "tok/sec", "tokens/sec"}
_NUMBER = r"[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+|nan|inf(?:inity)?)(?:e[+-]?\d+)?"
_VALUE = re.compile(
    rf"(?P<number>{_NUMBER})\s*(?P<unit>[a-zµμ%][^\s]*(?:\s+(?:per\s+)?tok(?:en)?)?)?", re.IGNORECASE
)
_NAMED = re.compile(
    r"(?P<name>[^\s=,;]+)\s*=\s*(?P<value>[^\s=,;]+(?:\s+[a-zA-Zµμ/%]+(?=[\s,;]|$)(?!\s*=))?)"
)
_COMMA_NUMBER = re.compile(r"[\d.]*\d,\d[\d.,]*")


class Said(NamedTuple):
    """One person's number in tok/s; `name` is empty where nobody was named."""

    name: str
    tps: float


def parse_predictions(text: str) -> list[Said]:
    """One number (`143`, `143 tok/s`, `25 ms`) or several named ones (`ana=120 bo=25ms`).

    Names with spaces are possible where entries are parted by `;` or `, `. Raises `UsageError` with a
    sentence that can be shown below the input.
    """
    text = text.strip()
    if not text:
        raise UsageError("Say a number first.", "Tok/s like 143, or a time per token like 25 ms.")
    if "=" not in text:
        return [Said("", parse_rate(text))]
    _refuse_commas(text)
    people = [_person(entry) for entry in _entries(text)]
    if len(people) > MOST_PEOPLE:
        raise UsageError(f"{len(people)} predictions are more than one round holds ({MOST_PEOPLE}).")
    seen: dict[str, str] = {}
    for name, _ in people:
        if name.casefold() in seen:
            raise UsageError(f"{visible(name)} is named twice.", "One number for each name: ana=120 bo=300.")
        seen[name.casefold()] = name
    return people


def parse_rate(text: str) -> float:
    """One rate in tok/s from `143`, `143 tok/s`, `25 ms` or `0.025 s` (per token); `UsageError` otherwise."""
    shown = visible(text.strip(), 60)
    _refuse_commas(text)
    match = _VALUE.fullmatch(text.strip())
    if match is None:
        raise _no_number(shown)
    value = float(match["number"])
    whole_unit = (match["unit"] or "").lower()
    unit = re.sub(r"\s*(/|per)?\s*tok(en)?$", "", whole_unit)
    if whole_unit not in _RATES and unit not in _SECONDS:
        raise UsageError(
            f"{visible(whole_unit, 30)} is no unit of a decode rate.", "Tok/s like 143, or 25 ms per token."
        )
    if not math.isfinite(value):
        raise UsageError(f"{shown} is no number that a machine can reach.", "Tok/s like 143.")
    if value <= 0:
        raise UsageError(f"{shown} is not above zero.", "A machine that decodes has some rate: 0.5, say.")
    tps = value if whole_unit in _RATES else _per_second(value * _SECONDS[unit])
    if not LEAST_TPS <= tps <= MOST_TPS:
        raise UsageError(
            f"{shown} is {tps:.3g} tok/s: no machine decodes one stream like that.", "Tok/s like 143."
        )
    return tps


def _entries(text: str) -> list[str]:
    """The named entries as written; a separator is `;`, a newline, or a comma before a space or a letter."""
    parts = [part.strip() for part in re.split(r"[;\n]|,(?!\d)", text)]
    entries = []
    for part in filter(None, parts):
        if part.count("=") == 1:
            entries.append(part)
            continue
        rest = _NAMED.sub("", part).strip()
        if rest or "=" not in part:
            raise UsageError(
                f"{visible(rest or part, 60)} has no name and a number of its own.",
                "Several predictions read ana=120 bo=300.",
            )
        entries += [match.group() for match in _NAMED.finditer(part)]
    return entries


def _person(entry: str) -> Said:
    name, _, value = (part.strip() for part in entry.partition("="))
    if not name:
        raise UsageError(f"{visible(entry, 60)} names nobody.", "Write ana=120.")
    if len(name) > LONGEST_NAME:
        raise UsageError(
            f"{visible(name, 30)} is longer than {LONGEST_NAME} characters.", "Use a short name."
        )
    if not value:
        raise UsageError(f"{visible(name, 40)} has said no number.", f"Write {visible(name, 40)}=120.")
    return Said(name, parse_rate(value))


def _per_second(seconds: float) -> float:
    return 1 / seconds if seconds > 1 / sys.float_info.max else math.inf


def _refuse_commas(text: str) -> None:
    """A comma between digits is a decimal point here and a thousands separator there: ask."""
    if found := _COMMA_NUMBER.search(text):
        number = found.group()
        readings = [number.replace(",", "")]
        if number.count(",") == 1 and "." not in number:
            readings.insert(0, number.replace(",", "."))
        raise UsageError(
            f"The comma in {visible(number, 40)} can mean two things.",
            f"Write {' or '.join(visible(one, 40) for one in readings)}.",
        )


def _no_number(shown: str) -> UsageError:
    return UsageError(f"{shown} is no number.", "Tok/s like 143, or a time per token like 25 ms.")
