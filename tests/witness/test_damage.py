"""The witness put to the proof: every claim of the graph tried with damaged weights on a real step."""

import json

import mlx.core as mx
import pytest

from tests.witness.looking import configurations, saved_by_mlx_lm, truth
from workbench.accounting.engine import count
from workbench.checkpoint.reading import open_checkpoint
from workbench.errors import WorkerError
from workbench.protocol import proving
from workbench.protocol.proving import prove
from workbench.witness.groups import by_role
from workbench.worker.jobs.damage import run
from workbench.worker.jobs.damaging.harm import in_rows, noise, not_a_number
from workbench.worker.messages import DamageRequest


async def test_every_part_of_a_mixture_behaves_as_the_graph_says(tiny):
    found = open_checkpoint(tiny["tiny-mixture"])
    trials = [trial async for trial in prove(found, count(found))]
    outcome = {(trial.label, trial.part): trial.moved for trial in trials}
    assert outcome == {
        ("vision", "not loaded"): False,
        ("embedding", "looked-up rows"): True,
        ("embedding", "other rows"): False,
        ("head", "read"): True,
        ("expert", "chosen experts"): True,
        ("expert", "other experts"): False,
        ("shared_expert", "read"): True,
        ("router", "read"): True,
        ("attention", "read"): True,
        ("linear_attention", "read"): True,
        ("norm", "read"): True,
    }
    assert all(trial.moved is trial.expected for trial in trials)
    bytes_of = {(trial.label, trial.part): trial.damaged_bytes for trial in trials}
    assert bytes_of["expert", "other experts"] == 3 * bytes_of["expert", "chosen experts"]  # 2 of 8 chosen
    assert bytes_of["embedding", "looked-up rows"] == 64 * 4
    assert all((trial.max_change == 0) is not trial.moved for trial in trials)


def real(config, directory, rename=None):
    """A checkpoint with random weights as mlx-lm names them, or as `rename` makes of {name: array}."""
    mx.random.seed(1)
    tensors = {
        tensor.name: mx.random.normal(tensor.shape) * 0.1 for tensor in saved_by_mlx_lm(config).tensors
    }
    directory.mkdir()
    mx.save_safetensors(str(directory / "model.safetensors"), rename(tensors) if rename else tensors)
    (directory / "config.json").write_text(json.dumps(config))
    return directory


def trials_of(path):
    said = []
    run(DamageRequest(str(path), by_role(count(open_checkpoint(path)))), said.append)
    assert all(trial.moved is trial.expected for trial in said)
    return {(trial.label, trial.part): trial for trial in said}


def one_tensor_an_expert(tensors):
    unstacked = {}
    for name, array in tensors.items():
        if "switch_mlp" in name:
            for e in range(array.shape[0]):
                unstacked[name.replace("switch_mlp", f"experts.{e}")] = array[e]
        else:
            unstacked[name] = array
    return unstacked


def as_bits(tensors):
    packed = {
        tensor.name for tensor in saved_by_mlx_lm(configurations()["bitnet"]).tensors if tensor.dtype == "U8"
    }
    return {name: array.astype(mx.uint8) if name in packed else array for name, array in tensors.items()}


def test_experts_in_tensors_of_their_own_are_told_apart(tmp_path):
    trials = trials_of(real(configurations()["olmoe"], tmp_path / "olmoe", one_tensor_an_expert))
    layers, matrices, experts, chosen = 4, 3, 8, 2
    assert trials["expert", "chosen experts"].tensors == layers * matrices * chosen
    assert trials["expert", "other experts"].tensors == layers * matrices * (experts - chosen)


def test_projections_that_share_another_layers_cache_can_be_destroyed(tmp_path):
    trials = trials_of(real(truth()["gemma3n"]["config"], tmp_path / "gemma3n"))
    assert not trials["attention", "never read"].moved
    assert trials["attention", "read"].moved
    assert trials["embedding", "looked-up rows"].moved  # of the per-layer table
    assert not trials["embedding", "other rows"].moved
    assert trials["embedding", "read"].moved  # the tied table


def test_a_model_that_this_backend_cannot_run_is_not_proven_in_words(tmp_path):
    path = real(configurations()["bitnet"], tmp_path / "bitnet", as_bits)
    if mx.metal.is_available():
        pytest.skip("here it can")
    with pytest.raises(WorkerError) as failure:
        trials_of(path)
    assert failure.value.code == "kernel_missing"
    assert "takes no real step here: the model needs a kernel" in failure.value.message


async def test_a_model_that_does_not_fit_is_not_loaded(tiny, monkeypatch):
    found = open_checkpoint(tiny["tiny-3"])
    monkeypatch.setattr(proving, "_PROOF_ROOM", 1e9)
    with pytest.raises(WorkerError, match=r"needs .* GB of memory"):
        [trial async for trial in prove(found, count(found))]


def test_noise_is_uneven_and_the_same_for_the_same_seed():
    x = mx.zeros((8, 8))
    once, again, other = noise("a", x, 1), noise("a", x, 1), noise("b", x, 1)
    assert mx.array_equal(once, again).item()
    assert not mx.array_equal(once, other).item()
    assert len(set(once.reshape(-1).tolist())) == 64


def test_noise_flips_bits_of_packed_weights():
    x = mx.zeros((4, 4), mx.uint32)
    assert noise("a", x, 0).dtype == mx.uint32
    assert not mx.array_equal(noise("a", x, 0), x).item()


def test_packed_weights_have_no_nan():
    x = mx.ones((4, 4), mx.uint32)
    assert mx.array_equal(not_a_number("a", x, 0), x).item()
    assert mx.all(mx.isnan(not_a_number("a", mx.ones((4,)), 0))).item()


def test_damage_stays_in_its_rows():
    x = mx.zeros((3, 2))
    assert in_rows(x + 1, x, {1}).tolist() == [[0, 0], [1, 1], [0, 0]]
    assert in_rows(x + 1, x, None).tolist() == [[1, 1]] * 3


def test_an_even_shift_of_a_router_bias_moves_nothing_and_noise_does():
    scores, bias = mx.array([0.1, 0.3, 0.2, 0.4]), mx.zeros((4,))

    def chosen(damaged):
        return set(mx.argpartition(-(scores + damaged), kth=1)[:2].tolist())

    assert chosen(bias + 5) == chosen(bias)
    assert any(chosen(noise("bias", bias, seed)) != chosen(bias) for seed in range(8))
