"""config.json and GGUF metadata as a typed view: every key that people use, nested or flat, any rubbish."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.checkpoint.model_config import Quantization, view, view_gguf


@pytest.mark.parametrize(
    ("config", "experts", "per_token"),
    [
        ({"num_experts": 256, "num_experts_per_tok": 8}, 256, 8),
        ({"n_routed_experts": 256, "num_experts_per_tok": 8}, 256, 8),
        ({"num_local_experts": 8, "num_experts_per_tok": 2}, 8, 2),
        ({"num_experts": 128, "top_k_experts": 8}, 128, 8),
        ({"moe_num_experts": 64, "moe_k": 6}, 64, 6),
        ({"moe_num_experts": 288, "moe_top_k": 8}, 288, 8),
        ({"num_experts": 384, "num_experts_per_token": 8}, 384, 8),
        ({"num_experts": [16, 16], "moe_topk": [1, 1]}, 16, 1),
        ({"n_routed_experts": 512, "moe_topk": 12}, 512, 12),
        ({"num_local_experts": 32, "experts_per_token": 4}, 32, 4),
        ({"moe_num_primary_experts": 32, "moe_num_active_primary_experts": 4}, 32, 4),
        ({"ffn_config": {"moe_num_experts": 16, "moe_top_k": 4}}, 16, 4),
        ({"moe": {"num_experts": 8, "num_experts_per_tok": 2}}, 8, 2),
        ({"text_config": {"hidden_size": 1, "num_experts": 4, "num_experts_per_tok": 2}}, 4, 2),
        ({"num_experts": 4.0, "num_experts_per_tok": 2.0}, 4, 2),
        ({"num_experts": True, "num_experts_per_tok": "2"}, None, None),
        ({"moe_topk": [1, 2]}, None, None),
        ({}, None, None),
    ],
)
def test_experts_under_every_key(config, experts, per_token):
    found = view(config)
    assert (found.experts, found.experts_per_token) == (experts, per_token)


@pytest.mark.parametrize(
    ("config", "tie", "conflict"),
    [
        ({"tie_word_embeddings": True}, True, False),
        ({"tie_word_embeddings": False}, False, False),
        ({"text_config": {"hidden_size": 1, "tie_word_embeddings": True}}, True, False),
        (
            {"tie_word_embeddings": False, "text_config": {"hidden_size": 1, "tie_word_embeddings": True}},
            None,
            True,
        ),
        ({"weight_tying": True}, True, False),
        ({"share_input_output_layers": True}, True, False),
        ({"tie_word_embeddings": None}, None, False),
        ({"tie_word_embeddings": "yes"}, None, False),
        ({}, None, False),
    ],
)
def test_the_tie_flag(config, tie, conflict):
    assert (view(config).tie, view(config).tie_conflict) == (tie, conflict)


def test_a_nested_configuration_overlays_the_outer_one():
    found = view(
        {
            "model_type": "outer",
            "architectures": ["OuterForConditionalGeneration"],
            "vocab_size": 9,
            "hidden_size": 1,
            "text_config": {"model_type": "inner", "hidden_size": 64, "num_hidden_layers": 3},
            "vision_config": {"hidden_size": 32},
        }
    )
    assert (found.model_type, found.architecture) == ("outer", "OuterForConditionalGeneration")
    assert (found.hidden, found.vocab, found.layers, found.modalities) == (64, 9, 3, True)


@pytest.mark.parametrize(
    ("config", "several"),
    [
        ({"hidden_size": 64}, False),
        ({"hidden_size": 64, "rope_scaling": {}, "quantization": {}}, False),
        ({"hidden_size": 64, "vision_config": {}}, True),
        ({"hidden_size": 64, "audio_encoder_config": {}}, True),
        ({"text_config": {"hidden_size": 64}, "encoder_config": {}}, True),
    ],
)
def test_whether_the_language_model_is_one_part_of_several(config, several):
    assert view(config).modalities is several


@pytest.mark.parametrize(
    "key", ["num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_transformer_layers"]
)
def test_depth_under_every_key(key):
    assert view({key: 12}).layers == 12


@pytest.mark.parametrize(
    ("config", "loops"),
    [
        ({"loop_num": 2}, 2),
        ({"num_loops": 4}, 4),
        ({"loop_loss_weights": [1, 1]}, 3),
        ({"total_ut_steps": 4}, 4),
        ({}, 1),
    ],
)
def test_loops_under_every_key(config, loops):
    assert (view(config).loops, view(config).loops_assumed) == (loops, False)


def test_loops_without_a_number_are_marked():
    assert (view({"loop_window_size": 64}).loops, view({"loop_window_size": 64}).loops_assumed) == (2, True)


MXFP4 = Quantization(4, 32, "mxfp4", False)


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"quantization": {"bits": 4, "group_size": 64}}, Quantization(4, 64, "affine", False)),
        ({"quantization": {"bits": 4, "group_size": 32, "mode": "mxfp4"}}, MXFP4),
        ({"quantization_config": {"quant_method": "fp8"}}, Quantization(None, None, "fp8", False)),
        ({"text_config": {"hidden_size": 1, "quantization_config": {"quant_method": "awq", "bits": 4}}},
         Quantization(4, None, "awq", False)),
        ({"quantization": {"bits": 4, "group_size": 64, "a.b": {"bits": 8, "group_size": 64}}},
         Quantization(4, 64, "affine", True)),
        ({"quantization": {"bits": 4, "group_size": 64, "a.b": {"bits": 4, "group_size": 64}}},
         Quantization(4, 64, "affine", False)),
        ({"quantization": {"bits": 4, "group_size": 64, "a.b": False}}, Quantization(4, 64, "affine", True)),
        ({"quantization": "4bit"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_quantization_and_whether_layers_differ(config, found):
    assert view(config).quantization == found


def test_gguf_metadata():
    found = view_gguf(
        {
            "general.architecture": "glm4moe",
            "glm4moe.block_count": 47,
            "glm4moe.nextn_predict_layers": 1,
            "glm4moe.embedding_length": 4096,
            "glm4moe.expert_count": 128,
            "glm4moe.expert_used_count": 8,
            "glm4moe.attention.head_count_kv": 8,
            "tokenizer.ggml.tokens": ["a"] * 151,
        }
    )
    assert (found.layers, found.nextn_layers, found.experts, found.experts_per_token) == (46, 1, 128, 8)
    assert (found.vocab, found.hidden, found.text["num_key_value_heads"]) == (151, 4096, 8)


WORDS = """
text_config num_experts num_experts_per_tok moe_topk num_hidden_layers vocab_size
moe architectures bits tie_word_embeddings quantization ffn_config
loop_loss_weights block_configs attention vision_config layer_types model_type
cross_attention_layers thinker_config quantization_config
"""
KEYS = st.sampled_from(WORDS.split())
RUBBISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, RUBBISH, max_size=10))
def test_no_configuration_raises(config):
    view(config)


@given(st.dictionaries(st.sampled_from(["general.architecture", "x.block_count", "x.expert_count"]), RUBBISH))
def test_no_metadata_raises(metadata):
    view_gguf({"general.architecture": "x"} | metadata)
