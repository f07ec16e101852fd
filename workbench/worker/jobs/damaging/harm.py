"""Kinds of damage to one array. An even shift is none: it leaves the order of a router's biases alone."""

import zlib
from collections.abc import Callable, Collection
from typing import Any

Harm = Callable[[str, Any, int], Any]
"""(name, array, seed) -> the array, wholly damaged; lazy."""


def noise(name: str, array: Any, seed: int) -> Any:
    """Uneven noise: normal numbers added to floats, bits flipped at random in everything else."""
    import mlx.core as mx

    random = mx.random.key(seed ^ zlib.crc32(name.encode()))
    if mx.issubdtype(array.dtype, mx.floating):
        return array + mx.random.normal(array.shape, array.dtype, key=random)
    flips = mx.random.randint(0, 2**31 - 1, array.shape, mx.int32, key=random)
    return mx.bitwise_xor(array, flips.astype(array.dtype))


def not_a_number(_name: str, array: Any, _seed: int) -> Any:
    """NaN in every float: it spreads through a product with zero, too. Packed integers stay as they are."""
    import mlx.core as mx

    return (
        mx.full(array.shape, float("nan"), array.dtype) if mx.issubdtype(array.dtype, mx.floating) else array
    )


HARMS: dict[str, Harm] = {"noise": noise, "NaN": not_a_number}


def in_rows(harmed: Any, array: Any, rows: Collection[int] | None) -> Any:
    """`harmed` in the given rows of the first axis (None: in all), `array` elsewhere."""
    import mlx.core as mx

    if rows is None:
        return harmed
    mask = [row in rows for row in range(array.shape[0])]
    return mx.where(mx.array(mask).reshape(-1, *[1] * (array.ndim - 1)), harmed, array)
