"""How the fuzz tests run, and how they damage bytes; WORKBENCH_FUZZ_EXAMPLES says how many examples."""

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("WORKBENCH_FUZZ_EXAMPLES", "150"))
thoroughly = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

numbers = st.one_of(
    st.integers(-2, 300),
    st.sampled_from([2**31, 2**32 - 1, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 10**40]),
    st.floats(),
    st.booleans(),
)
json_values = st.recursive(
    st.one_of(st.none(), numbers, st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def damaged(draw, content: bytes) -> bytes:
    """The content with a few bytes overwritten, cut out, put in, or cut off."""
    found = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(found) - 1)))
        kind = draw(st.sampled_from(["overwrite", "cut", "insert", "truncate"]))
        piece = draw(st.binary(min_size=1, max_size=9))
        if kind == "overwrite":
            found[at : at + len(piece)] = piece
        elif kind == "cut":
            del found[at : at + len(piece)]
        elif kind == "insert":
            found[at:at] = piece
        else:
            del found[at:]
    return bytes(found)
