"""The vision tower that a synthetic mixture carries on disk and that text decode never reads.

mlx-lm drops these tensors when it loads; the names and shapes are those of Qwen3.5's tower.
"""

from collections.abc import Mapping


def vision_shapes(config: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Tensor names and shapes for a config.json's `vision_config`."""
    hidden, inner, patch = config["hidden_size"], config["intermediate_size"], config["patch_size"]
    merged = hidden * config["spatial_merge_size"] ** 2
    shapes: dict[str, tuple[int, ...]] = {
        "patch_embed.proj.weight": (
            hidden,
            config["temporal_patch_size"],
            patch,
            patch,
            config["in_channels"],
        ),
        "patch_embed.proj.bias": (hidden,),
        "pos_embed.weight": (config["num_position_embeddings"], hidden),
        "merger.norm.weight": (hidden,),
        "merger.norm.bias": (hidden,),
        **_linear("merger.linear_fc1", merged, merged),
        **_linear("merger.linear_fc2", config["out_hidden_size"], merged),
    }
    for block in range(config["depth"]):
        at = f"blocks.{block}"
        for norm in ("norm1", "norm2"):
            shapes |= {f"{at}.{norm}.weight": (hidden,), f"{at}.{norm}.bias": (hidden,)}
        shapes |= _linear(f"{at}.attn.qkv", 3 * hidden, hidden) | _linear(f"{at}.attn.proj", hidden, hidden)
        shapes |= _linear(f"{at}.mlp.linear_fc1", inner, hidden) | _linear(
            f"{at}.mlp.linear_fc2", hidden, inner
        )
    return {f"vision_tower.{name}": shape for name, shape in shapes.items()}


def _linear(name: str, rows: int, columns: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
