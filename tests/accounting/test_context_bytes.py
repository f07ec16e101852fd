"""Context bytes: the formulas by hand, and what mlx-lm's own decode graph reads of the same models."""

import pytest

from tests.checkpoints import checkpoint, in_memory
from workbench.accounting.context import Cache, CacheKind, Context
from workbench.accounting.engine import count

# Read from the caches by one step at 2 and at 301 tokens, its own included: mlx-lm 0.32.2's graph.
GRAPH = {
    "hf-DeepSeek-V3": (265_472, 39_953_536),
    "hf-LFM2-1.2B": (106_496, 3_780_608),
    "hf-gpt-oss-20b": (98_304, 10_543_104),
    "mlx-GLM-4.5-Air-4bit": (376_832, 56_713_216),
    "mlx-Nemotron-3-Nano-30B-A3B-4bit": (49_094_656, 50_931_712),
    "mlx-Phi-4-mini-instruct-4bit": (262_144, 39_452_672),
    "mlx-Qwen3-Next-80B-A3B-4bit": (77_316_096, 84_664_320),
    "mlx-Qwen3.5-27B-4bit": (154_075_136, 173_670_400),
    "mlx-Qwen3.5-35B-A3B-4bit": (64_430_080, 70_553_600),
    "mlx-gemma-4-26b-a4b-it-4bit": (450_560, 67_809_280),
    "mlx-gemma-4-e4b-it-4bit": (200_704, 30_205_952),
    "mlx-gpt-oss-20b-MXFP4-Q8": (98_304, 10_543_104),
}


@pytest.mark.parametrize("name", GRAPH)
def test_context_bytes_are_what_the_graph_reads(name):
    context = count(in_memory(name)).context
    assert (context.at(2).read_bytes, context.at(301).read_bytes) == GRAPH[name]
    assert context.notes == ()


def at(tokens, *caches, **more):
    return Context(caches).at(tokens, **more)


def test_full_attention_reads_keys_and_values_of_every_token():
    # 32 layers, 8 key-value heads of 128: 2 x 8 x 128 values of 2 bytes per layer and token.
    found = at(4096, Cache(CacheKind.FULL, 32, 2 * 8 * 128))
    assert found.read_bytes == 32 * 4096 * 2048 * 2
    assert found.written_bytes == 32 * 2048 * 2
    assert found.stored_bytes == found.read_bytes


def test_a_window_reads_its_width_at_most():
    cache = Cache(CacheKind.WINDOW, 10, 1024, limit=512)
    assert at(100, cache).read_bytes == 10 * 100 * 1024 * 2
    assert at(100_000, cache).read_bytes == 10 * 512 * 1024 * 2
    assert at(100_000, cache).stored_bytes == 10 * 512 * 1024 * 2


def test_a_latent_has_two_readers_and_its_rope_part_one():
    # DeepSeek-V3: 61 layers, latent 512, rope 64: stored 576 values per token, read 1,088.
    found = at(1000, Cache(CacheKind.LATENT, 61, 512, rope=64))
    assert found.read_bytes == 61 * 1000 * (2 * 512 + 64) * 2
    assert found.stored_bytes == 61 * 1000 * 576 * 2


def test_a_state_is_read_and_written_whatever_the_context():
    # Qwen3.5-35B-A3B: 32 value heads of 128 x 128, float32.
    cache = Cache(CacheKind.STATE, 30, 32 * 128 * 128, item_bytes=4)
    assert at(0, cache).read_bytes == at(9999, cache).read_bytes == 30 * 32 * 128 * 128 * 4
    assert at(0, cache).written_bytes == at(0, cache).read_bytes


@pytest.mark.parametrize(("bits", "per_value"), [(8, 8.5), (4, 4.5)])
def test_a_quantized_cache_adds_scales_and_biases(bits, per_value):
    cache = Cache(CacheKind.FULL, 4, 1024)
    assert at(1000, cache, kv_bits=bits).read_bytes == 4 * 1000 * 1024 * per_value / 8


def test_windows_are_not_quantized():
    cache = Cache(CacheKind.WINDOW, 4, 1024, limit=64)
    assert at(1000, cache, kv_bits=8) == at(1000, cache)


def test_shared_layers_read_but_store_nothing():
    found = at(1000, Cache(CacheKind.FULL, 3, 1024, shared=True))
    assert (found.read_bytes, found.written_bytes, found.stored_bytes) == (3 * 1000 * 1024 * 2, 0, 0)


def test_sparse_attention_wakes_its_indexer_above_the_threshold():
    tensors = {
        "model.embed_tokens.weight": ("BF16", [512, 64]),
        "lm_head.weight": ("BF16", [512, 64]),
        "model.layers.0.input_layernorm.weight": ("BF16", [64]),
        "model.layers.0.self_attn.kv_a_proj_with_mqa.weight": ("BF16", [24, 64]),
        "model.layers.0.self_attn.embed_q.weight": ("BF16", [8, 16, 8]),
        "model.layers.0.self_attn.indexer.wk.weight": ("BF16", [32, 64]),
        "model.layers.0.self_attn.indexer.wq_b.weight": ("BF16", [64, 16]),
    }
    config = {
        "vocab_size": 512, "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8,
        "kv_lora_rank": 16, "qk_rope_head_dim": 8, "index_topk": 2048,
    }  # fmt: skip
    found = count(checkpoint(tensors, config))
    indexer = 2 * (32 * 64 + 64 * 16)
    below, above = found.context.at(2048), found.context.at(2049)
    assert (below.indexer_weight_bytes, above.indexer_weight_bytes) == (0, indexer)
    assert below.read_bytes == 2048 * (2 * 16 + 8) * 2
    # What was chosen is gathered once; the copy has the two readers.
    assert above.read_bytes == 2048 * (16 + 8) * 2 + 2049 * 32 * 2
    assert found.weight_bytes == sum(2 * x for x in (512 * 64, 64, 24 * 64, 8 * 16 * 8))


WINDOWS = {
    "layer types": ({"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 8}, [8, None]),
    "chunks": (
        {"layer_types": ["chunked_attention", "full_attention"], "attention_chunk_size": 16},
        [16, None],
    ),
    "every n-th layer sees all": ({"sliding_window_pattern": 2, "sliding_window": 8}, [8, None]),
    "the same in newer configs": ({"_sliding_window_pattern": 2, "sliding_window": 8}, [8, None]),
    "a pattern in letters": ({"sliding_window_pattern": "LG", "sliding_window": 8}, [8, None]),
    "a list of flags": ({"sliding_window_pattern": [True, False], "sliding_window": 8}, [8, None]),
    "a list of layers": ({"sliding_window_layers": [1], "sliding_window": 8}, [None, 8]),
    "a hybrid pattern": ({"hybrid_layer_pattern": [0, 1], "sliding_window_size": 8}, [None, 8]),
    "block types": ({"attention_window_size": 8, "block_types": ["attention"]}, [8, 8]),
    "switched off": ({"sliding_window": 8, "use_sliding_window": False}, [None, None]),
    "wider than the model's longest context": (
        {"layer_types": ["sliding_attention"] * 2, "sliding_window": 64, "max_position_embeddings": 64},
        [None, None],
    ),
}


@pytest.mark.parametrize("way", WINDOWS)
def test_windows_are_found_however_the_config_says_them(way):
    from workbench.accounting.windows import unknown_window, window_of

    text, windows = WINDOWS[way]
    assert [window_of(text, index) for index in (0, 1)] == windows
    assert not unknown_window(text, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ({"sliding_window": 1024}, "Which layers use the sliding window of 1,024 tokens"),
        ({"layer_types": ["sliding_attention"]}, "How wide the sliding windows are"),
        ({"layer_types": ["chunked_attention"]}, "How wide the sliding windows are"),
        ({"layer_types": ["full_attention"]}, ""),
        ({}, ""),
    ],
)
def test_what_the_config_leaves_open_about_windows_is_said(text, said):
    from workbench.accounting.windows import unknown_window, window_of

    assert window_of(text, 0) is None
    assert unknown_window(text, 0).startswith(said)
    assert bool(unknown_window(text, 0)) is bool(said)


def test_windows_that_the_config_leaves_out_are_those_that_mlx_lm_fills_in():
    found = count(in_memory("hf-gemma-3-4b-it"))
    assert [(cache.kind, cache.layers, cache.limit) for cache in found.context.caches] == [
        (CacheKind.WINDOW, 29, 1024),  # every sixth of 34 layers sees all
        (CacheKind.FULL, 5, None),
    ]
    assert not found.context.notes
    assert "context_not_known" not in [finding.code for finding in found.findings]


def test_a_window_that_no_layer_is_said_to_use_counts_as_full_attention_and_is_found():
    config = {"model_type": "unheard_of", "num_hidden_layers": 1, "sliding_window": 8}
    found = count(
        checkpoint(
            {f"model.layers.0.self_attn.{name}_proj.weight": ("BF16", [16, 16]) for name in "qkvo"}, config
        )
    )
    assert {cache.kind for cache in found.context.caches} == {CacheKind.FULL}
    (note,) = found.context.notes
    assert "not known from config.json" in note
    assert "the most that they can read" in note
    assert ("context_not_known", note) in [(finding.code, finding.message) for finding in found.findings]


@pytest.mark.parametrize(
    ("tensors", "config", "values"),
    [
        ({"self_attn.k_proj": [32, 64], "self_attn.v_proj": [32, 64]}, {}, 64),
        ({"self_attn.k_proj": [48, 64]}, {}, 96),
        ({"self_attn.qkv_proj": [96, 64]}, {"num_attention_heads": 8, "num_key_value_heads": 2}, 32),
        ({"self_attn.q_k_v_proj": [96, 64]}, {"num_attention_heads": 8, "num_key_value_heads": 2}, 32),
        ({"self_attn.qkvg_proj": [160, 64]}, {"num_attention_heads": 8, "num_key_value_heads": 2}, 32),
        ({"attention.query_key_value": [192, 64]}, {"num_attention_heads": 8, "num_key_value_heads": 2}, 128),
        ({"attn.c_attn": [64, 80]}, {"num_attention_heads": 8, "multi_query": True}, 16),
        ({"attn.Wqkv": [80, 64]}, {"num_attention_heads": 8, "attn_config": {"kv_n_heads": 1}}, 16),
        ({"attn.qkv_proj": [112, 64]}, {"num_query_heads": [8], "num_kv_heads": [3], "head_dim": 8}, 48),
    ],
)
def test_the_width_of_a_cache_comes_from_the_projections_or_the_config(tensors, config, values):
    stored = {f"model.layers.0.{name}.weight": ("BF16", shape) for name, shape in tensors.items()}
    stored |= {"model.embed_tokens.weight": ("BF16", [512, 64]), "model.layers.0.norm.weight": ("BF16", [64])}
    found = count(checkpoint(stored, {"vocab_size": 512, "hidden_size": 64, "num_hidden_layers": 1} | config))
    assert [(cache.kind, cache.items) for cache in found.context.caches] == [(CacheKind.FULL, values)]


@pytest.mark.parametrize(
    ("dtype", "shape", "values"),
    [
        ("U8", [8, 64], 64),
        ("I32", [64, 4], 64),
        ("U32", [32, 8], 64),
        ("U32", [48, 8], 96),
        ("U8", [48, 32], 96),
    ],
)
def test_rows_packed_into_fewer_ones_are_not_taken_for_the_caches_width(dtype, shape, values):
    name = "qweight" if dtype == "I32" else "weight"
    stored = {f"model.layers.0.self_attn.{key}_proj.{name}": (dtype, shape) for key in "kv"}
    stored |= {"model.embed_tokens.weight": ("BF16", [512, 64]), "model.layers.0.norm.weight": ("BF16", [64])}
    config = {"vocab_size": 512, "hidden_size": 64, "num_hidden_layers": 1} | {
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
    }
    (cache,) = count(checkpoint(stored, config)).context.caches
    assert (cache.kind, cache.items) == (CacheKind.FULL, values)


def test_convolutions_over_keys_and_values_keep_their_last_inputs():
    stored = {
        "model.embed_tokens.weight": ("BF16", [512, 64]),
        "model.layers.0.norm.weight": ("BF16", [64]),
        "model.layers.0.self_attn.W_pack.weight": ("BF16", [96, 64]),
        "model.layers.0.self_attn.conv_k": ("BF16", [1, 1, 2, 1, 2]),
        "model.layers.0.self_attn.conv_v": ("BF16", [1, 1, 2, 1, 2]),
    }
    config = {"vocab_size": 512, "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8}
    found = count(checkpoint(stored, config)).context
    assert {(cache.kind, cache.items) for cache in found.caches} == {
        (CacheKind.FULL, 32),
        (CacheKind.CONVOLUTION, 32),
    }


def test_what_cannot_be_sized_is_a_note_and_not_a_guess():
    stored = {
        "model.embed_tokens.weight": ("BF16", [512, 64]),
        "model.layers.0.self_attn.strange_proj.weight": ("BF16", [64, 64]),
    }
    context = count(checkpoint(stored, {"vocab_size": 512})).context
    assert context.caches == ()
    assert "not known" in context.notes[0]


def test_float32_models_cache_float32():
    stored = {
        "model.embed_tokens.weight": ("F32", [512, 64]),
        "model.layers.0.norm.weight": ("F32", [64]),
        "model.layers.0.self_attn.k_proj.weight": ("F32", [32, 64]),
    }
    assert count(checkpoint(stored, {"vocab_size": 512})).context.at(10).read_bytes == 10 * 64 * 4
