"""Which module a path belongs to, by the words of its whole segments: towers, projectors, drafts, blocks.

The last resort of the rules: structure and configuration are asked first where they can answer.
"""

from functools import lru_cache

from workbench.accounting.names import Path, words_of
from workbench.accounting.roles import Role

PROJECTOR_WORDS = frozenset({"projector", "aligner", "connector", "resampler", "qformer", "perceiver", "mm"})
PROJECTOR_SETS = (
    frozenset({"multi", "modal"}),
    frozenset({"patch", "merge"}),
    frozenset({"patch", "merger"}),
    frozenset({"vision", "adapter"}),
    frozenset({"vision", "language", "adapter"}),
    frozenset({"vision", "projection"}),
    frozenset({"audio", "projection"}),
    frozenset({"audio", "adapter"}),
    frozenset({"image", "newline"}),
    frozenset({"view", "seperator"}),  # as DeepSeek-VL2 spells it
)
AUDIO_WORDS = frozenset(
    {
        "audio",
        "speech",
        "whisper",
        "conformer",
        "talker",
        "code2wav",
        "token2wav",
        "tts",
        "apm",
        "codec",
        "sound",
    }
)
VISION_WORDS = frozenset(
    {"vision", "visual", "vis", "vit", "image", "img", "video", "siglip", "sam", "vpm", "vqmodel", "clip"}
)
GGUF_TOWERS = {"v": Role.VISION, "a": Role.AUDIO, "mm": Role.PROJECTOR}
"""First segments of a GGUF projector file (mmproj)."""

DRAFT_WORDS = frozenset({"mtp", "nextn", "medusa", "eagle", "hydra", "draft", "speculator"})
DRAFT_MODULES = frozenset({"eh_proj", "enorm", "hnorm", "shared_head"})

ATTENTION_WORDS = frozenset({"attn", "att", "attention", "attentions", "mla"})
QKV_MARKS = frozenset(
    {"q_proj", "k_proj", "v_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack", "wq", "wqkv"}
)
LINEAR_WORDS = frozenset(
    {
        "mamba",
        "ssm",
        "rwkv",
        "recurrent",
        "conv",
        "shortconv",
        "gla",
        "deltanet",
        "retention",
        "linear",
        "time",
    }
)
LINEAR_MARKS = frozenset(
    {"A_log", "dt_bias", "conv1d", "dt_proj", "x_proj", "g_norm", "rg_lru", "ssm_a"}
    | {"r_k", "time_decay", "time_first"}
)
FEED_FORWARD_WORDS = frozenset(
    {"mlp", "mlps", "ffn", "ff", "feed", "feedforward", "fc", "moe", "altup", "laurel", "channel"}
    | {"layer", "inp", "hc"}  # per_layer_projection, inp_gate, hc_head: small parts of the residual stream
)


def modality(path: Path) -> Role | None:
    """Vision, audio or projector if a whole segment says so; the outermost one that does decides."""
    for segment in path.segments:
        role = _modality_of(segment)
        if role is not None:
            return role
    return GGUF_TOWERS.get(path.segments[0]) if len(path.segments) > 1 else None


@lru_cache(maxsize=8192)
def _modality_of(segment: str) -> Role | None:
    words = words_of(segment)
    if words & PROJECTOR_WORDS or any(together <= words for together in PROJECTOR_SETS):
        return Role.PROJECTOR
    if words & AUDIO_WORDS:
        return Role.AUDIO
    return Role.VISION if words & VISION_WORDS else None


def is_draft(path: Path) -> bool:
    """Whether a segment names a multi-token prediction or draft module."""
    return any(map(_is_draft, path.segments))


@lru_cache(maxsize=8192)
def _is_draft(segment: str) -> bool:
    return segment in DRAFT_MODULES or bool(words_of(segment) & DRAFT_WORDS)


def is_attention(block: str, siblings: frozenset[str]) -> bool:
    """Whether a layer's block is an attention: by its name, or by the projections that stand in it."""
    return bool(words_of(block) & ATTENTION_WORDS) or not siblings.isdisjoint(QKV_MARKS)


def is_linear_attention(block: str, siblings: frozenset[str]) -> bool:
    """Whether a block keeps a recurrent state: a decay or a convolution stands in it, or its name says so."""
    return not siblings.isdisjoint(LINEAR_MARKS) or bool(words_of(block) & LINEAR_WORDS)


def is_norm(last: str) -> bool:
    """Whether a module's last segment names a normalisation."""
    words = words_of(last)
    return any(word.endswith(("norm", "norms")) for word in words) or "ln" in words
