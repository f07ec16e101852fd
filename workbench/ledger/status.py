"""The words of a record's status, and what they mean for its rate."""

STATUSES = frozenset({"measured", "cancelled", "failed", "interrupted", "discarding", "imported"})
COMPLETE = frozenset({"measured", "imported"})
"""The run came to its end, here or elsewhere; of any other status there is a reason to say."""
