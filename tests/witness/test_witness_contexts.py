"""What a step reads at a context of n tokens: weights by thresholds, caches by length."""

import pytest

from tests.checkpoints import in_memory
from tests.witness.looking import configurations, look, saved_by_mlx_lm
from workbench.accounting.engine import count
from workbench.witness.agreement import Status, compare

CONTEXTS = (1, 256, 100_000)


def kv_bytes(layers, heads, head_dim, tokens, item=2):
    return layers * heads * 2 * head_dim * tokens * item


def test_a_dense_model_reads_the_same_weights_and_a_cache_that_grows():
    readings = look(in_memory("mlx-Llama-3.2-1B-Instruct-4bit"), *CONTEXTS)
    assert {reading.weight_bytes for reading in readings} == {695_242_752}
    for reading in readings:
        assert reading.context_read_bytes == kv_bytes(16, 8, 64, reading.context + 1)


def test_multi_head_latent_attention_reads_the_latent_twice_and_the_rope_part_once():
    for reading in look(in_memory("mlx-DeepSeek-R1-4bit"), 1000):
        assert reading.context_read_bytes == 61 * (2 * 512 + 64) * 2 * (reading.context + 1)


def test_linear_attention_has_a_constant_state_beside_the_full_layers_cache():
    readings = look(in_memory("mlx-Qwen3.5-9B-4bit"), 1, 100_000)
    states = {reading.context_read_bytes - kv_bytes(8, 4, 256, reading.context + 1) for reading in readings}
    assert len(states) == 1
    recurrent = 24 * 32 * 128 * 128 * 4
    convolution = 24 * 3 * 8192 * 2
    assert states == {recurrent + convolution}


def test_a_sliding_window_stops_growing_at_its_length():
    short, long, longer = look(in_memory("mlx-gemma-3-4b-it-4bit"), 1000, 10_000, 20_000)
    full_layers, heads, head_dim = 5, 4, 256
    assert longer.context_read_bytes - long.context_read_bytes == kv_bytes(
        full_layers, heads, head_dim, 10_000
    )
    assert short.weight_bytes == long.weight_bytes == longer.weight_bytes


def test_a_sparse_indexer_is_read_above_its_threshold_only():
    found = saved_by_mlx_lm(configurations()["glm_moe_dsa"])  # index_topk 64
    below, above = look(found, 63, 64)
    kinds = [
        {read.name: read.kind for read in reading.reads if "indexer" in read.name}
        for reading in (below, above)
    ]
    assert set(kinds[0].values()) == {"never"}
    assert set(kinds[1].values()) == {"full"}
    assert below.cache_only, "the indexer's keys are cached from the first token on"
    assert not above.cache_only
    assert above.weight_bytes > below.weight_bytes
    counted = count(found)
    assert {compare(counted, reading).status for reading in (below, above)} == {Status.AGREES}
    assert compare(counted, above).disagreements == ()


def test_a_compressor_runs_when_its_group_is_full():
    from tests.witness.looking import from_truth, truth

    found = from_truth(truth()["deepseek_v41"])
    weights = [reading.weight_bytes for reading in look(found, *range(30, 38))]
    assert len(set(weights)) == 2
    assert weights[:4] == weights[4:]


def test_a_context_of_nothing_is_a_context_of_one_token():
    nothing, one = look(in_memory("mlx-SmolLM2-135M-4bit"), 0, 1)
    assert nothing.reads == one.reads


@pytest.mark.parametrize(
    "name",
    ["mlx-Llama-3.2-1B-Instruct-4bit", "mlx-DeepSeek-R1-4bit", "mlx-Qwen3.5-9B-4bit", "hf-gpt-oss-20b"],
)
def test_the_counts_formulas_and_the_graph_read_the_same_of_the_caches(name):
    found = in_memory(name)
    agreement = compare(count(found), look(found, 5000)[0])
    assert agreement.graph_context_bytes == agreement.count_context_bytes
    assert agreement.notes == ()


@pytest.mark.parametrize("name", ["mlx-gpt-oss-20b-MXFP4-Q4", "mlx-gemma-4-e4b-it-4bit"])
def test_shared_and_windowed_caches_do_not_shrink(name):
    reads = [reading.context_read_bytes for reading in look(in_memory(name), *CONTEXTS)]
    assert reads == sorted(reads)
