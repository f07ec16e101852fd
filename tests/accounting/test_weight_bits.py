"""Bits per weight: real headers, and configs that lie."""

import pytest

from tests.checkpoints import in_memory, materialize
from workbench.accounting import engine
from workbench.accounting.weight_bits import bits_words
from workbench.checkpoint.reading import open_checkpoint


def words_of(checkpoint, part, config=None):
    """What is said of the first tensor whose name ends in `part`."""
    rows = engine.count(checkpoint).rows
    row = next(row for row in rows if row.name.endswith(part))
    return bits_words(row, rows, checkpoint.config if config is None else config)


@pytest.mark.parametrize(
    ("name", "part", "words"),
    [
        ("mlx-Qwen3.5-9B-4bit", "mlp.down_proj.weight", "4 bits per weight, packed; 4.5 with its scales"),
        ("mlx-Qwen3.5-9B-8bit", "mlp.down_proj.weight", "8 bits per weight, packed; 8.5 with its scales"),
        ("mlx-Bonsai-8B-1bit", "mlp.down_proj.weight", "1 bits per weight, packed; 1.25 with its scales"),
        ("mlx-gpt-oss-20b-MXFP4-Q4", "gate_proj.weight", "4 bits per weight, packed; 4.25 with its scales"),
        ("mlx-Qwen3-30B-A3B-4bit", "mlp.gate.weight", "8 bits per weight, packed; 8.5 with its scales"),
        ("mlx-Qwen3.5-9B-4bit", "mlp.down_proj.scales", "16 bits an entry"),
        ("mlx-Qwen3-1.7B-bf16", "mlp.down_proj.weight", "16 bits per weight"),
        ("hf-DeepSeek-V3", "layers.0.mlp.down_proj.weight", "8 bits per weight"),
        ("hf-DeepSeek-V3", "layers.0.mlp.down_proj.weight_scale_inv", "32 bits an entry"),
    ],
)  # fmt: skip
def test_published_weights_have_the_bits_of_their_format(name, part, words):
    assert words_of(in_memory(name), part) == words


def test_a_ggufs_blocks_count_with_their_scales(tmp_path):
    checkpoint = open_checkpoint(materialize("gguf-Bonsai-8B-Q1_0", tmp_path))
    assert words_of(checkpoint, "ffn_down.weight") == "1.12 bits per weight"


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"quantization": {"bits": 8, "group_size": 64}},
        {"quantization": {"bits": True, "group_size": 256}},
        {"quantization": {"bits": 0, "group_size": 64}},
        {"quantization": {"bits": "4", "group_size": 64}, "text_config": 3},
        {"quantization": [4, 64]},
    ],
)
def test_a_config_that_the_shapes_do_not_bear_out_is_not_believed(config):
    said = words_of(in_memory("mlx-Qwen3.5-9B-4bit"), "mlp.down_proj.weight", config)
    assert said == "32 bits an entry"
