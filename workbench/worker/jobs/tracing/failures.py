"""What mlx and mlx-lm raise when a model cannot be built or traced, put into reasons."""

import re
import traceback

from workbench.witness.reasons import Reason
from workbench.worker.jobs.tracing.guards import EvaluatedError


def reason_of(error: BaseException) -> tuple[Reason, str]:
    """The reason and its detail. Matched on the messages of mlx 0.32 and mlx-lm 0.32."""
    message = str(error)
    if isinstance(error, EvaluatedError) or "during function transformations" in message:
        return Reason.EVALUATES, _where(error)
    if isinstance(error, MemoryError):
        return Reason.OUT_OF_MEMORY, ""
    for pattern, reason in _MESSAGES:
        if found := re.search(pattern, message):
            return reason, found[1] if found.groups() else message
    if "kernel" in _line(error) and (isinstance(error, RuntimeError) or "not callable" in message):
        return Reason.KERNEL_MISSING, _where(error)
    if isinstance(error, TypeError) and "__init__() missing" in message:
        return Reason.CONFIG_INCOMPLETE, message.split("missing", 1)[1].strip()
    passed = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    if isinstance(error, KeyError):
        reason = Reason.INCOMPLETE if passed & _TAKING_TENSORS else Reason.CONFIG_INCOMPLETE
        return reason, f"{_where(error)} looks for {message}"
    if isinstance(error, AttributeError) and "has no attribute 'Model" in message:
        return Reason.UNSUPPORTED_TYPE, ""
    detail = f"{type(error).__name__}: {message} in {_where(error)}"
    if "NoneType" in message:  # the class's own default for a key that is not there
        return Reason.CONFIG_INCOMPLETE, detail
    return Reason.CONFIG_WRONG if passed & _READING_CONFIG else Reason.FAILED, detail


_TAKING_TENSORS = {"sanitize", "infer_quant_config"}
_READING_CONFIG = {"_get_classes", "from_dict", "__post_init__", "__init__", "_quantize"}
"""Functions of mlx and mlx-lm; an error that passed one of them is about the tensors or the config."""

_QUANTIZATION = Reason.UNSUPPORTED_QUANTIZATION

_MESSAGES: list[tuple[str, Reason]] = [
    (r"Model type (.*) not supported", Reason.UNSUPPORTED_TYPE),
    (r"custom module \((.*?)\) to build", Reason.REMOTE_CODE),
    (r"Expected shape .* but received shape .*", Reason.MISMATCH),
    (r"unsupported dtype (\S+)", Reason.UNSUPPORTED_DTYPE),
    (r"[Uu]nsupported (modelopt quant_algo: .*|compressed-tensors format .*)", _QUANTIZATION),
    (r"(Cannot infer the quantization mode.*|Only .* is supported for AutoAWQ.*)", _QUANTIZATION),
    (r"Found (\S+g_idx) in weights", _QUANTIZATION),
    (r"Unable to get state for primitive (\S+)", Reason.NOT_EXPORTABLE),
    (r"\[(?:metal|cuda)_kernel\].*|.*only supported on the GPU.*", Reason.KERNEL_MISSING),
]


def _where(error: BaseException) -> str:
    """The innermost function of the libraries that the error passed, for example `dbrx.py, __call__`."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "mlx" in frame.filename]
    if not frames:
        return "the trace"
    return f"{frames[-1].filename.rsplit('/', 1)[-1]}, {frames[-1].name}"


def _line(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].line or "") if frames else ""
