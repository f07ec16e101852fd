"""The words of a record's status, and what they mean for its rate."""

COMPLETE = frozenset({"measured", "imported"})
"""The run came to its end, here or elsewhere; of any other status there is a reason to say."""
