"""What mlx-lm could not load, as far as the files show, and what is still to come."""

import json
import os

import pytest

from tests.checkpoint.malformed import CONFIG, TENSORS, TOTAL, dressed, whole
from tests.checkpoint.malformed_sets import shards
from tests.checkpoints import invent, write_index, write_safetensors
from workbench.accounting.engine import count
from workbench.checkpoint.checkpoint import State
from workbench.checkpoint.reading import open_checkpoint


def codes(checkpoint):
    return [finding.code for finding in checkpoint.findings]


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


def test_a_vendors_params_stand_in_for_a_config_that_is_not_there(tmp_path):
    tensors = {"tok_embeddings.weight": ("BF16", [100, 64]), "output.weight": ("BF16", [100, 64])}
    experts = {f"layers.0.feed_forward.experts.{i}.w1.weight": ("BF16", [32, 64]) for i in range(4)}
    root = invent(tmp_path / "vendor", tensors | experts)
    (root / "model.safetensors").rename(root / "consolidated.safetensors")
    moe = {"num_experts": 4, "num_experts_per_tok": 2}
    (root / "params.json").write_text(json.dumps({"dim": 64, "n_layers": 1, "vocab_size": 100, "moe": moe}))
    found = open_checkpoint(root)
    assert found.state is State.NOT_LOADABLE
    assert "params.json" in found.findings[0].message
    assert count(found).weight_bytes == 2 * (100 * 64 + 2 * 32 * 64)
    (root / "params.json").unlink()
    assert count(open_checkpoint(root)).refusal.code == "experts_without_k"


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


@pytest.mark.parametrize("name", ["tokenizer.json", "generation_config.json", "chat_template.jinja"])
def test_a_fifo_that_bears_the_name_of_a_small_file_is_told_as_well(tmp_path, name):
    whole(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    checkpoint = open_checkpoint(tmp_path)
    assert checkpoint.state is State.NOT_LOADABLE
    assert checkpoint.reason.startswith(f"{name} is a FIFO")
    assert checkpoint.tensors


def test_folders_with_such_names_are_nobodys_business(tmp_path):
    whole(tmp_path)
    (tmp_path / "notes.txt").mkdir()
    assert open_checkpoint(tmp_path).state is State.COMPLETE


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
