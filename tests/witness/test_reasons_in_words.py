"""Why a checkpoint stands unwitnessed: whatever mlx and mlx-lm raise is a reason in words."""

import json

import pytest

from tests.checkpoints import checkpoint, in_memory
from tests.witness.looking import configurations, from_truth, look, saved_by_mlx_lm, truth
from tests.witness.strange import known_to_mlx_lm, strange_checkpoint
from workbench.errors import WorkerError


def failure_of(found):
    with pytest.raises(WorkerError) as failure:
        look(found)
    return failure.value.code, failure.value.message


LLAMA = {
    "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "intermediate_size": 128,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 128, "rms_norm_eps": 1e-5,
}  # fmt: skip


def llama(**changes):
    found = saved_by_mlx_lm(LLAMA)
    return checkpoint({t.name: (t.dtype, t.shape) for t in found.tensors}, LLAMA | changes)


def without(config, key):
    return {name: value for name, value in config.items() if name != key}


def test_a_model_type_that_mlx_lm_does_not_have():
    assert failure_of(llama(model_type="not_yet")) == (
        "unsupported_type",
        "this mlx-lm does not know the model type (not_yet)",
    )


def test_a_module_of_mlx_lm_that_is_no_model():
    assert failure_of(llama(model_type="base"))[0] == "unsupported_type"


def test_a_model_whose_module_ends_the_process():
    assert failure_of(llama(model_type="olmo"))[0] == "unsupported_type"


def test_a_checkpoint_that_brings_code():
    code, words = failure_of(llama(model_file="evil.py"))
    assert code == "remote_code"
    assert "never does" in words


def test_a_configuration_without_model_type():
    found = llama()
    code, words = failure_of(checkpoint({t.name: (t.dtype, t.shape) for t in found.tensors}, {"a": 1}))
    assert code == "config_incomplete"
    assert "model_type" in words


def test_a_configuration_that_lacks_a_field():
    tensors = {t.name: (t.dtype, t.shape) for t in llama().tensors}
    code, words = failure_of(checkpoint(tensors, without(LLAMA, "hidden_size")))
    assert code == "config_incomplete"
    assert "hidden_size" in words


def test_shapes_that_the_configuration_does_not_describe():
    code, words = failure_of(llama(hidden_size=32))
    assert code == "mismatch"
    assert "Expected shape" in words


@pytest.mark.parametrize(
    "quantization", [None, {"bits": 4, "group_size": 64, "model.layers.0.mlp.up_proj": False}]
)
def test_packed_weights_that_the_configuration_does_not_tell_of(quantization):
    packed = in_memory("mlx-Llama-3.2-1B-Instruct-4bit")
    silent = {key: value for key, value in packed.config.items() if not key.startswith("quantization")}
    config = silent | ({"quantization": quantization} if quantization else {})
    code, words = failure_of(checkpoint({t.name: (t.dtype, t.shape) for t in packed.tensors}, config))
    assert code == "mismatch"
    assert "no place for" in words


def test_missing_tensors():
    tensors = {t.name: (t.dtype, t.shape) for t in llama().tensors if "q_proj" not in t.name}
    code, words = failure_of(checkpoint(tensors, LLAMA))
    assert code == "incomplete"
    assert "model.layers.0.self_attn.q_proj.weight" in words


def test_scales_without_their_weight():
    tensors = {t.name: (t.dtype, t.shape) for t in llama().tensors if "q_proj" not in t.name}
    tensors["model.layers.0.self_attn.q_proj.scales"] = ("F32", [64, 2])
    found = checkpoint(tensors, LLAMA | {"quantization": {"group_size": 32, "bits": 4}})
    code, words = failure_of(found)
    assert code == "incomplete"
    assert "q_proj.weight" in words


def test_a_module_that_sanitize_misses():
    config = configurations()["qwen3_vl_moe"]
    tensors = {t.name: (t.dtype, t.shape) for t in saved_by_mlx_lm(config).tensors if "lm_head" not in t.name}
    code, words = failure_of(checkpoint(tensors, config))
    assert code == "incomplete"
    assert "lm_head" in words


def without_key(name, *keys):
    """An architecture's checkpoint whose configuration lacks one (nested) key."""
    config = json.loads(json.dumps(truth()[name]["config"] if name in truth() else configurations()[name]))
    inner = config
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    whole = from_truth(truth()[name]) if name in truth() else saved_by_mlx_lm(configurations()[name])
    return checkpoint({t.name: (t.dtype, t.shape) for t in whole.tensors}, config)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ministral3", ["rope_parameters"]),  # the class says None and looks into it while it is built
        ("granitemoehybrid", ["num_experts_per_tok"]),  # ... while it runs
        ("granitemoehybrid", ["mamba_d_conv"]),  # a convolution's kernel_size, in a line with that word
        ("minimax_m3_vl", ["text_config", "sparse_attention_config", "sparse_topk_blocks"]),
    ],
)
def test_a_key_whose_default_is_none_is_missing(name, keys):
    code, words = failure_of(without_key(name, *keys))
    assert code == "config_incomplete"
    assert "NoneType" in words or keys[-1] in words


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("nemotron-nas", ["num_hidden_layers"]),
        ("qwen3_5", ["linear_num_key_heads"]),
        ("cohere2", ["head_dim"]),
    ],
)
def test_defaults_that_contradict_the_rest_of_the_configuration(name, keys):
    code, words = failure_of(without_key(name, *keys))
    assert code == "config_wrong"
    assert "mlx-lm builds no model" in words


@pytest.mark.parametrize(
    "lies",
    [
        {"num_attention_heads": -1},
        {"hidden_size": "wide"},
        {"num_hidden_layers": {}},
        {"rms_norm_eps": [1e-5], "num_key_value_heads": 0},
        {"model_type": ["llama"]},
        {"architectures": 7},
        {"quantization": 7},
    ],
    ids=str,
)
def test_a_configuration_of_nonsense(lies):
    assert failure_of(llama(**lies))[0] in {"config_wrong", "config_incomplete", "mismatch"}


def test_a_type_of_tensor_that_mlx_cannot_read():
    tensors = {t.name: (t.dtype, t.shape) for t in llama().tensors} | {"model.norm.weight": ("F4", [64])}
    assert failure_of(checkpoint(tensors, LLAMA))[0] == "unsupported_dtype"


@pytest.mark.parametrize(
    ("quantization", "word"),
    [
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "FP8"),
        ({"quant_method": "compressed-tensors", "format": "float-quantized"}, "float-quantized"),
        ({"quant_method": "awq", "bits": 3}, "bits=3"),
    ],
)
def test_a_quantization_that_mlx_lm_does_not_know(quantization, word):
    code, words = failure_of(llama(quantization_config=quantization))
    assert code == "unsupported_quantization"
    assert word in words


def test_a_kernel_that_this_backend_does_not_have():
    def call_a_missing_kernel(x):
        _fast_kernel = None
        return _fast_kernel(x)

    with known_to_mlx_lm(middle=call_a_missing_kernel):
        assert failure_of(strange_checkpoint())[0] == "kernel_missing"


def test_tensors_that_the_model_has_no_place_for_are_named_and_change_nothing():
    found = llama()
    tensors = {t.name: (t.dtype, t.shape) for t in found.tensors}
    reading = look(checkpoint({**tensors, "model.layers.0.surprise.weight": ("F32", [8, 8])}, LLAMA))[0]
    assert reading.unknown == ["model.layers.0.surprise.weight"]
    assert reading.weight_bytes == look(found)[0].weight_bytes
    assert {r.name: r.kind for r in reading.reads}["model.layers.0.surprise.weight"] == "dropped"
