"""The probe's kernels: what each must move in bytes, and how a batch of it is built.

A kernel's limit is not the memory's: on MLX's CPU backend a float32 sum stops at a fifth of an integer sum's
rate, and on CUDA the 4-bit product at under a quarter of bfloat16's. So several run, and all are reported.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.worker.jobs.probe_size import usable_cores
from workbench.worker.jobs.stamp import backend

if TYPE_CHECKING:
    import mlx.core as mx

ARRAYS = 4
"""A batch goes round this many arrays, which have the probe's whole size together."""
_GPU_BATCH = 12
_MOST_STREAMS = 16
_COLUMNS = 4096
_GROUP = 64
_BLOCK_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Kernel:
    """One kernel with its arrays filled. `bytes` is what one of the `batched` operations reads and writes."""

    name: str
    dtype: str
    bytes: int
    batched: int
    batch: Callable[[], "list[mx.array]"]


Maker = Callable[[int], Kernel]
"""Makes a kernel with arrays of so many bytes in total."""


def quick_kernels() -> list[Maker]:
    """The reductions that reach the memory's limit: float32 on a GPU, integers on a CPU (one core, all)."""
    if backend() != "cpu":
        return [_sum_float32]
    streams = min(usable_cores(), _MOST_STREAMS)
    return [_sum_uint32, *([partial(_sum_uint32, streams=streams)] if streams > 1 else [])]


def full_kernels() -> list[Maker]:
    """Every kernel: the reductions, a copy, and matrix times vector in three weight formats."""
    other_sum = _sum_float32 if backend() == "cpu" else _sum_uint32
    return [*quick_kernels(), other_sum, _copy, _matvec_float32, _matvec_bfloat16, _matvec_4bit]


def _sum_uint32(total_bytes: int, streams: int = 1) -> Kernel:
    """With several streams (on a CPU a thread each) every one sums its part of each array."""
    import mlx.core as mx

    part_bytes = total_bytes // ARRAYS // streams
    arrays = [[_random_words(part_bytes) for _ in range(streams)] for _ in range(ARRAYS)]
    device = mx.default_device()
    on = [mx.default_stream(device)] if streams == 1 else [mx.new_stream(device) for _ in range(streams)]
    used = _round(arrays)
    return Kernel(
        "sum" if streams == 1 else f"sum, {streams} streams",
        "uint32",
        sum(part.nbytes for part in arrays[0]),
        len(used),
        lambda: [
            mx.sum(part, stream=stream) for parts in used for part, stream in zip(parts, on, strict=True)
        ],
    )


def _sum_float32(total_bytes: int) -> Kernel:
    import mlx.core as mx

    arrays = _round([_random_floats(total_bytes // ARRAYS) for _ in range(ARRAYS)])
    return Kernel(
        "sum", "float32", arrays[0].nbytes, len(arrays), lambda: [mx.sum(array) for array in arrays]
    )


def _copy(total_bytes: int) -> Kernel:
    """One read and one write: the array negated, since a plain copy may be elided."""
    arrays = [_random_floats(total_bytes // ARRAYS) for _ in range(ARRAYS)]
    return Kernel("copy", "float32", 2 * arrays[0].nbytes, ARRAYS, lambda: [-array for array in arrays])


def _matvec_float32(total_bytes: int) -> Kernel:
    import mlx.core as mx

    return _matvec(total_bytes, mx.float32, "float32")


def _matvec_bfloat16(total_bytes: int) -> Kernel:
    import mlx.core as mx

    return _matvec(total_bytes, mx.bfloat16, "bfloat16")


def _matvec(total_bytes: int, dtype: "mx.Dtype", name: str) -> Kernel:

    rows = max(1, total_bytes // ARRAYS // (_COLUMNS * dtype.size))
    matrices = _round([_matrix(rows, _COLUMNS, dtype) for _ in range(ARRAYS)])
    vector = _matrix(1, _COLUMNS, dtype)
    return Kernel(
        "matvec",
        name,
        matrices[0].nbytes,
        len(matrices),
        lambda: [vector @ matrix.T for matrix in matrices],  # the form of a decode step's linear layers
    )


def _matvec_4bit(total_bytes: int) -> Kernel:
    """MLX's affine 4-bit weights in groups of 64, with bfloat16 scales and biases, as in checkpoints."""
    import mlx.core as mx

    if backend() == "cpu":  # a hundred times slower than the memory: the whole size would take minutes
        total_bytes //= 16
    rows = max(1, total_bytes // ARRAYS // (_COLUMNS // 2 + 4 * _COLUMNS // _GROUP))
    vector = _matrix(1, _COLUMNS, mx.bfloat16)
    matrices = _round(
        [
            (
                _random_words(rows * _COLUMNS // 2).reshape(rows, _COLUMNS // 8),
                _matrix(rows, _COLUMNS // _GROUP, mx.bfloat16),
                _matrix(rows, _COLUMNS // _GROUP, mx.bfloat16),
            )
            for _ in range(ARRAYS)
        ]
    )
    mx.eval(vector, matrices)
    return Kernel(
        "matvec",
        "4-bit",
        sum(part.nbytes for part in matrices[0]),
        len(matrices),
        lambda: [
            mx.quantized_matmul(vector, packed, scales, biases, group_size=_GROUP, bits=4)
            for packed, scales, biases in matrices
        ],
    )


def _round(arrays: Sequence[Any]) -> list[Any]:
    """The arrays of one batch: each once on a CPU, three times round on a GPU, where a launch costs more."""
    return list(arrays) if backend() == "cpu" else list(arrays) * (_GPU_BATCH // len(arrays))


def _matrix(rows: int, columns: int, dtype: "mx.Dtype") -> "mx.array":
    import mlx.core as mx

    matrix = _random_floats(4 * rows * columns).astype(dtype).reshape(rows, columns)
    mx.eval(matrix)
    return matrix


def _random_words(nbytes: int) -> "mx.array":
    """Random uint32 of `nbytes`; zeros could be compressed or shared by the memory system."""
    import mlx.core as mx

    return _filled(nbytes, lambda count: mx.random.randint(0, 2**31 - 1, (count,), dtype=mx.uint32))


def _random_floats(nbytes: int) -> "mx.array":
    """Random float32 between -1 and 1 of `nbytes`."""
    import mlx.core as mx

    return _filled(nbytes, lambda count: mx.random.uniform(-1, 1, (count,)))


def _filled(nbytes: int, random: Callable[[int], "mx.array"]) -> "mx.array":
    """`nbytes` of one random block, repeated: drawing every number would take longer than the probe."""
    import mlx.core as mx

    words, block_words = max(1, nbytes // 4), _BLOCK_BYTES // 4
    block = random(min(words, block_words))
    whole, rest = divmod(words, block.size)
    array = mx.concatenate([block] * whole + ([block[:rest]] if rest else []))
    mx.eval(array)
    return array
