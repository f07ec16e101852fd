"""The fixed memory of linear attention, state-space and convolution layers: read and written each step."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from workbench.accounting.context import STATE_ITEM_BYTES, Cache, CacheKind
from workbench.accounting.names import words_of
from workbench.accounting.rules.rule import Facts
from workbench.accounting.survey import Group
from workbench.checkpoint.model_config import as_int, first_int

HEADS = ("num_attention_heads", "n_head", "num_heads")


def states_of(groups: Sequence[Group], facts: Facts, item_bytes: int, notes: list[str]) -> Iterator[Cache]:
    """One layer's convolution window (in the activations' type) and recurrent state (float32)."""
    loops = facts.config.loops
    convolutions = sum(_convolution_items(group) * group.tensors for group in groups)
    if convolutions:
        yield Cache(CacheKind.CONVOLUTION, loops, convolutions, item_bytes=item_bytes)
    shapes = {group.pattern.path.last: group.pattern.shape for group in groups}
    if any({"conv", "shortconv"} & words_of(group.pattern.path.block) for group in groups):
        return  # a short convolution keeps nothing else
    receptance = shapes.get("r_k")
    if receptance is not None and len(receptance) == 2 and facts.config.hidden:  # RWKV: no float32
        yield Cache(CacheKind.STATE, loops, prod(receptance) * receptance[1], item_bytes=item_bytes)
        yield Cache(
            CacheKind.CONVOLUTION, loops, 2 * facts.config.hidden, item_bytes=item_bytes
        )  # token shifts
        return
    items = _state_items(shapes, facts.config.text)
    if items is None:
        notes.append("The size of some recurrent states is not known from the configuration: not counted.")
    else:
        yield Cache(CacheKind.STATE, loops, items, item_bytes=STATE_ITEM_BYTES)


def _convolution_items(group: Group) -> int:
    """Channels x (kernel - 1) of a depthwise convolution's weight, in any of its layouts."""
    shape, last = group.pattern.shape, group.pattern.path.last
    if "conv" not in last or group.pattern.path.parameter == "bias":
        return 0
    if len(shape) == 3 and 1 in shape[1:]:
        return shape[0] * (max(shape[1:]) - 1)
    return shape[0] * (shape[1] - 1) if len(shape) == 2 and shape[1] < 16 else 0


def _state_items(shapes: Mapping[str, tuple[int, ...]], text: Mapping[str, Any]) -> int | None:
    for name in ("A_log", "ssm_a", "recurrent_param"):
        shape = shapes.get(name, ())
        if name == "recurrent_param" and shape:
            return prod(shape)  # a gated linear recurrence: one value per channel
        if len(shape) == 2 and 1 not in shape:
            return prod(shape)  # Mamba: a state per channel
    nested = text.get("linear_attn_config")
    linear = nested if isinstance(nested, Mapping) else {}
    known = (
        (
            text.get("linear_num_value_heads"),
            text.get("linear_value_head_dim"),
            text.get("linear_key_head_dim"),
        ),
        (linear.get("num_heads"), linear.get("head_dim"), linear.get("head_dim")),
        (text.get("mamba_num_heads"), text.get("mamba_head_dim"), text.get("ssm_state_size")),
        (text.get("mamba_n_heads"), text.get("mamba_d_head"), text.get("mamba_d_state")),
        (text.get("mamba_num_heads"), text.get("hidden_size_per_head"), text.get("mamba_d_state")),
        (text.get("num_heads"), text.get("head_dim"), text.get("state_size")),
        (1, text.get("ssm_inner_size"), text.get("ssm_state_size")),
        (1, text.get("hidden_size"), text.get("wkv_head_size")),
    )
    for factors in known:
        sizes = [size for factor in factors if (size := as_int(factor)) is not None and size > 0]
        if len(sizes) == len(factors):
            return prod(sizes)
    heads, width, hidden = (
        first_int(text, HEADS),
        as_int(text.get("head_dim")),
        as_int(text.get("hidden_size")),
    )
    if width is None and heads and hidden:
        width = hidden // heads
    return heads * width * width if heads and width else None
