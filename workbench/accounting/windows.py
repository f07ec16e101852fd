"""Which layers attend to a window of the last tokens only, and how wide it is: the config's many ways."""

from collections.abc import Mapping
from typing import Any

from workbench.checkpoint.model_config import as_int, ints

WIDTHS = ("sliding_window", "sliding_window_size", "attention_window_size", "window_size")
EVERY = ("sliding_window_pattern", "_sliding_window_pattern")
PATTERNS = (*EVERY, "sliding_window_layers", "hybrid_layer_pattern", "block_types")


def window_of(text: Mapping[str, Any], index: int) -> int | None:
    """Tokens that layer `index` looks back at, or None for all of them.

    A width alone is not enough: some configurations carry one that no layer uses.
    """
    chunk = as_int(text.get("attention_chunk_size"))
    kind = _listed(text.get("layer_types"), index)
    if isinstance(kind, str):
        return chunk if "chunked" in kind else _width(text) if "sliding" in kind else None
    if chunk:
        rope = as_int(_listed(text.get("no_rope_layers"), index))
        return chunk if ((index + 1) % 4 if rope is None else rope) else None
    return _width(text) if _slides(text, index) else None


def unknown_window(text: Mapping[str, Any], index: int) -> str:
    """What the config leaves open about a window of this layer, in words; "" if nothing.

    Which layers slide is then in the model's code only. Such a layer counts as attending to everything: no
    window reads more.
    """
    kind = _listed(text.get("layer_types"), index)
    if isinstance(kind, str):
        known = as_int(text.get("attention_chunk_size")) if "chunked" in kind else _stated(text)
        return "" if known or not ("chunked" in kind or "sliding" in kind) else _NO_WIDTH
    width = _width(text)
    if width is None or text.get("use_sliding_window") is False or any(key in text for key in PATTERNS):
        return ""
    return _NO_LAYERS.format(width=width)


_NO_WIDTH = (
    "How wide the sliding windows are is not known from config.json: those layers are counted as full "
    "attention, which is the most that they can read of the context."
)
_NO_LAYERS = (
    "Which layers use the sliding window of {width:,} tokens is not known from config.json: all are counted "
    "as full attention, which is the most that they can read of the context."
)


def _width(text: Mapping[str, Any]) -> int | None:
    """The window, unless it is wider than any context the model is made for."""
    width = _stated(text)
    longest = as_int(text.get("max_position_embeddings"))
    return None if width is None or (longest is not None and width >= longest) else width


def _stated(text: Mapping[str, Any]) -> int | None:
    return next((value for key in WIDTHS if (value := as_int(text.get(key))) and value > 0), None)


def _slides(text: Mapping[str, Any], index: int) -> bool:
    pattern = next((text[key] for key in EVERY if key in text), None)
    every = as_int(pattern)
    if every is not None:
        return every > 0 and (index + 1) % every != 0
    if isinstance(pattern, str) and pattern:
        return pattern[index % len(pattern)] == "L"
    if isinstance(pattern, list) and pattern:
        return bool(pattern[index % len(pattern)])
    if "sliding_window_layers" in text:
        return index in set(ints(text.get("sliding_window_layers")))
    if "hybrid_layer_pattern" in text:
        return as_int(_listed(text["hybrid_layer_pattern"], index)) == 1
    return "attention_window_size" in text and "block_types" in text


def _listed(value: Any, index: int) -> Any:
    return value[index] if isinstance(value, list) and index < len(value) else None
