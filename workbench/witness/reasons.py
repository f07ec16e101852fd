"""Why a checkpoint stands unwitnessed, in words: one sentence for every reason. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from workbench.escape import visible


class Reason(StrEnum):
    """A stable code for scripts; `SENTENCES` has the words."""

    GGUF = "gguf"
    NO_CONFIG = "no_config"
    UNSUPPORTED_TYPE = "unsupported_type"
    REMOTE_CODE = "remote_code"
    CONFIG_INCOMPLETE = "config_incomplete"
    CONFIG_WRONG = "config_wrong"
    MISMATCH = "mismatch"
    INCOMPLETE = "incomplete"
    UNSUPPORTED_DTYPE = "unsupported_dtype"
    UNSUPPORTED_QUANTIZATION = "unsupported_quantization"
    EVALUATES = "evaluates"
    KERNEL_MISSING = "kernel_missing"
    NOT_EXPORTABLE = "not_exportable"
    OUT_OF_TIME = "out_of_time"
    OUT_OF_MEMORY = "out_of_memory"
    BACKEND_MISSING = "backend_missing"
    CRASHED = "crashed"
    FAILED = "failed"


SENTENCES: dict[Reason, str] = {
    Reason.GGUF: "mlx-lm loads no GGUF files, so there is no decode graph to look at",
    Reason.NO_CONFIG: "there is no usable config.json to build the model from",
    Reason.UNSUPPORTED_TYPE: "this mlx-lm does not know the model type",
    Reason.REMOTE_CODE: "the checkpoint wants to run its own code, which this program never does",
    Reason.CONFIG_INCOMPLETE: "config.json lacks what the model class needs",
    Reason.CONFIG_WRONG: "mlx-lm builds no model from what config.json says",
    Reason.MISMATCH: "the tensors do not have the shapes that config.json describes",
    Reason.INCOMPLETE: "tensors are missing that the model needs, and mlx-lm would not load it",
    Reason.UNSUPPORTED_DTYPE: "mlx cannot read this type of tensor",
    Reason.UNSUPPORTED_QUANTIZATION: "this mlx-lm does not know the quantization",
    Reason.EVALUATES: "the model computes values while it is built or run, which would load weights",
    Reason.KERNEL_MISSING: "the model needs a kernel that this backend does not have",
    Reason.NOT_EXPORTABLE: "the model uses an operation that mlx cannot export",
    Reason.OUT_OF_TIME: "the trace did not end within its time limit and was stopped",
    Reason.OUT_OF_MEMORY: "the trace took more memory than headers can need and was stopped",
    Reason.BACKEND_MISSING: "mlx or mlx-lm is not installed in this Python",
    Reason.CRASHED: "the process that traced it crashed",
    Reason.FAILED: "the model could not be built or traced",
}


@dataclass(frozen=True, slots=True)
class NotWitnessed:
    """No graph: the count stands alone. `words` is one sentence without its full stop, safe to show."""

    reason: Reason
    words: str


def not_witnessed(reason: Reason, detail: str = "") -> NotWitnessed:
    """The reason's sentence with, in parentheses, the library's own word for it."""
    shown = visible(" ".join(detail.split()), 300) if detail else ""
    return NotWitnessed(reason, f"{SENTENCES[reason]} ({shown})" if shown else SENTENCES[reason])


def heard(code: str, words: str) -> NotWitnessed:
    """What another process said; a code that is no reason is a plain failure."""
    if code in Reason.__members__.values():
        return NotWitnessed(Reason(code), words)
    return not_witnessed(Reason.FAILED, words)
