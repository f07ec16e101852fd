"""One door: published checkpoints read to the byte, directories in every disorder, single files."""

import json
import os
import sys

import pytest

from tests import checkpoints
from tests.checkpoint.malformed import CONFIG, NORM, TENSORS, TOTAL, dressed, shards, whole
from tests.checkpoints import fixture, in_memory, materialize, write_index, write_safetensors
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


# ---- several files hold the same names -------------------------------------------------------------------


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


# ---- the index against the headers -----------------------------------------------------------------------


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


# ---- what mlx-lm could not load --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"hidden_size": 4}, "no_model_type"),
        ({"model_type": 5}, "no_model_type"),
        (CONFIG | {"model_file": "evil.py"}, "custom_code"),
        (CONFIG | {"quantization_config": {"bits": 4}}, "no_quant_method"),
        ("\ufeff" + json.dumps(CONFIG), "config_bom"),
        ("[]", "config_unreadable"),
    ],
)
def test_a_config_that_mlx_lm_cannot_use_is_counted_but_not_run(tmp_path, config, code):
    whole(tmp_path, config=config)
    found = open_checkpoint(tmp_path)
    assert (found.state, found.disk_bytes) == (State.NOT_LOADABLE, TOTAL)
    assert code in codes(found)


def test_a_checkpoint_without_a_tokenizer_is_not_run(tmp_path):
    whole(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    found = open_checkpoint(tmp_path)
    assert (found.state, codes(found)) == (State.NOT_LOADABLE, ["no_tokenizer"])
    for name in ("tokenizer.model", "qwen.tiktoken", "vocab.json", "tokenization_custom.py"):
        (tmp_path / name).touch()
        assert open_checkpoint(tmp_path).state is State.COMPLETE
        (tmp_path / name).unlink()


def test_vendor_names_alone_are_counted_but_not_run(tmp_path):
    dressed(tmp_path)
    write_safetensors(tmp_path / "consolidated.safetensors", TENSORS)
    found = open_checkpoint(tmp_path)
    assert (found.state, found.disk_bytes, codes(found)) == (State.NOT_LOADABLE, TOTAL, ["not_named_model"])


def test_a_fifo_beside_good_shards_would_hang_mlx_lm_and_is_told(tmp_path):
    whole(tmp_path)
    os.mkfifo(tmp_path / "model-extra.safetensors")
    found = open_checkpoint(tmp_path)
    assert (found.state, found.disk_bytes) == (State.NOT_LOADABLE, TOTAL)
    assert "model-extra.safetensors is a FIFO" in found.reason


def test_a_path_that_glob_takes_for_a_pattern_is_told(tmp_path):
    root = tmp_path / "model[1]"
    root.mkdir()
    whole(root)
    assert codes(open_checkpoint(root)) == ["path_is_pattern"]


def test_a_dangling_link_beside_good_shards_is_an_unfinished_download(tmp_path):
    whole(tmp_path)
    (tmp_path / "model-extra.safetensors").symlink_to("../blobs/none")
    found = open_checkpoint(tmp_path)
    assert (found.state, codes(found)) == (State.INCOMPLETE, ["blob_missing"])


def test_shards_that_are_all_still_to_come_are_all_missing(tmp_path):
    dressed(tmp_path)
    write_index(tmp_path, shards(tmp_path, total=3), {})
    found = open_checkpoint(tmp_path)
    assert found.state is State.INCOMPLETE
    assert "0 of 3 weight files are here" in found.reason


def test_a_config_without_weights_waits_for_them(tmp_path):
    dressed(tmp_path)
    downloads = tmp_path / ".cache" / "huggingface" / "download"
    downloads.mkdir(parents=True)
    assert open_checkpoint(tmp_path).reason == "no weights here: they were not downloaded"
    (downloads / "abc.incomplete").touch()
    found = open_checkpoint(tmp_path)
    assert found.reason == "no weights here: they were not downloaded (1 .incomplete file)"
    assert found.state is State.INCOMPLETE


def test_weights_of_another_format_alone_are_named(tmp_path):
    dressed(tmp_path)
    (tmp_path / "weights.npz").touch()
    found = open_checkpoint(tmp_path)
    assert (found.state, codes(found)) == (State.NOT_LOADABLE, ["no_safetensors"])
    assert "weights.npz" in found.reason


def test_other_formats_and_sub_folders_are_listed_with_their_sizes(tmp_path):
    whole(tmp_path)
    (tmp_path / "original").mkdir()
    (tmp_path / "original" / "consolidated.00.pth").write_bytes(bytes(500))
    (tmp_path / "model-q4.gguf").write_bytes(bytes(70))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.bin").write_bytes(bytes(9))
    found = open_checkpoint(tmp_path)
    assert {skipped.name: skipped.bytes for skipped in found.skipped} == {
        "original/consolidated.00.pth": 500,
        "model-q4.gguf": 70,
    }
    assert found.state is State.COMPLETE


def test_every_mac_companion_file_is_passed_over(tmp_path):
    whole(tmp_path)
    (tmp_path / "._model.safetensors").write_bytes(b"\x00\x05\x16\x07" + bytes(4092))
    found = open_checkpoint(tmp_path)
    assert (found.state, found.disk_bytes, found.findings) == (State.COMPLETE, TOTAL, ())
    assert "AppleDouble" in found.skipped[0].why


def test_a_second_broken_file_does_not_hide_what_the_good_one_holds(tmp_path):
    dressed(tmp_path)
    write_index(tmp_path, shards(tmp_path, 1, 2, total=2), {})
    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(b"")
    found = open_checkpoint(tmp_path)
    assert found.state is State.INCOMPLETE
    assert found.tensors and {tensor.file for tensor in found.tensors} == {0}
