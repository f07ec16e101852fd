"""Which records stand: found by the beginning of an id, taken back by later ones. Pure, over rows or records.

A discarding record can be discarded too, which brings the first one back.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from workbench.errors import LedgerError
from workbench.escape import visible

SHORTEST_ID = 4
"""Characters of an id that may stand for it."""


class Discarding(Protocol):
    """What a record or a table row says about discarding."""

    @property
    def record_id(self) -> str:
        """Its own id."""

    @property
    def status(self) -> str:
        """`discarding` for a correction."""

    @property
    def discards(self) -> str | None:
        """The id that it takes back."""

    @property
    def reason(self) -> str | None:
        """Why."""


One = TypeVar("One", bound=Discarding)


def discarded(records: Iterable[Discarding]) -> dict[str, str]:
    """{record id: reason} of everything that a valid later record discards.

    A discarding record that was itself discarded has no effect.
    """
    corrections = [one for one in records if one.status == "discarding" and one.discards]
    effective: dict[str, str] = {}
    for one in reversed(corrections):
        if one.record_id not in effective and one.discards:
            effective[one.discards] = one.reason or "no reason given"
    return effective


def find(records: Sequence[One], wanted: str) -> One:
    """The record whose id begins with `wanted`, or the newest one for `latest`.

    Raises `LedgerError` when there is none or more than one.
    """
    if wanted == "latest":
        kept = [record for record in records if record.status != "discarding"]
        if kept:
            return kept[-1]
        raise LedgerError(
            "The ledger holds no record yet.", "Run `workbench measure` first.", code="no_record"
        )
    found = {record.record_id: record for record in records if record.record_id.startswith(wanted)}
    if wanted in found:
        return found[wanted]
    if len(found) == 1 and len(wanted) >= SHORTEST_ID:
        return next(iter(found.values()))
    if not found:
        raise LedgerError(
            f"No record's id begins with {visible(wanted, 60)}.",
            "`workbench ledger` lists them.",
            code="no_record",
        )
    if len(found) == 1:
        raise LedgerError(
            f"{visible(wanted, 60)} is too short for an id.",
            f"Give {SHORTEST_ID} characters of it at least.",
            code="ambiguous_record",
        )
    raise LedgerError(
        f"{len(found)} records' ids begin with {visible(wanted, 60)}.",
        "Give more of the id.",
        code="ambiguous_record",
    )
