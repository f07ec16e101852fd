"""Resident bytes: what mlx-lm makes of a stored tensor when it loads it.

From mlx_lm.utils.load_model and the architectures' sanitize (0.32): block-scaled fp8 is widened to bf16,
packed AWQ zeros become 16-bit biases, symmetric int4 gets biases it did not store; mxfp4, mxfp8, nvfp4 and
affine weights stay packed. What a rule says is dropped is not loaded at all.
"""

from collections.abc import Callable
from typing import NamedTuple

from workbench.accounting.survey import Pattern, Survey
from workbench.checkpoint.model_config import ModelConfig

FP8 = frozenset({"F8_E4M3", "F8_E5M2"})
DROPPED = frozenset(
    {"g_idx", "weight_g_idx", "weight_shape", "input_scale", "activation_scale", "qscale_act"}
)

Factor = Callable[[Pattern], int]


class Loading(NamedTuple):
    """`factor`: how many bytes in memory a stored byte of a pattern becomes. `change` says why, in words."""

    factor: Factor
    change: str = ""


def loading_of(survey: Survey, config: ModelConfig, gguf: bool) -> Loading:
    """What the runtime makes of the checkpoint's stored forms: factors are 0, 1, 2 or 4."""
    if gguf:
        return Loading(lambda _: 1)
    mode = config.quantization.mode if config.quantization else ""
    parameters = {pattern.path.parameter for pattern in survey.patterns}
    widens = "weight_scale_inv" in parameters and mode in {"", "fp8"} and not _is_mxfp8(config)
    awq = mode in {"awq", "gptq"} and "qweight" in parameters
    unbiased = awq and "qzeros" not in parameters
    symmetric = (
        mode == "compressed-tensors"
        and "weight_packed" in parameters
        and "weight_zero_point" not in parameters
    )

    def factor(pattern: Pattern) -> int:
        parameter = pattern.path.parameter
        if parameter in DROPPED:
            return 0
        if widens and (pattern.dtype in FP8 or parameter == "weight_scale_inv"):
            return 2 if pattern.dtype in FP8 else 0
        if awq and parameter == "qzeros":
            return 4
        biased = (symmetric and parameter == "weight_scale") or (unbiased and parameter == "scales")
        return 2 if biased else 1

    if widens:
        return Loading(factor, "fp8 is widened to bf16, and its scales are gone")
    if awq or symmetric:
        return Loading(factor, "each group of packed weights gets a 16-bit bias beside its scale")
    return Loading(factor)


def _is_mxfp8(config: ModelConfig) -> bool:
    """Power-of-two scales over 32x32 blocks are mxfp8: these weights stay packed."""
    for key in ("quantization_config", "quantization"):
        found = config.text.get(key)
        if isinstance(found, dict) and found.get("scale_fmt") == "ue8m0":
            return found.get("weight_block_size") == [32, 32]
    return False
