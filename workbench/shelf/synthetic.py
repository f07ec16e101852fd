"""The synthetic checkpoints: their names, shapes and places. No weights on this machine are needed for them.

Standard library only. The worker's synthesize job builds what is described here; nothing is built here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.locations import synthetic_dir

PREFIX = "synthetic/"
MARK = "synthetic_weights"
"""The key in config.json that says so; records and verdicts carry the same word."""

_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


@dataclass(frozen=True, slots=True)
class Spec:
    """One synthetic checkpoint: float32 weights of the shapes that `config` gives in mlx-lm's own classes.

    `disk_bytes` is the size of its tensors; `weight_bytes` is what one token reads of them, look-up rows
    left out. `listed` is false for the small ones that the tests use.
    """

    name: str
    config: Mapping[str, Any]
    seed: int
    disk_bytes: int
    weight_bytes: int
    listed: bool = True


def _llama(
    hidden: int, intermediate: int, *, layers: int, heads: int, kv_heads: int, vocabulary: int
) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        MARK: True,
        "dtype": "float32",
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "vocab_size": vocabulary,
        "tie_word_embeddings": True,
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "bos_token_id": 0,
        "eos_token_id": 1,
    }


def _mixture(
    *,
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    experts: int,
    moe_intermediate: int,
    vocabulary: int,
    vision: dict[str, int],
) -> dict[str, Any]:
    """A qwen3_5_moe of four layers, three of them linear attention (an interval of 1 crashes mlx-lm)."""
    return {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "model_type": "qwen3_5_moe",
        MARK: True,
        "dtype": "float32",
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "text_config": {
            "model_type": "qwen3_5_moe_text",
            "hidden_size": hidden,
            "num_hidden_layers": 4,
            "full_attention_interval": 4,
            "layer_types": ["linear_attention"] * 3 + ["full_attention"],
            "num_attention_heads": heads,
            "num_key_value_heads": kv_heads,
            "head_dim": head_dim,
            "linear_num_key_heads": 1,
            "linear_num_value_heads": 2,
            "linear_key_head_dim": head_dim,
            "linear_value_head_dim": head_dim,
            "linear_conv_kernel_dim": 4,
            "num_experts": experts,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": moe_intermediate,
            "shared_expert_intermediate_size": moe_intermediate,
            "vocab_size": vocabulary,
            "tie_word_embeddings": False,
            "max_position_embeddings": 8192,
            "rms_norm_eps": 1e-6,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
        },
        "vision_config": {
            "model_type": "qwen3_5_moe",
            "in_channels": 3,
            "temporal_patch_size": 2,
            "spatial_merge_size": 2,
            "out_hidden_size": hidden,
            "num_heads": 8,
            **vision,
        },
    }


SPECS: Mapping[str, Spec] = {
    spec.name: spec
    for spec in (
        Spec(
            "dense-20mb",
            _llama(256, 704, layers=6, heads=8, kv_heads=4, vocabulary=2048),
            1,
            19_805_184,
            19_805_184,
        ),
        Spec(
            "dense-60mb",
            _llama(384, 1024, layers=8, heads=12, kv_heads=12, vocabulary=2048),
            2,
            59_794_944,
            59_794_944,
        ),
        Spec(
            "dense-210mb",
            _llama(768, 2048, layers=8, heads=12, kv_heads=4, vocabulary=2048),
            3,
            207_670_272,
            207_670_272,
        ),
        Spec(
            "mixture-338mb",
            _mixture(
                hidden=512,
                heads=16,
                kv_heads=4,
                head_dim=32,
                experts=128,
                moe_intermediate=96,
                vocabulary=2048,
                vision={
                    "depth": 4,
                    "hidden_size": 240,
                    "intermediate_size": 960,
                    "patch_size": 16,
                    "num_position_embeddings": 576,
                },
            ),
            4,
            337_885_168,
            17_621_680,
        ),
        Spec(
            "tiny-1",
            _llama(64, 176, layers=2, heads=4, kv_heads=2, vocabulary=512),
            5,
            500_992,
            500_992,
            listed=False,
        ),
        Spec(
            "tiny-2",
            _llama(96, 256, layers=3, heads=4, kv_heads=2, vocabulary=512),
            6,
            1_415_808,
            1_415_808,
            listed=False,
        ),
        Spec(
            "tiny-3",
            _llama(112, 320, layers=3, heads=4, kv_heads=2, vocabulary=512),
            7,
            1_974_336,
            1_974_336,
            listed=False,
        ),
        Spec(
            "tiny-mixture",
            _mixture(
                hidden=64,
                heads=4,
                kv_heads=2,
                head_dim=16,
                experts=8,
                moe_intermediate=32,
                vocabulary=512,
                vision={
                    "depth": 2,
                    "hidden_size": 32,
                    "intermediate_size": 64,
                    "patch_size": 8,
                    "num_position_embeddings": 64,
                },
            ),
            8,
            1_553_904,
            607_856,
            listed=False,
        ),
    )
}

NAMES: tuple[str, ...] = tuple(name for name, spec in SPECS.items() if spec.listed)
"""What the picker offers, the smallest first."""


def path_of(name: str, directory: Path | None = None) -> Path:
    """Where the checkpoint `name` (with or without `synthetic/`) lies or will lie. KeyError if unknown."""
    return (directory or synthetic_dir()) / SPECS[name.removeprefix(PREFIX)].name


def is_built(path: Path) -> bool:
    """Whether a whole synthetic checkpoint lies at `path` (all files, the weights at full length)."""
    spec = SPECS.get(path.name)
    try:
        sizes = [(path / name).stat().st_size for name in _FILES]
    except OSError:
        return False
    return spec is not None and all(sizes) and sizes[_FILES.index("model.safetensors")] > spec.disk_bytes


def is_synthetic(config: Mapping[str, Any]) -> bool:
    """Whether a checkpoint's config.json says that its weights are random numbers."""
    return config.get(MARK) is True
