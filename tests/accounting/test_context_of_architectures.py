"""Context bytes of 123 small models against what mlx-lm 0.32.2's own decode graph reads of their caches.

context_reads.json has, per architecture, the bytes that one step reads of KV caches and states at 4 and at
1,001 tokens of context (its own included), by the graph of a model built without weights.
"""

import json
from pathlib import Path

import pytest

from tests.accounting.test_executed_reads import counted, executed

READ = json.loads(Path(__file__).with_name("context_reads.json").read_text())
AT = (4, 1001)

AT_MOST = {"plamo2"}
"""Its configuration leaves out what only the model's code knows: the count is the most, and says so."""
NOT_COUNTED = {"deepseek_v41"}
"""Its compressed caches have no formula here; a note says that they are not counted."""
UNLIKE = {
    "llama4": "mlx-lm trims a chunk before a step: the step reads one token more than the chunk",
    "longcat_flash_ngram": "the graph has the last token's number besides, 8 bytes",
}


@pytest.mark.parametrize("name", READ)
def test_context_bytes_are_what_the_graph_reads_or_carry_a_note(name):
    file = next(f for f in ("decode-reads", "more-reads") if name in executed(f"truth/{f}.json.xz"))
    context = counted(executed(f"truth/{file}.json.xz")[name]).context
    formula = [context.at(tokens).read_bytes for tokens in AT]
    assert bool(context.notes) is (name in AT_MOST | NOT_COUNTED)
    if name in AT_MOST:
        assert "the most" in context.notes[0]
        assert all(ours >= graph for ours, graph in zip(formula, READ[name], strict=True))
    elif name in NOT_COUNTED:
        assert formula == [0, 0]
        assert "not counted" in context.notes[0]
    elif name in UNLIKE:
        assert formula != READ[name]
    else:
        assert formula == READ[name]


def test_the_differences_that_are_explained_are_as_explained():
    chunked = counted(executed("truth/more-reads.json.xz")["llama4"]).context
    (chunk,) = {cache.limit for cache in chunked.caches if cache.limit}
    full = sum(cache.layers * cache.items * 4 for cache in chunked.caches if not cache.limit)
    kept = sum(cache.layers * cache.items * 4 for cache in chunked.caches if cache.limit)
    assert chunked.at(1001).read_bytes == 1001 * full + chunk * kept
    assert READ["llama4"][1] == 1001 * full + (chunk + 1) * kept
    ids = counted(executed("truth/more-reads.json.xz")["longcat_flash_ngram"]).context
    assert [
        graph - ids.at(n).read_bytes for n, graph in zip(AT, READ["longcat_flash_ngram"], strict=True)
    ] == [
        8,
        8,
    ]
