"""What a stored type takes per value: the dtypes of safetensors and ggml's blocks, by their names."""

from collections import Counter
from collections.abc import Iterable

from workbench.checkpoint.checkpoint import Tensor
from workbench.checkpoint.ggml import TYPES
from workbench.checkpoint.safetensors import DTYPE_BITS

_BLOCK_BITS = {block.name: block.bytes * 8 / block.values for block in TYPES.values()}


def bits_per_value(dtype: str) -> float | None:
    """Bits that one value takes, a block's scales shared out among its values; None for an unknown type."""
    return DTYPE_BITS.get(dtype, _BLOCK_BITS.get(dtype))


def matrix_dtypes(tensors: Iterable[Tensor]) -> list[str]:
    """The types that the tensors of two dimensions or more are stored in, the one with most bytes first."""
    nbytes: Counter[str] = Counter()
    for tensor in tensors:
        if len(tensor.shape) > 1:
            nbytes[tensor.dtype] += tensor.nbytes
    return [dtype for dtype, _ in nbytes.most_common()]
