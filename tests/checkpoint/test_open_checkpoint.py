"""One door: published checkpoints read to the byte, directories in every disorder, single files."""

import json
import os
import sys

import pytest

from tests import checkpoints
from tests.checkpoint.malformed import CONFIG, TOTAL, whole
from tests.checkpoint.malformed_sets import shards
from tests.checkpoints import fixture, in_memory, materialize
from workbench.checkpoint.checkpoint import State
from workbench.checkpoint.reading import name_of, open_checkpoint
from workbench.errors import CheckpointError

SAFETENSORS = [name for name in checkpoints.names() if not name.startswith("gguf-")]


def codes(checkpoint):
    return [finding.code for finding in checkpoint.findings]


@pytest.mark.parametrize("name", SAFETENSORS)
def test_a_published_checkpoint_is_read_as_it_was_described(name, tmp_path):
    found = open_checkpoint(materialize(name, tmp_path))
    described = in_memory(name)
    assert (found.state, found.reason, found.findings) == (State.COMPLETE, "", ())
    assert found.name == name
    assert found.config == described.config
    assert found.tensors == described.tensors
    assert found.skipped_tensors == described.skipped_tensors
    expected = fixture(name)["expect"]
    assert found.disk_bytes == expected["truth"]["total"]
    assert found.disk_bytes + sum(t.nbytes for t in found.skipped_tensors) == expected["seed"]["total"]


def test_the_file_indices_point_to_the_files_that_hold_the_tensors(tmp_path):
    found = open_checkpoint(materialize("mlx-gpt-oss-20b-MXFP4-Q4", tmp_path))
    for number, file in enumerate(fixture("mlx-gpt-oss-20b-MXFP4-Q4")["files"]):
        assert found.files[number].name == file["name"]
        assert {t.name for t in found.tensors if t.file == number} == {t[0] for t in file["tensors"]}


@pytest.mark.parametrize("missing", ["nothing/here", "x" * 5000, "a\0b", ""])
def test_a_path_that_is_nothing_is_an_error(tmp_path, missing, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError):
        open_checkpoint(tmp_path / missing if missing else tmp_path / "none")


def test_a_file_of_another_kind_is_no_checkpoint(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(CheckpointError, match="neither a directory nor"):
        open_checkpoint(tmp_path / "notes.txt")


def test_a_fifo_named_on_the_command_line_does_not_block(tmp_path):
    for name in ("model.gguf", "model.safetensors", "plain"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(CheckpointError, match="a FIFO"):
            open_checkpoint(tmp_path / name)


def test_a_directory_that_may_not_be_listed_says_so(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may list everything")
    tmp_path.chmod(0)
    try:
        with pytest.raises(CheckpointError, match="cannot be listed"):
            open_checkpoint(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_a_single_file_counts_but_is_not_run(tmp_path):
    whole(tmp_path)
    found = open_checkpoint(tmp_path / "model.safetensors")
    assert (found.state, found.disk_bytes, found.config) == (State.NOT_LOADABLE, TOTAL, CONFIG)
    assert "name the directory" in found.reason


def test_a_single_shard_is_incomplete(tmp_path):
    shards(tmp_path, 1, 2, total=2)
    found = open_checkpoint(tmp_path / "model-00001-of-00002.safetensors")
    assert (found.state, "one of 2 shards" in found.reason) == (State.INCOMPLETE, True)


def test_a_relative_path_is_made_absolute_and_named(tmp_path, monkeypatch):
    root = tmp_path / "my-model"
    root.mkdir()
    whole(root)
    monkeypatch.chdir(root)
    found = open_checkpoint(checkpoints.Path("."))
    assert (found.name, found.path) == ("my-model", root)


def test_a_snapshot_is_named_by_its_repository(tmp_path):
    assert name_of(tmp_path / "models--acme--Tiny-1B" / "snapshots" / "abc") == "acme/Tiny-1B"


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems hold UTF-8 names only")
def test_a_file_name_that_is_no_utf8_can_be_printed(tmp_path):
    whole(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / os.fsdecode(b"model-\xff\xfe.safetensors"))
    found = open_checkpoint(tmp_path)
    assert found.disk_bytes == TOTAL
    json.dumps([file.name for file in found.files], ensure_ascii=False).encode()
