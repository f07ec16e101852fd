"""The model's caches (KV cache, recurrent state) as they are at a context of n tokens, without values."""

from collections.abc import Callable, Sequence
from typing import Any

PREFILLED = 3
"""Tokens of the prefill that gives every cache its arrays; larger contexts are set by shape."""


def each_array(cache: Any, rewrite: Callable[[Any], Any]) -> None:
    """Put `rewrite(array)` in the place of every array that a cache object holds, in a fixed order."""
    import mlx.core as mx

    def visit(value: Any) -> Any:
        if isinstance(value, mx.array):
            return rewrite(value)
        if isinstance(value, list):
            value[:] = [visit(item) for item in value]
        elif isinstance(value, tuple):
            return tuple(visit(item) for item in value)
        elif isinstance(value, dict):
            for key in value:
                value[key] = visit(value[key])
        elif hasattr(value, "__dict__"):
            for name, held in vars(value).items():
                vars(value)[name] = visit(held)
        return value

    visit(cache)


def arrays(caches: Sequence[Any]) -> list[Any]:
    """Every array that the caches hold, in the order of `each_array`."""
    found: list[Any] = []

    def note(array: Any) -> Any:
        found.append(array)
        return array

    each_array(list(caches), note)
    return found


def fill(caches: Sequence[Any], new: Sequence[Any]) -> None:
    """Put the arrays of `new` where `arrays` found theirs."""
    coming = iter(new)
    each_array(list(caches), lambda _: next(coming))


def blank_all(caches: Sequence[Any]) -> None:
    """Replace the arrays by blank ones of the same shape."""
    import mlx.core as mx

    each_array(list(caches), lambda array: mx.zeros(array.shape, array.dtype))


def growable(cache: Any) -> bool:
    """Whether `grow` knows this kind of cache."""
    kind = type(cache).__name__
    if kind == "CacheList":
        return all(growable(part) for part in cache.caches)
    return kind in _GROWN


def grow(cache: Any, tokens: int) -> None:
    """Let a prefilled cache hold `tokens` tokens."""
    if type(cache).__name__ == "CacheList":
        for part in cache.caches:
            grow(part, tokens)
    elif vars(cache).get("keys", True) is not None:
        _GROWN[type(cache).__name__](cache, tokens)


def _by_steps(cache: Any, tokens: int) -> None:
    _lengthen(cache, _with_room(cache, tokens))
    cache.offset = tokens


def _exactly(cache: Any, tokens: int) -> None:
    _lengthen(cache, tokens)
    cache.offset = tokens


def _chunked(cache: Any, tokens: int) -> None:
    kept = min(tokens, cache.chunk_size)
    _lengthen(cache, _with_room(cache, kept))
    cache.offset = tokens
    cache.start_position = tokens - kept


def _rotating(cache: Any, tokens: int) -> None:
    _lengthen(cache, min(_with_room(cache, tokens), cache.max_size))
    cache.offset = tokens
    cache._idx = min(tokens, cache.max_size)


def _constant(_cache: Any, _tokens: int) -> None:
    """A recurrent state is as large after one token as after a million."""


def _with_room(cache: Any, tokens: int) -> int:
    """A length with room for one token more: growing, a copy every 256th token, is not a step's reading."""
    return int((tokens // cache.step + 1) * cache.step)


def _lengthen(cache: Any, length: int) -> None:
    import mlx.core as mx

    for name in ("keys", "values"):
        array = getattr(cache, name)
        setattr(cache, name, mx.zeros((*array.shape[:2], length, array.shape[3]), array.dtype))


_GROWN: dict[str, Callable[[Any, int], None]] = {
    "KVCache": _by_steps,
    "ChunkedKVCache": _chunked,
    "ConcatenateKVCache": _exactly,
    "RotatingKVCache": _rotating,
    "ArraysCache": _constant,
}
