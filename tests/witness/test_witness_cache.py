"""Readings kept on disk."""

from dataclasses import replace

import pytest

from tests.checkpoints import checkpoint
from workbench.witness.cache import keep, keep_failure, key, recall
from workbench.witness.reasons import Reason, not_witnessed
from workbench.witness.result import GraphReading, TensorRead

LIBRARIES = {"mlx-lm": "0.32.2", "mlx": "0.32.4"}
MADE = checkpoint({"a": ("F32", [2, 2]), "b": ("BF16", [4])}, {"model_type": "llama"})


def reading(context):
    return GraphReading(context, 10, 1, 20, 5, [TensorRead("a", "full", 10, 0, 16, 1)], mlx_lm="0.32.2")


def test_readings_come_back_and_contexts_add_up(tmp_path):
    keep(tmp_path, "x", [reading(3)])
    keep(tmp_path, "x", [reading(209), reading(1000)])
    assert recall(tmp_path, "x").readings == {n: reading(n) for n in (3, 209, 1000)}


def test_another_name_has_nothing(tmp_path):
    keep(tmp_path, "x", [reading(3)])
    assert recall(tmp_path, "y").readings == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"readings": {"3": 7}}', "\0\0"])
def test_a_spoiled_file_is_as_good_as_none(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    assert recall(tmp_path, "x").readings == {}
    keep(tmp_path, "x", [reading(3)])
    assert recall(tmp_path, "x").readings == {3: reading(3)}


def test_lasting_reasons_are_kept_and_passing_ones_are_not(tmp_path):
    keep_failure(tmp_path, "x", 209, not_witnessed(Reason.OUT_OF_TIME))
    assert recall(tmp_path, "x").failures == {}
    keep_failure(tmp_path, "x", 209, not_witnessed(Reason.EVALUATES, "dbrx"))
    assert recall(tmp_path, "x").failures == {209: not_witnessed(Reason.EVALUATES, "dbrx")}


def test_a_failure_at_one_context_spoils_no_other(tmp_path):
    keep(tmp_path, "x", [reading(209)])
    keep_failure(tmp_path, "x", 100_000, not_witnessed(Reason.EVALUATES))
    keep(tmp_path, "x", [reading(3)])
    kept = recall(tmp_path, "x")
    assert set(kept.readings) == {3, 209}
    assert set(kept.failures) == {100_000}


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path):
    (tmp_path / "file").write_text("")
    keep(tmp_path / "file" / "below", "x", [reading(3)])
    assert recall(tmp_path / "file" / "below", "x").readings == {}


def test_the_key_follows_config_headers_and_libraries_and_not_the_place():
    same = key(MADE, LIBRARIES)
    assert same == key(replace(MADE, path=MADE.path / "elsewhere", name="other"), LIBRARIES)
    changed = [
        key(replace(MADE, config={"model_type": "qwen3"}), LIBRARIES),
        key(replace(MADE, tensors=MADE.tensors[:1]), LIBRARIES),
        key(replace(MADE, tensors=(MADE.tensors[0]._replace(shape=(4, 1)), MADE.tensors[1])), LIBRARIES),
        key(MADE, LIBRARIES | {"mlx-lm": "0.33.0"}),
        key(MADE, LIBRARIES, b'{"quant_method": "modelopt"}'),
    ]
    assert len({same, *changed}) == 6


def test_no_half_written_file_is_left(tmp_path):
    keep(tmp_path, "x", [reading(3)])
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
