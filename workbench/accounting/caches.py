"""Which caches a checkpoint's layers keep: their kinds and sizes, from the headers' shapes and the config.

What a layer keeps is told by what stands in it (projections, a decay, a convolution); how wide a window is
and which layers have one, only the configuration knows.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from workbench.accounting.account import Part
from workbench.accounting.context import Cache, CacheKind, Context
from workbench.accounting.experts import is_correction
from workbench.accounting.modules import is_attention, is_linear_attention
from workbench.accounting.names import WEIGHTS, is_index
from workbench.accounting.rules.rule import Facts
from workbench.accounting.states import states_of
from workbench.accounting.survey import Group, Pattern, Survey
from workbench.accounting.unsaid import with_unsaid
from workbench.accounting.windows import unknown_window, window_of
from workbench.checkpoint.model_config import as_int, first_int

QUERIES = frozenset({"q_proj", "wq", "attn_q", "c_q", "query_proj", "attn_query"})
KEYS = frozenset({"k_proj", "wk", "attn_k", "c_k", "key_proj", "attn_key"})
VALUES = frozenset({"v_proj", "wv", "attn_v", "c_v", "value_proj", "attn_value"})
FUSED = frozenset(
    {"qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack", "wqkv", "attn_qkv", "qkvg_proj", "qkv"}
    | {"att_proj", "q_k_v_proj"}
)
LATENTS = frozenset({"kv_a_proj_with_mqa", "attn_kv_a_mqa", "kv_a_proj"})
INDEX_KEYS = frozenset({"index_k_proj", "wk", "k_proj"})
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "num_query_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv", "kv_n_heads")

PROJECTIONS = QUERIES | KEYS | FUSED | LATENTS

Projections = Mapping[str, Group]

_UNKNOWN = "The size of some attention caches is not known from headers or config: they are not counted."
_THRESHOLD = (
    "How many tokens the sparse attention chooses is not known from config.json: it is counted as reading "
    "all of them, and its indexer as always at work, which is the most that it can read of the context."
)


class Block(NamedTuple):
    """What one block of a kind of layer remembers: `fixed` caches, and an attention's projections by name."""

    fixed: tuple[Cache, ...]
    attention: Projections


def find_context(facts: Facts, parts: Iterable[Part]) -> Context:
    """The caches of all layers, equal ones together, and the weights of sparse attention's indexers."""
    found: dict[Cache, int] = {}
    latest: dict[CacheKind, Cache] = {}
    notes: list[str] = []
    for cache in _caches(facts, notes):
        if cache.items <= 0:  # a configuration with impossible sizes
            continue
        kept = cache
        if cache.shared and cache.kind in latest:
            kept = latest[cache.kind]._replace(layers=cache.layers, shared=True)
        elif not cache.shared:
            latest[cache.kind] = cache
        alike = kept._replace(layers=0)
        found[alike] = found.get(alike, 0) + kept.layers
    threshold = sparse_threshold(with_unsaid(facts.config))
    if any(cache.kind is CacheKind.INDEX for cache in found) and not threshold:
        notes.append(_THRESHOLD)
    caches = tuple(cache._replace(layers=layers) for cache, layers in found.items())
    indexers = sum(part.bytes for part in parts if part.first.verdict.rule == "sparse-indexer")
    return Context(caches, indexers, threshold, tuple(dict.fromkeys(notes)))


def sparse_threshold(text: Mapping[str, Any]) -> int:
    """Tokens of context above which sparse attention chooses among them (0 if it always does)."""
    topk = as_int(text.get("index_topk"))
    if topk is not None:
        return max(0, topk)
    nested = text.get("sparse_attention_config")
    part = nested if isinstance(nested, Mapping) else text
    block = first_int(part, ("sparse_block_size", "index_block_size"))
    blocks = first_int(part, ("sparse_topk_blocks", "index_topk_blocks"))
    return max(0, (block or 0) * (blocks or 0))


def _caches(facts: Facts, notes: list[str]) -> Iterator[Cache]:
    """Every layer's caches: the decoder's layers in order, then those of the stacks beside it."""
    seen, depth, item = facts.survey, facts.config.layers, _item_bytes(facts)
    kinds: dict[int, list[Block]] = {}
    ordered = sorted(
        (stack != seen.stack, layer.index, stack, written) for (stack, written), layer in seen.layers.items()
    )
    for number, (beside, index, stack, written) in enumerate(ordered):
        if not beside and depth is not None and index >= depth:
            continue
        kind = seen.layers[stack, written].kind
        if kind not in kinds:
            kinds[kind] = [_block(groups, facts, item, notes) for groups in _blocks(seen, stack, written)]
        for block in kinds[kind]:
            yield from block.fixed
            if block.attention:
                yield from _attention(number if beside else index, block.attention, facts, item, notes)


def _blocks(seen: Survey, stack: str, written: str) -> list[list[Group]]:
    """One layer's groups by block; a GGUF layer has no modules and is one block."""
    blocks: dict[str, list[Group]] = {}
    for pattern in seen.patterns:
        if pattern.path.stack == stack and written in pattern.groups:
            blocks.setdefault(pattern.path.block, []).append(pattern.groups[written])
    if any(block.startswith(("attn_", "ssm_")) for block in blocks):
        return [[group for groups in blocks.values() for group in groups]]
    return list(blocks.values())


def _block(groups: list[Group], facts: Facts, item: int, notes: list[str]) -> Block:
    segments = frozenset(segment for group in groups for segment in group.pattern.path.inside)
    block = groups[0].pattern.path.block
    if is_linear_attention(block, segments) or any(segment.startswith("ssm_") for segment in segments):
        return Block(tuple(states_of(groups, facts, item, notes)), {})
    last = {
        group.pattern.path.last: group
        for group in groups
        if len(group.pattern.shape) >= 2 and group.pattern.path.parameter in WEIGHTS and not _indexes(group)
    }
    if not last.keys() & PROJECTIONS:
        if is_attention(block, frozenset()) and any("proj" in name for name in last if name != block):
            notes.append(_UNKNOWN)
        return Block((), {})
    threshold = sparse_threshold(with_unsaid(facts.config))
    keys = (group.pattern for group in groups if _indexes(group) and group.pattern.path.last in INDEX_KEYS)
    return Block(
        tuple(
            Cache(CacheKind.INDEX, 1, pattern.shape[0], threshold=threshold, item_bytes=item)
            for pattern in keys
            if pattern.path.parameter == "weight"
        ),
        last,
    )


def _indexes(group: Group) -> bool:
    inside = group.pattern.path.inside
    return "indexer" in inside or any(segment.startswith("index_") for segment in inside)


def _listed(last: Projections) -> int:
    """How many attentions of this kind the layer has: some layers hold a list of two."""
    group = next(group for name, group in last.items() if name in PROJECTIONS)
    return group.tensors if any(map(is_index, group.pattern.path.inside)) else 1


def _attention(index: int, last: Projections, facts: Facts, item: int, notes: list[str]) -> Iterator[Cache]:
    config = facts.config
    text, depth, times = with_unsaid(config), config.layers or 0, _listed(last)
    latent = as_int(text.get("kv_lora_rank"))
    if last.keys() & LATENTS and latent:
        yield _latent(last, latent, facts, item)._replace(layers=times * config.loops)
        return
    items = _key_value_items(index, last, facts)
    if items is None:
        notes.append(_UNKNOWN)
        return
    shared = config.kv_shared_layers > 0 and index >= depth - config.kv_shared_layers > 0
    reads_other = shared or not last.keys() & (KEYS | FUSED)
    window = window_of(text, index)
    if window is None and (unknown := unknown_window(text, index)):
        notes.append(unknown)
    for name, group in last.items():
        if name == "conv_k":  # a short convolution over keys and values keeps their last inputs besides
            kept = items * (group.pattern.shape[-1] - 1)
            yield Cache(CacheKind.CONVOLUTION, times * config.loops, kept, item_bytes=item)
    kind = CacheKind.FULL if window is None else CacheKind.WINDOW
    yield Cache(kind, times * config.loops, items, limit=window, item_bytes=item, shared=reads_other)
    if (extra := as_int(text.get("loop_window_size"))) and config.loops > 1:
        yield Cache(CacheKind.WINDOW, times * (config.loops - 1), items, limit=extra, item_bytes=item)


def _latent(last: Projections, latent: int, facts: Facts, item: int) -> Cache:
    """Multi-head latent attention: the latent is cached, or what kv_b_proj unfolds it to.

    mlx-lm absorbs kv_b_proj in the architectures whose routers carry a correction bias, and caches unfolded
    keys and values in the others.
    """
    text = facts.config.text
    rope = max(0, as_int(text.get("qk_rope_head_dim")) or 0)
    unfolds = last.get("kv_b_proj")
    heads = first_int(text, HEADS)
    corrected = any(is_correction(pattern.path) for pattern in facts.survey.patterns)
    if unfolds is not None and heads and (unfolds.pattern.dtype == "U32" or not corrected):
        return Cache(CacheKind.FULL, 1, unfolds.pattern.shape[0] + heads * rope, item_bytes=item)
    limit = sparse_threshold(text) or None
    return Cache(CacheKind.LATENT, 1, latent, limit=limit, rope=rope, item_bytes=item)


def _key_value_items(index: int, last: Projections, facts: Facts) -> int | None:
    """Values that a token adds to one layer's keys and values: by the projections' rows, else the config."""
    keys = next((group.pattern for name, group in last.items() if name in KEYS), None)
    values = next((group.pattern for name, group in last.items() if name in VALUES), keys)
    hidden = facts.config.hidden
    if keys is not None and values is not None and not _rows_packed(keys, hidden):
        return keys.shape[0] + values.shape[0]
    text = facts.config.text
    nested = text.get("attn_config")
    parts = (text, nested) if isinstance(nested, Mapping) else (text,)
    heads = first_int(text, HEADS, index)
    width = as_int(text.get("head_dim")) or (hidden // heads if hidden and heads else None)
    if width is None:
        return None
    fused = next((group.pattern for name, group in last.items() if name in FUSED), None)
    if fused is not None and heads and not _rows_packed(fused, hidden):
        others = _rows(fused, hidden) - heads * width * (2 if "qkvg" in fused.path.last else 1)
        if others > 0 and others % (2 * width) == 0:
            return others  # the rows beside those of the queries (and their gates)
    kv_heads = next((number for part in parts if (number := first_int(part, KV_HEADS, index))), None)
    kv_heads = kv_heads or (1 if text.get("multi_query") is True else heads)
    return None if kv_heads is None else kv_heads * (width + (as_int(text.get("v_head_dim")) or width))


def _rows(pattern: Pattern, hidden: int | None) -> int:
    """Values that a projection gives; some old models store theirs transposed."""
    rows, columns = pattern.shape[:2]
    return columns if rows == hidden != columns else rows


def _rows_packed(pattern: Pattern, hidden: int | None) -> bool:
    """Whether the stored rows are fewer than the projection's: packed integers beside an unpacked input."""
    packed = pattern.dtype in {"U8", "I8", "U32", "I32"}
    return pattern.path.parameter == "qweight" or (packed and pattern.shape[1] == hidden)


def _item_bytes(facts: Facts) -> int:
    """Bytes of a cached value: the activations' type, which is that of most norms as stored."""
    seen = facts.survey
    norms = [p.dtype for p in seen.patterns if p.path.stack == seen.stack and "norm" in p.path.last]
    stored = set(norms) or {pattern.dtype for pattern in seen.patterns}
    return 4 if "F32" in stored and not stored & {"BF16", "F16"} else 2
