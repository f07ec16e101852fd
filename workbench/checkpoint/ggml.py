"""The ggml tensor types: how many values make a block, and how many bytes it takes.

From ggml's type traits (ggml-common.h, and GGML_QUANT_SIZES of gguf-py 0.19).
"""

from math import prod
from typing import NamedTuple


class BlockType(NamedTuple):
    """One ggml type: `values` numbers are stored together in `bytes`."""

    name: str
    values: int
    bytes: int


TYPES = {
    0: BlockType("F32", 1, 4),
    1: BlockType("F16", 1, 2),
    2: BlockType("Q4_0", 32, 18),
    3: BlockType("Q4_1", 32, 20),
    4: BlockType("Q4_2", 16, 10),
    5: BlockType("Q4_3", 16, 12),
    6: BlockType("Q5_0", 32, 22),
    7: BlockType("Q5_1", 32, 24),
    8: BlockType("Q8_0", 32, 34),
    9: BlockType("Q8_1", 32, 36),
    10: BlockType("Q2_K", 256, 84),
    11: BlockType("Q3_K", 256, 110),
    12: BlockType("Q4_K", 256, 144),
    13: BlockType("Q5_K", 256, 176),
    14: BlockType("Q6_K", 256, 210),
    15: BlockType("Q8_K", 256, 292),
    16: BlockType("IQ2_XXS", 256, 66),
    17: BlockType("IQ2_XS", 256, 74),
    18: BlockType("IQ3_XXS", 256, 98),
    19: BlockType("IQ1_S", 256, 50),
    20: BlockType("IQ4_NL", 32, 18),
    21: BlockType("IQ3_S", 256, 110),
    22: BlockType("IQ2_S", 256, 82),
    23: BlockType("IQ4_XS", 256, 136),
    24: BlockType("I8", 1, 1),
    25: BlockType("I16", 1, 2),
    26: BlockType("I32", 1, 4),
    27: BlockType("I64", 1, 8),
    28: BlockType("F64", 1, 8),
    29: BlockType("IQ1_M", 256, 56),
    30: BlockType("BF16", 1, 2),
    31: BlockType("Q4_0_4_4", 32, 18),
    32: BlockType("Q4_0_4_8", 32, 18),
    33: BlockType("Q4_0_8_8", 32, 18),
    34: BlockType("TQ1_0", 256, 54),
    35: BlockType("TQ2_0", 256, 66),
    36: BlockType("IQ4_NL_4_4", 32, 18),
    37: BlockType("IQ4_NL_4_8", 32, 18),
    38: BlockType("IQ4_NL_8_8", 32, 18),
    39: BlockType("MXFP4", 32, 17),
    40: BlockType("NVFP4", 64, 36),
    41: BlockType("Q1_0", 128, 18),
}
"""By the id that GGUF writes. Ids 4, 5, 31 to 33 and 36 to 38 were retired but stand in old files."""


def type_name(type_id: int) -> str:
    """The type's name, or `type 57` for one that is not known here."""
    known = TYPES.get(type_id)
    return known.name if known else f"type {type_id}"


def tensor_bytes(type_id: int, dims: tuple[int, ...]) -> int | None:
    """Bytes of a tensor, None if its type is not known or its rows are no whole blocks.

    `dims` are in ggml's order, the fastest first.
    """
    known = TYPES.get(type_id)
    if known is None or (dims[0] if dims else 1) % known.values:
        return None
    return prod(dims) // known.values * known.bytes
