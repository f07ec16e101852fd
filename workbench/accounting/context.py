"""Context bytes: what a step reads besides the weights once n tokens stand in the context.

Pure arithmetic over caches that caches.py finds; every kind of cache is a row of its own and never part of
the weight bytes. Formulas hold for batch 1 and mlx-lm's caches.
"""

from enum import StrEnum
from typing import NamedTuple

STATE_ITEM_BYTES = 4
"""Recurrent states are float32 whatever the weights are (mlx-lm's gated_delta, ssm)."""


class CacheKind(StrEnum):
    """What a layer remembers of the context."""

    FULL = "full attention"
    WINDOW = "sliding window"
    LATENT = "latent attention"
    STATE = "recurrent state"
    CONVOLUTION = "convolution state"
    INDEX = "sparse index"


class Cache(NamedTuple):
    """`layers` equal layers' memory. `items` are values per token (or of a whole state).

    FULL: keys and values of all tokens. WINDOW: of the last `limit`. LATENT: the latent has two readers (as
    key and as value), its `rope` part one; above `limit` tokens (sparse attention) only that many are read,
    and once: a copy of what was chosen has the two readers.
    STATE and CONVOLUTION: fixed, read and written by each step. INDEX: keys of a sparse attention's indexer,
    read above `threshold` tokens. `shared` layers keep nothing and read another layer's cache.
    """

    kind: CacheKind
    layers: int
    items: int
    limit: int | None = None
    rope: int = 0
    threshold: int = 0
    item_bytes: int = 2
    shared: bool = False


class ContextRow(NamedTuple):
    """Bytes of one kind of cache in a step at a given context."""

    kind: CacheKind
    layers: int
    read_bytes: int
    written_bytes: int
    stored_bytes: int


class ContextBytes(NamedTuple):
    """A step at `tokens` of context: its rows, and the weights that only such a context wakes up."""

    tokens: int
    rows: tuple[ContextRow, ...]
    indexer_weight_bytes: int

    @property
    def read_bytes(self) -> int:
        """Bytes that the step reads of all caches."""
        return sum(row.read_bytes for row in self.rows)

    @property
    def written_bytes(self) -> int:
        """Bytes that the step writes to them."""
        return sum(row.written_bytes for row in self.rows)

    @property
    def stored_bytes(self) -> int:
        """Bytes that the caches hold."""
        return sum(row.stored_bytes for row in self.rows)

    @property
    def total_bytes(self) -> int:
        """What the context adds to a step's traffic: reads, writes, and woken weights."""
        return self.read_bytes + self.written_bytes + self.indexer_weight_bytes


class Context(NamedTuple):
    """A checkpoint's caches. `indexer_weight_bytes` are read above `indexer_threshold` tokens.

    `notes` say in words what could not be known and how it was treated.
    """

    caches: tuple[Cache, ...] = ()
    indexer_weight_bytes: int = 0
    indexer_threshold: int = 0
    notes: tuple[str, ...] = ()

    def at(self, tokens: int, kv_bits: int | None = None, kv_group_size: int = 64) -> ContextBytes:
        """A step that attends to `tokens` tokens, its own included.

        `kv_bits` quantises the full caches (affine, with 16-bit scales and biases per `kv_group_size`).
        """
        rows = tuple(_row(cache, tokens, kv_bits, kv_group_size) for cache in self.caches)
        woken = self.indexer_weight_bytes if tokens > self.indexer_threshold else 0
        return ContextBytes(tokens, tuple(row for row in rows if row is not None), woken)


def _row(cache: Cache, tokens: int, kv_bits: int | None, kv_group_size: int) -> ContextRow | None:
    layers = cache.layers
    if cache.kind in {CacheKind.STATE, CacheKind.CONVOLUTION}:
        size = layers * cache.items * cache.item_bytes
        return ContextRow(cache.kind, layers, size, size, size)
    kept = tokens if cache.limit is None else min(tokens, cache.limit)
    stored, read = tokens, kept * cache.items
    written = cache.items
    match cache.kind:
        case CacheKind.WINDOW:
            stored = kept
        case CacheKind.LATENT:
            written = cache.items + cache.rope
            readers = 2 if kept == tokens else 1
            read = kept * (readers * cache.items + cache.rope)
        case CacheKind.INDEX:
            read = tokens * cache.items if tokens > cache.threshold else 0
    numerator, denominator = 8 * cache.item_bytes, 8
    if kv_bits is not None and cache.kind is CacheKind.FULL:
        numerator, denominator = kv_bits * kv_group_size + 32, 8 * kv_group_size
    written_once = 0 if cache.shared else layers * written
    stored_items = 0 if cache.shared else layers * written * stored
    return ContextRow(
        cache.kind,
        layers,
        layers * read * numerator // denominator,
        written_once * numerator // denominator,
        stored_items * numerator // denominator,
    )
