"""model.safetensors.index.json, read pair by pair."""

import json

import pytest

from workbench.checkpoint.index import names_of, read_index, read_weight_map
from workbench.errors import CheckpointError

MAP = {
    "a.weight": "model-1.safetensors",
    "b.weight": "model-2.safetensors",
    "c.weight": "model-1.safetensors",
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors.index.json"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"metadata": {"total_size": 12}, "weight_map": MAP}),
        json.dumps({"weight_map": MAP, "metadata": {"total_size": 12.0}}, indent=2),
        "\ufeff" + json.dumps({"weight_map": MAP, "metadata": {"total_size": 12}, "x": ["{", {"y": "}"}]}),
    ],
)
def test_any_layout_of_the_json_gives_the_same_index(path, text):
    path.write_text(text, encoding="utf-8")
    index = read_index(path)
    assert index.total_size == 12
    assert index.files == {
        "model-1.safetensors": names_of(["c.weight", "a.weight"]),
        "model-2.safetensors": names_of(["b.weight"]),
    }
    assert dict(read_weight_map(path)) == MAP


def test_escapes_in_names_are_resolved(path):
    weight_map = {'quo"te': "model.safetensors", "é\\\n": "model.safetensors"}
    path.write_text(json.dumps({"weight_map": weight_map}))
    assert dict(read_weight_map(path)) == weight_map


@pytest.mark.parametrize("size", ["12", None, -1, 2**70, float("nan"), [12]])
def test_a_total_that_is_no_size_is_none(path, size):
    path.write_text(json.dumps({"metadata": {"total_size": size}, "weight_map": MAP}))
    assert read_index(path).total_size is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"weight_map": {}}',
        '{"weight_map": []}',
        '{"weight_map": {"a": 5}}',
        '{"weight_map": {"a": "x"',
        '{"weight_map": {"a": "x", "b"',
        '{"weight_map": {"a": "\\q"}}',
        '{"metadata": ' + "[" * 100_000,
        '{"weight_map": {"a": "x"}, ',
        '{5: {"a": "x"}}',
    ],
)
def test_what_is_no_index_is_refused(path, text):
    path.write_text(text)
    with pytest.raises(CheckpointError) as error:
        read_index(path)
    assert error.value.code == "index_unreadable"


def test_a_long_text_without_an_end_is_refused_in_linear_time(path):
    path.write_text('{"weight_map": {"' + "a\\\\" * 1_000_000)
    with pytest.raises(CheckpointError, match="breaks off"):
        read_index(path)
