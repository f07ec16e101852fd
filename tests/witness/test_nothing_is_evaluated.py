"""A model that computes while its graph is built is stopped."""

import mlx.core as mx
import pytest

from tests.checkpoints import in_memory
from tests.witness.looking import configurations, from_truth, look, saved_by_mlx_lm, truth
from tests.witness.strange import known_to_mlx_lm, strange_checkpoint
from workbench.errors import WorkerError

OUTSIDE = mx.zeros((64,))


def evaluate(x):
    mx.eval(x)  # looked up when it is called: the guard stands in its place then


def evaluate_soon(x):
    mx.async_eval(x)


EVALUATING = {
    "item": lambda x: mx.sum(x).item(),
    "tolist of floats": lambda x: x.tolist(),
    "float": lambda x: float(mx.sum(x)),
    "int": lambda x: int(mx.sum(x)),
    "a branch": lambda x: bool(mx.any(x > 0)),
    "numpy": lambda x: __import__("numpy").asarray(x),
    "repr": repr,
    "mx.eval of the state": evaluate,
    "mx.eval of something else": lambda _: evaluate(OUTSIDE),
    "mx.async_eval": evaluate_soon,
    "saving": lambda x: mx.save("/dev/null/never.npy", x),
}


@pytest.mark.parametrize("how", EVALUATING)
def test_a_forward_pass_that_evaluates_is_stopped(how):
    with known_to_mlx_lm(middle=EVALUATING[how]), pytest.raises(WorkerError) as failure:
        look(strange_checkpoint())
    assert failure.value.code == "evaluates"
    assert "would load weights" in failure.value.message


def test_a_sanitize_that_evaluates_is_stopped():
    def evaluate(weights):
        return mx.max(weights["glyphs.weight"]).item()

    with known_to_mlx_lm(cleanse=evaluate), pytest.raises(WorkerError) as failure:
        look(strange_checkpoint())
    assert failure.value.code == "evaluates"


def test_the_guards_are_gone_afterwards():
    look(in_memory("mlx-SmolLM2-135M-4bit"))
    x = mx.ones((3,))
    mx.eval(x)
    assert x.tolist() == [1, 1, 1]


def test_routing_that_is_asked_for_is_assumed_and_said():
    reading = look(from_truth(truth()["dbrx"]))[0]
    assert reading.assumed_routing


def test_a_model_is_traced_the_same_way_twice():
    config = configurations()["kimi_k3"]
    found = saved_by_mlx_lm(config)
    first, second, third = look(found, 3, 40, 3)
    assert first.reads == third.reads
    assert second.weight_bytes == first.weight_bytes
