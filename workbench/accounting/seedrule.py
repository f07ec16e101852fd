"""The source documents' four rules, literally: names by substring, every *.safetensors file.

Kept beside the count as a teaching: the difference is the lesson. Nothing here may be made smarter.
"""

from collections.abc import Mapping
from typing import Any

from workbench.accounting.count import SeedCount
from workbench.checkpoint.checkpoint import Checkpoint


def seed_count(checkpoint: Checkpoint) -> SeedCount:
    """Bytes per token as bytes_per_token.py of "The Decode Ceiling" prints them.

    It reads every *.safetensors file of the directory, the ones that no runtime loads included, and adds a
    tensor up as often as it is stored. Values in config.json that are no numbers count as 0.
    """
    config = checkpoint.config
    text = config.get("text_config", config)
    text = text if isinstance(text, Mapping) else {}
    experts = _number(text, "num_experts") or _number(text, "num_local_experts")
    per_token = _number(text, "num_experts_per_tok")
    tied = bool(config.get("tie_word_embeddings", text.get("tie_word_embeddings", False)))
    skipped = [
        tensor
        for tensor in checkpoint.skipped_tensors
        if tensor.file >= len(checkpoint.skipped)
        or "/" not in checkpoint.skipped[tensor.file].name  # the glob does not descend
    ]
    total = vision = embedding = expert = 0
    for tensor in (*checkpoint.tensors, *skipped):
        name, size = tensor.name, tensor.nbytes
        total += size
        if "vision" in name or "visual" in name:
            vision += size
        elif "embed_tokens" in name:
            embedding += size
        elif "switch_mlp" in name or ".experts." in name:
            expert += size
    weight = total - vision - (0 if tied else embedding)
    if experts:
        weight -= expert - expert * per_token // experts
    return SeedCount(total, vision, embedding, expert, tied, experts, per_token, weight)


def _number(config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
