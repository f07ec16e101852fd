"""The source documents' four rules, literally: names by substring, every *.safetensors file.

Kept beside the count as a teaching: the difference is the lesson. Nothing here may be made smarter.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.accounting.count import SeedCount
from workbench.accounting.roles import Role
from workbench.checkpoint.checkpoint import Checkpoint


def seed_count(checkpoint: Checkpoint, alike: Iterable[tuple[str, int]] | None = None) -> SeedCount:
    """Bytes per token as bytes_per_token.py of "The Decode Ceiling" prints them.

    It reads every *.safetensors file of the directory, the ones that no runtime loads included, and adds a
    tensor up as often as it is stored. Values in config.json that are no numbers count as 0. `alike` may give
    the counted tensors as (a name, bytes) of groups that differ in list indices only.
    """
    config = checkpoint.config
    text = config.get("text_config", config)
    text = text if isinstance(text, Mapping) else {}
    experts = _number(text, "num_experts") or _number(text, "num_local_experts")
    per_token = _number(text, "num_experts_per_tok")
    tied = bool(config.get("tie_word_embeddings", text.get("tie_word_embeddings", False)))
    counted = ((tensor.name, tensor.nbytes) for tensor in checkpoint.tensors) if alike is None else alike
    total = vision = embedding = expert = 0
    for name, size in (*counted, *_beside(checkpoint)):
        total += size
        match role_by_name(name):
            case Role.VISION:
                vision += size
            case Role.EMBEDDING:
                embedding += size
            case Role.EXPERT:
                expert += size
    weight = total - vision - (0 if tied else embedding)
    if experts:
        weight -= expert - expert * per_token // experts
    return SeedCount(total, vision, embedding, expert, tied, experts, per_token, weight)


def role_by_name(name: str) -> Role | None:
    """What the rule takes a tensor for, by pieces of its name; None for all that it counts in full."""
    if "vision" in name or "visual" in name:
        return Role.VISION
    if "embed_tokens" in name:
        return Role.EMBEDDING
    return Role.EXPERT if "switch_mlp" in name or ".experts." in name else None


def _beside(checkpoint: Checkpoint) -> Iterator[tuple[str, int]]:
    """What lies in further files of the directory itself: the script's glob does not descend."""
    for tensor in checkpoint.skipped_tensors:
        inside = tensor.file < len(checkpoint.skipped)
        if not inside or "/" not in checkpoint.skipped[tensor.file].name:
            yield tensor.name, tensor.nbytes


def _number(config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
