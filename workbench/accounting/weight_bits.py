"""How many bits a stored weight takes, in words: from the shapes, and config.json where weights lie packed.

MLX packs weights of few bits into 32-bit words: such a tensor's dtype says nothing of its weights. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from workbench.accounting.count import Row

_WHOLE_NUMBERS = re.compile(r"[IU]\d+|BOOL")
_BESIDE = re.compile(r"scale|biases|zeros")
_WORD_BITS = 32


def bits_words(row: Row, rows: Sequence[Row], config: Mapping[str, Any]) -> str:
    """Bits per weight of the tensor `row`; per entry where its entries are no weights, or none are known.

    `rows` are its checkpoint's, for the scales beside it. What config.json states is believed only where the
    shapes bear it out: bits x group size x groups must fill the packed words.
    """
    entries = prod(row.shape)
    if not entries:
        return "empty"
    if packed := _packed(row, entries, rows, config):
        bits, with_scales = packed
        return f"{bits} bits per weight, packed; {with_scales:.3g} with its scales"
    is_weight = not _WHOLE_NUMBERS.fullmatch(row.dtype) and not _BESIDE.search(row.name.rpartition(".")[2])
    return f"{row.disk_bytes * 8 / entries:.3g} bits {'per weight' if is_weight else 'an entry'}"


def _packed(
    row: Row, entries: int, rows: Sequence[Row], config: Mapping[str, Any]
) -> tuple[int, float] | None:
    """Bits per weight alone and with scales and biases; None where the tensor is not packed as MLX does."""
    module, _, last = row.name.rpartition(".")
    if row.dtype != "U32" or last != "weight":
        return None
    names = {f"{module}.scales", f"{module}.biases"}
    beside = [other for other in rows if other.name in names]
    scales = next((other for other in beside if other.name.endswith(".scales") and other.shape), None)
    if scales is None:
        return None
    for bits, group_size in _stated(config, module):
        if bits * group_size * scales.shape[-1] == _WORD_BITS * row.shape[-1]:
            stored = row.disk_bytes + sum(other.disk_bytes for other in beside)
            return bits, stored * 8 * bits / (entries * _WORD_BITS)
    return None


def _stated(config: Mapping[str, Any], module: str) -> Iterator[tuple[int, int]]:
    """Bits and group size that config.json states, this module's own first."""
    for holder in (config, config.get("text_config")):
        for key in ("quantization", "quantization_config"):
            stated = holder.get(key) if isinstance(holder, Mapping) else None
            if isinstance(stated, Mapping):
                own = (
                    value
                    for name, value in stated.items()
                    if isinstance(value, Mapping) and (module.endswith(name) or name.endswith(module))
                )
                yield from filter(None, map(_pair, (*own, stated)))


def _pair(stated: Mapping[str, Any]) -> tuple[int, int] | None:
    bits, group_size = stated.get("bits"), stated.get("group_size")
    if type(bits) is not int or type(group_size) is not int or bits < 1 or group_size < 1:
        return None
    return bits, group_size
