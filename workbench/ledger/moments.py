"""Moments as records write them: ISO 8601, UTC, whole seconds; and read back, whoever wrote them."""

from datetime import UTC, datetime


def utc_text(moment: datetime | None = None) -> str:
    """A moment, now by default, for example `2026-09-15T10:11:12+00:00`."""
    return (moment or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")


def moment_of(text: str | None) -> datetime | None:
    """The moment that a record's text names, UTC where it says nothing else; None for what is no date."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
