"""A model of the tests' own, put where mlx-lm looks for its architectures; it can misbehave on demand."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx_lm.models.base import BaseModelArgs

from tests.checkpoints import checkpoint
from workbench.checkpoint.checkpoint import Checkpoint

NAME = "strange"


@dataclass
class ModelArgs(BaseModelArgs):
    model_type: str = NAME
    hidden_size: int = 64
    vocab_size: int = 100
    num_hidden_layers: int = 2


class Model(nn.Module):
    """A look-up table called glyphs, layers that run twice, a hook into the middle of the forward pass."""

    middle: Callable[[mx.array], Any] = staticmethod(lambda x: None)
    cleanse: Callable[[dict[str, mx.array]], Any] = staticmethod(lambda weights: None)

    def __init__(self, args: ModelArgs):
        super().__init__()
        self.glyphs = nn.Linear(args.hidden_size, args.vocab_size, bias=False)
        self.layers = [nn.Linear(args.hidden_size, args.hidden_size) for _ in range(args.num_hidden_layers)]
        self.lm_head = nn.Linear(args.hidden_size, args.vocab_size, bias=False)

    def __call__(self, inputs: mx.array, cache: Any = None) -> mx.array:
        x = self.glyphs.weight[inputs]
        for _ in range(2):
            for layer in self.layers:
                x = mx.tanh(layer(x))
                self.middle(x)
        return self.lm_head(x)

    def make_cache(self) -> list[Any]:
        return []

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        self.cleanse(weights)
        return {name: array for name, array in weights.items() if not name.startswith("gizmo.")}


def strange_checkpoint(**more: tuple[str, list[int]]) -> Checkpoint:
    """Its checkpoint: F32, 64 wide, 100 words, 2 layers."""
    tensors: dict[str, Any] = {"glyphs.weight": ("F32", [100, 64]), "lm_head.weight": ("F32", [100, 64])}
    for i in range(2):
        tensors |= {f"layers.{i}.weight": ("F32", [64, 64]), f"layers.{i}.bias": ("F32", [64])}
    return checkpoint(tensors | more, {"model_type": NAME, "hidden_size": 64, "vocab_size": 100})


@contextmanager
def known_to_mlx_lm(
    middle: Callable[[mx.array], Any] | None = None,
    cleanse: Callable[[dict[str, mx.array]], Any] | None = None,
) -> Iterator[None]:
    """Let mlx-lm find the model; `middle` runs on the hidden state of each layer, `cleanse` in sanitize."""
    hooks = {"middle": middle, "cleanse": cleanse}
    with taught_to_mlx_lm(
        type("Model", (Model,), {n: staticmethod(hook) for n, hook in hooks.items() if hook})
    ):
        yield


@contextmanager
def taught_to_mlx_lm(model_class: type[nn.Module]) -> Iterator[None]:
    """Let mlx-lm find `model_class` under NAME."""
    module: Any = ModuleType(f"mlx_lm.models.{NAME}")
    module.Model, module.ModelArgs = model_class, ModelArgs
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]
