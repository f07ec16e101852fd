"""Several files and an index: each tensor counts once, and disagreement is told."""

import os

import pytest

from tests.checkpoint.malformed import NORM, TENSORS, TOTAL, dressed, whole
from tests.checkpoint.malformed_sets import shards
from tests.checkpoints import write_index, write_safetensors
from workbench.checkpoint.checkpoint import State
from workbench.checkpoint.reading import open_checkpoint


def codes(checkpoint):
    return [finding.code for finding in checkpoint.findings]


def test_a_single_file_beside_its_shards_is_counted_once(tmp_path):
    dressed(tmp_path)
    write_index(tmp_path, shards(tmp_path, 1, 2, total=2), {"total_size": TOTAL})
    write_safetensors(tmp_path / "model.safetensors", TENSORS)
    found = open_checkpoint(tmp_path)
    assert (found.state, found.disk_bytes) == (State.COMPLETE, TOTAL)
    assert [file.name for file in found.files] == [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    (skipped,) = found.skipped
    assert skipped.name == "model.safetensors"
    assert sum(tensor.nbytes for tensor in found.skipped_tensors) == TOTAL
    assert "tensor_in_several_files" in codes(found)


def test_without_an_index_the_later_file_wins_whole(tmp_path):
    dressed(tmp_path)
    shards(tmp_path, 1, 2, total=2)
    write_safetensors(tmp_path / "model.safetensors", [(n, "F32", s) for n, _, s in TENSORS])
    found = open_checkpoint(tmp_path)
    assert [file.name for file in found.files] == ["model.safetensors"]
    assert found.disk_bytes == 2 * TOTAL
    assert {tensor.file for tensor in found.tensors} == {0}
    assert "4 of them differ in size" in found.findings[0].message


def test_an_extra_file_counts_for_what_only_it_holds(tmp_path):
    dressed(tmp_path)
    write_index(tmp_path, shards(tmp_path, 1, 2, total=2), {"total_size": TOTAL})
    write_safetensors(tmp_path / "model-mtp.safetensors", [NORM, ("mtp.fc.weight", "BF16", [64, 64])])
    found = open_checkpoint(tmp_path)
    assert found.disk_bytes == TOTAL + 8192
    assert set(codes(found)) == {"tensor_in_several_files", "file_not_in_index"}
    (mtp,) = [tensor for tensor in found.tensors if tensor.name == "mtp.fc.weight"]
    assert found.files[mtp.file].name == "model-mtp.safetensors"
    assert [(skipped.name, skipped.bytes) for skipped in found.skipped] == [("model-mtp.safetensors", 128)]


def test_an_index_that_places_tensors_elsewhere_is_told(tmp_path):
    dressed(tmp_path)
    weight_map = shards(tmp_path, 1, 2, total=2)
    weight_map |= {NORM[0]: "model-00002-of-00002.safetensors", "ghost": "model-00001-of-00002.safetensors"}
    del weight_map["lm_head.weight"]
    write_index(tmp_path, weight_map, {})
    found = open_checkpoint(tmp_path)
    assert (found.state, found.disk_bytes) == (State.COMPLETE, TOTAL)
    assert codes(found) == ["index_disagrees", "index_incomplete"]
    assert "2 tensors" in found.findings[0].message


def test_an_index_of_an_earlier_sharding_is_stale_when_every_tensor_is_here(tmp_path):
    whole(tmp_path)
    write_index(
        tmp_path, dict.fromkeys([name for name, _, _ in TENSORS], "model-00001-of-00001.safetensors"), {}
    )
    found = open_checkpoint(tmp_path)
    assert (found.state, found.disk_bytes, codes(found)) == (State.COMPLETE, TOTAL, ["index_stale"])


def test_a_complete_set_beside_the_rest_of_the_indexed_one_is_taken(tmp_path):
    dressed(tmp_path)
    write_index(tmp_path, shards(tmp_path, 1, total=2), {})
    shards(tmp_path, 1, 2, 3, total=3)
    found = open_checkpoint(tmp_path)
    assert (found.state, found.disk_bytes) == (State.COMPLETE, TOTAL)
    assert {"index_stale", "stale_shards"} == set(codes(found))


@pytest.mark.parametrize("file", ["../model-x.safetensors", "/etc/passwd", "..\\x", ""])
def test_an_index_that_points_outside_is_refused_and_nothing_there_is_opened(tmp_path, file, monkeypatch):
    root = tmp_path / "model"
    root.mkdir()
    dressed(root)
    opened = []
    real = os.open
    monkeypatch.setattr(
        "workbench.checkpoint.files.os.open", lambda path, *a: opened.append(str(path)) or real(path, *a)
    )
    write_index(root, shards(root, 1, 2, total=2) | {"x": file}, {})
    found = open_checkpoint(root)
    assert (found.state, codes(found)) == (State.UNREADABLE, ["index_path_escape"])
    assert opened and all(path.startswith(str(root) + "/") for path in opened)
