"""Nothing may be evaluated while a graph is built: the guards that a trace runs under.

Inputs of an exported function are tracers, which mlx itself refuses to evaluate; what lies outside of the
function is guarded here. The patches are undone at the end, though the process ends with its one job.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock


class EvaluatedError(Exception):
    """The model's own code tried to compute values while its graph was built."""


@contextmanager
def nothing_evaluated() -> Iterator[None]:
    """Build graphs without computing: `mx.eval` raises EvaluatedError, compiled functions are spelled out.

    Three primitives cannot be exported (Contiguous, FromFP8, ToFP8). They move no weight from one place to
    another, so that a plain cast, or nothing, stands in for them. The scale of a whole expert, which only a
    GPU's `gather_qmm` takes, is multiplied onto what comes out.
    """
    import mlx.core as mx

    def as_type(array: Any, dtype: Any = mx.bfloat16, **_: Any) -> Any:
        return array.astype(dtype)

    def to_byte(array: Any, **_: Any) -> Any:
        return array.astype(mx.uint8)

    def itself(array: Any, *_: Any, **__: Any) -> Any:
        return array

    gather_qmm = mx.gather_qmm

    def scaled_after(*arguments: Any, global_scale: Any = None, **named: Any) -> Any:
        out = gather_qmm(*arguments, **named)
        return out if global_scale is None else out * global_scale[named["rhs_indices"]][..., None, None]

    device = mx.default_device()
    mx.disable_compile()
    mx.set_default_device(mx.cpu)  # on a GPU some models choose kernels that cannot be exported
    try:
        with ExitStack() as patches:
            for name, stand_in in {
                "eval": _refuse,
                "async_eval": _refuse,
                "contiguous": itself,
                "from_fp8": as_type,
                "to_fp8": to_byte,
                "gather_qmm": scaled_after,
            }.items():
                patches.enter_context(mock.patch.object(mx, name, stand_in))
            yield
    finally:
        mx.set_default_device(device)
        mx.enable_compile()


@contextmanager
def routing_assumed() -> Iterator[None]:
    """Let a model ask for its routing (`tolist` on indices that have no values): it is told 0, 1, ... k-1.

    Which experts a step reads does not change how many bytes it reads.
    """
    import mlx.core as mx

    def first_ones(array: Any) -> Any:
        if not mx.issubdtype(array.dtype, mx.integer):
            raise EvaluatedError("values were asked for while the graph was built")
        row: Any = list(range(array.shape[-1])) if array.ndim else 0
        for length in reversed(array.shape[:-1]):
            row = [row] * length
        return row

    with mock.patch.object(mx.array, "tolist", first_ones):
        yield


def _refuse(*_: Any, **__: Any) -> None:
    raise EvaluatedError("mx.eval was called while the graph was built")
