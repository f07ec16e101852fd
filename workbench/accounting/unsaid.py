"""How far layers look back where config.json does not say: what mlx-lm fills in. About caches, never weights.

Published configurations leave these out because the model's code knows them; headers cannot tell. Source: the
defaults of each architecture's ModelArgs; a test holds them against the installed mlx-lm.
"""

from collections.abc import Mapping
from typing import Any

from workbench.checkpoint.model_config import ModelConfig

_GEMMA3 = {"sliding_window": 512, "sliding_window_pattern": 6}
_GEMMA4 = {"sliding_window": 512, "sliding_window_pattern": 5}

# model_type -> key -> value. `sliding_window_pattern` n: every n-th layer sees all; mlx-lm writes the same as
# a list of layer_types in some architectures.
UNSAID: Mapping[str, Mapping[str, int]] = {
    "afmoe": {"sliding_window": 2048},
    "cohere2": {"sliding_window": 4096, "sliding_window_pattern": 4},
    "deepseek_v32": {"index_topk": 2048},
    "gear": {"sliding_window": 512},
    "gemma3": _GEMMA3,
    "gemma3_text": _GEMMA3,
    "gemma4": _GEMMA4,
    "gemma4_text": _GEMMA4,
    "gpt_oss": {"sliding_window": 128, "sliding_window_pattern": 2},
    "muse_glimmer": {"sliding_window": 2048, "sliding_window_pattern": 4},
    "olmo3": {"sliding_window_pattern": 4},
    "step3p5": {"sliding_window": 512},
}


def with_unsaid(config: ModelConfig) -> Mapping[str, Any]:
    """The language model's mapping, with what mlx-lm would read in place of keys that are not there."""
    inner = config.text.get("model_type")
    filled = UNSAID.get(inner if isinstance(inner, str) else "") or UNSAID.get(config.model_type)
    return {**filled, **config.text} if filled else config.text
