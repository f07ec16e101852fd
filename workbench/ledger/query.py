"""Which rows of the ledger are wanted: `machine:office model:9B verdict:low since:2026-09 words`.

Pure: it looks at rows that are loaded already.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import UsageError
from workbench.escape import visible
from workbench.ledger.row import Row
from workbench.ledger.table import Table

NOT_SHOWN = "discarding"
"""Corrections are shown at what they correct, and as rows of their own only where they are asked for."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a row must have. Texts match anywhere and in any case; dates are beginnings of ISO dates."""

    words: tuple[str, ...] = ()
    machine: str = ""
    model: str = ""
    status: str = ""
    verdict: str = ""
    experiment: str = ""
    rule: str = ""
    since: str = ""
    until: str = ""
    discarded: bool = True


KEYS = ("machine", "model", "status", "verdict", "experiment", "rule", "since", "until", "discarded")
"""What may stand before a colon."""


def parse_query(text: str) -> Query:
    """A query from words and `key:value` pairs; a value with spaces stands in double quotes.

    `discarded:no` leaves discarded records out. Raises `UsageError` for a key that there is not.
    """
    words: list[str] = []
    given: dict[str, Any] = {}
    for match in re.finditer(r'(?:(\w+):)?(?:"([^"]*)"|(\S+))', text):
        key, value = match[1], match[2] if match[2] is not None else match[3]
        if key is None:
            words.append(value.casefold())
        elif key == "discarded":
            given[key] = _yes(value)
        elif key in KEYS:
            given[key] = _date(key, value) if key in {"since", "until"} else value.casefold()
        else:
            raise UsageError(f"There is no filter {visible(key, 30)}.", f"Filters: {', '.join(KEYS)}.")
    return Query(words=tuple(words), **given)


def select(table: Table, query: Query) -> list[Row]:
    """The rows that match, in file order; discarding records themselves only for `status:discarding`."""
    matches = _matcher(query, table.discarded)
    corrections_too = query.status == NOT_SHOWN
    return [row for row in table.rows if (corrections_too or row.status != NOT_SHOWN) and matches(row)]


def _matcher(query: Query, discarded: Mapping[str, str]) -> Callable[[Row], bool]:
    def matches(row: Row) -> bool:
        is_discarded = row.record_id in discarded
        if is_discarded and not query.discarded:
            return False
        status = "discarded" if is_discarded else row.status
        wanted = (
            (query.machine, f"{row.alias or ''} {row.device or ''}"),
            (query.model, row.model or ""),
            (query.status, status),
            (query.verdict, row.verdict or ""),
            (query.experiment, row.experiment),
            (query.rule, row.rule or ""),
        )
        if any(text and text not in has.casefold() for text, has in wanted):
            return False
        date = row.date or ""
        if (query.since and date < query.since) or (query.until and date[: len(query.until)] > query.until):
            return False
        return not query.words or _has_words(row, query.words)

    return matches


def _has_words(row: Row, words: tuple[str, ...]) -> bool:
    has = " ".join(_texts(row)).casefold()
    return all(word in has for word in words)


def _texts(row: Row) -> Iterator[str]:
    for text in (row.record_id, row.date, row.alias, row.device, row.model, row.status, row.verdict):
        if text:
            yield text


def _yes(value: str) -> bool:
    answers = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if value.casefold() not in answers:
        raise UsageError(f"discarded:{visible(value, 20)} is neither yes nor no.", "Write discarded:no.")
    return answers[value.casefold()]


def _date(key: str, value: str) -> str:
    if not re.fullmatch(r"\d{4}(-\d{2}(-\d{2}(T[\d:]*)?)?)?", value):
        raise UsageError(
            f"{key}:{visible(value, 20)} is no date.", f"Write {key}:2026-09 or {key}:2026-09-15."
        )
    return value
