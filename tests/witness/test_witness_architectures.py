"""The witness over every architecture that mlx-lm ships, against truth by execution and against the count."""

from functools import cache

import pytest

from tests.witness.explained import COUNT, NOT_WITNESSED, TRUTH
from tests.witness.looking import configurations, from_truth, look, saved_by_mlx_lm, truth
from workbench.accounting.engine import count
from workbench.errors import WorkerError
from workbench.witness.agreement import TOLERANCE, compare

FOUND = truth()
OWN = configurations()
NVFP4 = {"group_size": 16, "bits": 4, "mode": "nvfp4"}


@cache
def seen(name):
    """The checkpoint of one entry, and its reading after 3 tokens."""
    checkpoint = from_truth(FOUND[name]) if name in FOUND else saved_by_mlx_lm(OWN[name])
    return checkpoint, look(checkpoint)[0]


@pytest.mark.parametrize("name", FOUND)
def test_the_graph_reads_what_execution_found(name):
    _, reading = seen(name)
    expected = FOUND[name]["bytes_per_token"]
    if name in TRUTH:
        assert abs(reading.weight_bytes / expected - 1) > TOLERANCE, "explained, but no longer different"
        return
    assert reading.weight_bytes == pytest.approx(expected, rel=TOLERANCE)
    assert not reading.unknown
    if not reading.assumed_routing:
        kinds = {read.name: read.kind for read in reading.reads}
        assert kinds == {tensor: entry[2] for tensor, entry in FOUND[name]["tensors"].items()}


def test_deepseek_v41_agrees_with_execution_where_execution_looked():
    reading = look(seen("deepseek_v41")[0], 36)[0]
    assert reading.weight_bytes == FOUND["deepseek_v41"]["bytes_per_token"]


@pytest.mark.parametrize("name", [*FOUND, *OWN])
def test_count_and_graph_agree(name):
    if name in NOT_WITNESSED:
        with pytest.raises(WorkerError) as failure:
            seen(name)
        assert failure.value.code == NOT_WITNESSED[name]
        return
    checkpoint, reading = seen(name)
    agreement = compare(count(checkpoint), reading)
    assert (str(agreement.status) == "agrees") is (name not in COUNT), agreement.disagreements


def test_every_module_of_mlx_lm_is_in_the_sweep():
    import pkgutil
    from pathlib import Path

    import mlx_lm.models
    from mlx_lm.utils import MODEL_ARCHITECTURE_REMAPPING, MODEL_REMAPPING

    needs_a_package = {"olmo"}
    modules = {
        module.name
        for module in pkgutil.iter_modules(mlx_lm.models.__path__)
        if "\nclass Model(" in (Path(mlx_lm.models.__path__[0]) / f"{module.name}.py").read_text()
    }
    swept = set()
    for config in [*(entry["config"] for entry in FOUND.values()), *OWN.values()]:
        kind = config["model_type"]
        named = MODEL_ARCHITECTURE_REMAPPING.get((kind, (config.get("architectures") or [""])[0]))
        swept.add(named or MODEL_REMAPPING.get(kind, kind))
    assert modules - swept == needs_a_package


@pytest.mark.parametrize("global_scale", [False, True])
def test_packed_experts_are_read_by_k_of_e_with_their_scales(global_scale):
    from mlx import nn

    def only_experts(path, module):
        scaled = {"global_scale": True} if global_scale else {}
        return "switch_mlp" in path and hasattr(module, "to_quantized") and NVFP4 | scaled

    found = saved_by_mlx_lm(
        OWN["olmoe"] | {"quantization": NVFP4}, lambda model: nn.quantize(model, class_predicate=only_experts)
    )
    reading = look(found)[0]
    on_disk = {tensor.name: tensor.nbytes for tensor in found.tensors}
    experts = [read for read in reading.reads if "switch_mlp" in read.name]
    assert len(experts) == 4 * 3 * (3 if global_scale else 2)
    assert all(read.kind == "experts" for read in experts)
    assert all(read.weight_bytes == on_disk[read.name] * 2 // 8 for read in experts)
