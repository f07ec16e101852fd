"""Checkpoints with a rule nobody thought of: the count misjudges them, and the graph says where."""

from tests.checkpoints import checkpoint
from tests.witness.looking import configurations, look, saved_by_mlx_lm, truth
from tests.witness.strange import known_to_mlx_lm, strange_checkpoint
from workbench.accounting.engine import count
from workbench.witness.agreement import Status, compare


def seal(found):
    return compare(count(found), look(found)[0])


def test_an_extra_tower_under_an_odd_name():
    lean = saved_by_mlx_lm(configurations()["qwen3_vl_moe"])
    tensors = {t.name: (t.dtype, t.shape) for t in lean.tensors}
    tower = "language_model.gizmo.blocks"  # elsewhere the count would see that it is no language model's
    tensors |= {f"{tower}.{i}.fc.weight": ("F32", (128, 128)) for i in range(4)}
    agreement = seal(checkpoint(tensors, lean.config))
    assert agreement.status is Status.DIFFERS
    assert agreement.bytes_in_force == seal(lean).graph_bytes == count(lean).weight_bytes
    (found,) = agreement.disagreements
    assert (found.pattern, found.tensors, found.graph_kind) == (f"{tower}.*.fc.weight", 4, "dropped")
    assert found.difference_bytes == -4 * 128 * 128 * 4


def test_a_second_pass_over_the_layers_that_the_configuration_does_not_tell():
    entry = truth()["iquestloopcoder"]
    silent = {key: value for key, value in entry["config"].items() if key != "loop_window_size"}
    agreement = seal(saved_by_mlx_lm(silent))
    assert agreement.status is Status.DIFFERS
    assert agreement.difference > 0.7
    assert agreement.disagreements[0].pattern.startswith("model.layers.*.")
    assert agreement.disagreements[0].graph_bytes == 2 * agreement.disagreements[0].count_bytes


def test_a_table_under_a_strange_name_and_layers_that_run_twice():
    found = strange_checkpoint(**{"gizmo.weight": ("F32", [64, 64])})
    with known_to_mlx_lm():
        reading = look(found)[0]
    by_name = {read.name: read for read in reading.reads}
    assert by_name["glyphs.weight"].kind == "lookup"
    assert by_name["glyphs.weight"].lookup_bytes == 64 * 4
    assert by_name["layers.0.weight"].reads == 2
    assert by_name["gizmo.weight"].kind == "dropped"
    assert reading.weight_bytes == 2 * 2 * (64 * 64 + 64) * 4 + 100 * 64 * 4
    agreement = compare(count(found), reading)
    assert agreement.status is Status.DIFFERS
    assert {d.pattern for d in agreement.disagreements} >= {"layers.*.weight", "gizmo.weight"}
