"""Resident bytes: what mlx-lm makes of a stored tensor when it loads it.

From mlx_lm.utils.load_model and the architectures' sanitize (0.32): fp8 with scales is widened to bf16,
AWQ's packed zeros become 16-bit biases, mxfp4, mxfp8, nvfp4 and affine weights stay packed.
"""

from dataclasses import dataclass

from workbench.checkpoint.checkpoint import Checkpoint, Tensor
from workbench.checkpoint.model_config import ModelConfig

FP8 = frozenset({"F8_E4M3", "F8_E5M2", "F8_E4M3FN"})
DROPPED_ON_LOAD = (".g_idx", ".weight_shape", ".input_scale", ".activation_scale", ".weight_g_idx")


@dataclass(frozen=True, slots=True)
class Loading:
    """How tensors change on the way into memory. `widens` : fp8 weights become bf16 and lose their scales."""

    widens: bool = False
    unpacks_zeros: bool = False

    @property
    def changes(self) -> bool:
        """Whether anything is stored otherwise than it is kept in memory."""
        return self.widens or self.unpacks_zeros

    def resident_bytes(self, tensor: Tensor) -> int:
        """Bytes of the tensor in memory, if it is loaded at all."""
        if self.widens:
            if tensor.dtype in FP8:
                return 2 * tensor.nbytes
            if tensor.name.endswith("_scale_inv"):
                return 0
        if self.unpacks_zeros and tensor.name.endswith(".qzeros"):
            return 4 * tensor.nbytes
        return tensor.nbytes


def loading(checkpoint: Checkpoint, config: ModelConfig) -> Loading:
    """What this checkpoint's loading changes."""
    if checkpoint.gguf is not None:
        return Loading()
    mode = config.quantization.mode if config.quantization else ""
    scaled = any(tensor.name.endswith("_scale_inv") for tensor in checkpoint.tensors)
    return Loading(widens=scaled, unpacks_zeros=mode in {"awq", "gptq"})
