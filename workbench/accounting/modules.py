"""Which module a path belongs to, by the words of its whole segments: towers, projectors, drafts, blocks.

The last resort of the rules: structure and configuration are asked first where they can answer.
"""

from workbench.accounting.names import Path
from workbench.accounting.roles import Role

PROJECTOR_WORDS = frozenset({"projector", "aligner", "connector", "resampler", "qformer", "perceiver", "mm"})
PROJECTOR_PAIRS = (
    frozenset({"multi", "modal"}),
    frozenset({"patch", "merge"}),
    frozenset({"patch", "merger"}),
    frozenset({"vision", "adapter"}),
    frozenset({"vision", "projection"}),
    frozenset({"audio", "projection"}),
    frozenset({"audio", "adapter"}),
    frozenset({"image", "newline"}),
    frozenset({"view", "seperator"}),
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
    {"vision", "visual", "vit", "image", "img", "video", "siglip", "sam", "vpm", "vqmodel", "clip"}
)
DRAFT_WORDS = frozenset({"mtp", "nextn", "medusa", "eagle", "hydra", "draft", "speculator"})
DRAFT_MODULES = frozenset({"eh_proj", "enorm", "hnorm", "shared_head"})
GGUF_TOWERS = {"v": Role.VISION, "a": Role.AUDIO, "mm": Role.PROJECTOR}
"""First segments of a multimodal GGUF projector file (mmproj)."""

ATTENTION_WORDS = frozenset({"attn", "attention", "attentions", "mla"})
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
        "time",
        "rglru",
    }
)
LINEAR_MARKS = frozenset(
    {"A_log", "dt_bias", "conv1d", "ssm_a", "D", "dt_proj", "x_proj", "g_norm", "rg_lru"}
)
QKV_MARKS = frozenset(
    {"q_proj", "k_proj", "v_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack", "wq", "wqkv"}
)
FEED_FORWARD_WORDS = frozenset(
    {
        "mlp",
        "mlps",
        "ffn",
        "ff",
        "feed",
        "feedforward",
        "fc",
        "moe",
        "altup",
        "laurel",
        "per",
        "channel",
        "scalar",
    }
)


def modality(path: Path) -> Role | None:
    """Vision, audio or projector if a whole segment says so; the outermost one that does decides."""
    for words in path.words:
        if words & PROJECTOR_WORDS or any(pair <= words for pair in PROJECTOR_PAIRS):
            return Role.PROJECTOR
        if words & AUDIO_WORDS:
            return Role.AUDIO
        if words & VISION_WORDS:
            return Role.VISION
    return GGUF_TOWERS.get(path.segments[0]) if len(path.segments) > 1 else None


def is_draft(path: Path) -> bool:
    """Whether a segment names a multi-token prediction or draft module."""
    return any(words & DRAFT_WORDS for words in path.words) or not DRAFT_MODULES.isdisjoint(path.segments)


def is_attention(block: str, siblings: frozenset[str]) -> bool:
    """Whether a layer's block is an attention: by its name, or by the projections that stand in it."""
    words = frozenset(block.lower().split("_"))
    return bool(words & ATTENTION_WORDS) or bool(siblings & QKV_MARKS)
