"""The witness over the published checkpoints' headers: the right bytes, to the byte."""

import os
import re

import pytest

from tests.checkpoints import checkpoint, fixture, in_memory, names
from tests.witness.looking import look
from workbench.accounting.engine import count
from workbench.worker.jobs.tracing import loading

PUBLISHED = [name for name in names() if not name.startswith("gguf-")]


ALIKE = {
    "hf-DeepSeek-V3", "hf-Qwen3-30B-A3B", "mlx-DeepSeek-R1-4bit", "mlx-GLM-4.5-Air-4bit",
    "mlx-OLMoE-1B-7B-4bit",
    "mlx-Qwen3-14B-MLX-4bit", "mlx-Qwen3-30B-A3B-4bit", "mlx-Qwen3.5-0.8B-4bit", "mlx-Qwen3.5-27B-4bit",
    "mlx-Qwen3.5-2B-4bit", "mlx-Qwen3.5-2B-8bit", "mlx-Qwen3.5-4B-4bit", "mlx-Qwen3.5-9B-8bit",
    "mlx-SmolLM2-135M-4bit", "mlx-gpt-oss-20b-MXFP4-Q8",
}  # fmt: skip
"""Large, or of the same structure as another one: traced with WORKBENCH_SLOW_TESTS and by tests/bench."""

slow = pytest.mark.skipif("WORKBENCH_SLOW_TESTS" not in os.environ, reason="of a structure that is tested")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[slow] if n in ALIKE else []) for n in PUBLISHED])
def test_the_graph_reads_the_right_bytes(name):
    found = in_memory(name)
    reading = look(found)[0]
    assert reading.weight_bytes == fixture(name)["expect"]["truth"]["per_token"]
    counted = count(found)
    assert reading.resident_bytes == counted.resident_bytes
    assert reading.lookup_bytes == counted.lookup_bytes
    assert not reading.unknown


def shrunk_deepseek_v3(layers=3, experts=8):
    """The published headers (Hugging Face names, fp8) with fewer layers and experts."""
    whole = in_memory("hf-DeepSeek-V3")
    config = dict(whole.config) | {
        "num_hidden_layers": layers,
        "n_routed_experts": experts,
        "first_k_dense_replace": 1,
        "n_group": 1,
        "topk_group": 1,
    }
    names = {"model.layers.0": "model.layers.0"} | {
        f"model.layers.{i}": f"model.layers.{i + 2}" for i in range(1, layers)
    }
    tensors = {}
    for tensor in whole.tensors:
        for new, old in names.items():
            if tensor.name.startswith(f"{old}."):
                expert = re.search(r"experts\.(\d+)\.", tensor.name)
                if expert is None or int(expert[1]) < experts:
                    shape = [
                        experts if size == 256 and ".gate." in tensor.name else size for size in tensor.shape
                    ]
                    tensors[tensor.name.replace(old, new, 1)] = (tensor.dtype, shape)
        if ".layers." not in tensor.name:
            tensors[tensor.name] = (tensor.dtype, tensor.shape)
    return checkpoint(tensors, config)


@pytest.mark.parametrize("make", [shrunk_deepseek_v3, lambda: in_memory("hf-Mixtral-8x7B")])
def test_layer_by_layer_is_the_same_as_at_once(make, monkeypatch):
    found = make()
    at_once = look(found)[0]
    monkeypatch.setattr(loading, "_LAYERWISE_FROM", 10)
    layer_by_layer = look(found)[0]
    assert layer_by_layer.reads == at_once.reads
    assert layer_by_layer.weight_bytes == count(found).weight_bytes


def test_all_37_are_there():
    assert len(PUBLISHED) == 37
