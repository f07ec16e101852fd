"""What the reader and the count say of malformed and tricky checkpoints: never a traceback, never silence."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.checkpoint.cases import CASES
from tests.checkpoints import DATA
from workbench.accounting.engine import count
from workbench.accounting.roles import Role
from workbench.checkpoint.checkpoint import State
from workbench.checkpoint.reading import open_checkpoint
from workbench.errors import CheckpointError

DESCRIBED = json.loads((DATA / "malformed.json").read_text())


@dataclass(frozen=True)
class Says:
    """The state that a case must get, the codes among its findings, and a pattern in what is said."""

    state: State
    codes: tuple[str, ...] = ()
    words: str = ""


OF_FILES = {
    "ok_control": Says(State.COMPLETE),
    "header_truncated": Says(State.INCOMPLETE, ("file_truncated",), r"only 152 are present.*truncated"),
    "header_len_beyond_file": Says(State.INCOMPLETE, ("file_truncated",), r"1,048,576 bytes, only 100"),
    "zero_bytes": Says(State.INCOMPLETE, ("file_empty",), r"model.safetensors is empty \(0 bytes\)"),
    "five_bytes": Says(State.INCOMPLETE, ("file_too_short",), r"too short to be safetensors \(5 bytes\)"),
    "header_not_utf8": Says(State.UNREADABLE, ("header_not_utf8",), r"not UTF-8 at byte 20"),
    "header_not_json": Says(State.UNREADABLE, ("header_not_json",), r"not JSON, line 1 column \d+"),
    "header_leading_space": Says(State.COMPLETE, ("header_leading_space",)),
    "header_100mb": Says(State.UNREADABLE, ("header_too_long",), r"100,000,001 bytes.*100,000,000"),
    "duplicate_keys": Says(State.COMPLETE, ("duplicate_tensor", "trailing_bytes"), "'model.norm.weight'"),
    "offsets_overlap": Says(State.UNREADABLE, ("offsets_overlap", "offsets_gap"), r"6,400\.\.22,784.*12,800"),
    "offsets_gap": Says(State.COMPLETE, ("offsets_gap",), "4,096 bytes"),
    "offsets_beyond_file": Says(State.INCOMPLETE, ("data_truncated",), "20,000 bytes before"),
    "trailing_bytes": Says(State.COMPLETE, ("trailing_bytes",), "10,000 bytes after"),
    "offsets_wrong_type": Says(State.UNREADABLE, ("header_entry_malformed",), "4 tensors"),
    "shape_mismatch": Says(
        State.NOT_LOADABLE,
        ("shape_mismatch",),
        r"'lm_head.weight': shape \[100, 128\] BF16 needs 25,600 bytes, the offsets give 12,800",
    ),
    "unknown_dtypes": Says(State.NOT_LOADABLE, ("unknown_dtype", "dtype_not_in_mlx"), "MYTYPE: bytes come"),
    "zero_tensors": Says(State.UNREADABLE, ("no_tensors",), "nothing to predict"),
    "lfs_pointer": Says(State.INCOMPLETE, ("lfs_pointer",), r"4,781,571,736 bytes.*git lfs pull"),
    "is_a_directory": Says(State.UNREADABLE, ("not_a_regular_file",), "a directory.*no weights found"),
    "is_a_fifo": Says(State.UNREADABLE, ("not_a_regular_file",), "a FIFO.*no weights found"),
    "missing_shard": Says(
        State.INCOMPLETE, ("shard_missing",), "model-00002-of-00002.safetensors is missing: 1 of 2"
    ),
    "missing_shard_no_index": Says(
        State.INCOMPLETE, ("shard_missing",), "model-00002-of-00003.safetensors is missing: 2 of 3"
    ),
    "stale_shards": Says(State.COMPLETE, ("stale_shards",), "2 stale files .*00001-of-00003"),
    "consolidated_duplicate": Says(State.COMPLETE),
    "adapter_only": Says(
        State.NOT_LOADABLE, ("adapter_only", "config_missing"), "meta-llama/Llama-3.2-1B.*nothing to predict"
    ),
    "model_plus_adapter": Says(State.COMPLETE),
    "pickle_only": Says(State.NOT_LOADABLE, ("pickle_only",), "no safetensors.*not opened"),
    "index_invalid": Says(State.COMPLETE, ("index_unreadable",), "breaks off"),
    "index_total_wrong": Says(State.COMPLETE, ("index_total_differs",), r"42,112 bytes.*54,912"),
    "index_path_escape": Says(State.UNREADABLE, ("index_path_escape",), "refused.*etc/passwd"),
    "hf_cache_ok": Says(State.COMPLETE),
    "hf_cache_partial": Says(
        State.INCOMPLETE, ("blob_missing",), r"model-00002-of-00002.*blob is missing.*1 \.incomplete file"
    ),
    "config_missing": Says(State.NOT_LOADABLE, ("config_missing",), "inferred from the headers"),
    "config_invalid": Says(State.NOT_LOADABLE, ("config_unreadable",), "config.json line 1 column 40"),
    "gguf_ok": Says(State.NOT_LOADABLE, ("gguf_not_in_mlx_lm",)),
    "gguf_bad_magic": Says(State.UNREADABLE, ("gguf_bad_magic",), "not a GGUF file"),
    "gguf_tensor_count": Says(State.UNREADABLE, ("header_absurd",), r"1,152,921,504,606,846,976 tensors"),
    "gguf_string_len": Says(State.UNREADABLE, ("header_absurd",), "4,611,686,018,427,387,904 bytes"),
    "gguf_truncated": Says(State.INCOMPLETE, ("data_truncated",), "4,096 bytes before the end"),
}
OF_THE_COUNT = {
    "experts_zero", "k_gt_e", "k_missing", "n_routed_experts", "top_k_experts",
    "tied_with_head", "tie_conflict", "unknown_name", "modality_names", "embed_names", "ple", "mtp",
    "hostile_names",
}  # fmt: skip

GOOD = [
    "ok_control",
    "header_leading_space",
    "duplicate_keys",
    "offsets_gap",
    "trailing_bytes",
    "stale_shards",
]
GOOD += ["consolidated_duplicate", "model_plus_adapter", "index_invalid", "index_total_wrong", "hf_cache_ok"]


def read(name, root: Path):
    """Build the case and open it."""
    return open_checkpoint(CASES[name](root))


def said(checkpoint) -> str:
    """All that a user gets to read."""
    return "\n".join([checkpoint.reason, *(finding.message for finding in checkpoint.findings)])


def test_every_described_case_is_built_and_judged():
    assert set(CASES) == set(DESCRIBED)
    assert OF_FILES.keys() | OF_THE_COUNT | {"empty_dir"} == set(DESCRIBED)


@pytest.mark.parametrize("name", OF_FILES)
def test_a_malformed_checkpoint_gets_its_state_and_its_words(name, tmp_path):
    checkpoint = read(name, tmp_path)
    expected = OF_FILES[name]
    assert checkpoint.state is expected.state, checkpoint.reason
    assert (checkpoint.reason == "") == (expected.state is State.COMPLETE)
    codes = {finding.code for finding in checkpoint.findings}
    assert codes == set(expected.codes)
    assert re.search(expected.words, said(checkpoint)), said(checkpoint)


@pytest.mark.parametrize("name", GOOD)
def test_what_can_be_lived_with_does_not_change_the_count(name, tmp_path):
    checkpoint = read(name, tmp_path)
    assert checkpoint.disk_bytes == 42_112
    assert count(checkpoint).weight_bytes == 29_312


def test_an_empty_directory_is_no_checkpoint(tmp_path):
    with pytest.raises(CheckpointError, match=r"no config\.json and no weights"):
        read("empty_dir", tmp_path)


def test_what_is_not_counted_is_listed_with_its_size(tmp_path):
    for name, file in [
        ("consolidated_duplicate", "consolidated.safetensors"),
        ("model_plus_adapter", "adapters.safetensors"),
    ]:
        root = tmp_path / name
        root.mkdir()
        checkpoint = read(name, root)
        (skipped,) = checkpoint.skipped
        assert (skipped.name, skipped.bytes) == (file, (root / file).stat().st_size)
        assert skipped.why
        assert checkpoint.skipped_tensors and all(tensor.file == 0 for tensor in checkpoint.skipped_tensors)


def test_the_seed_rule_still_sees_a_second_copy(tmp_path):
    checkpoint = read("stale_shards", tmp_path)
    assert {skipped.name for skipped in checkpoint.skipped} == {
        "model-00001-of-00003.safetensors",
        "model-00003-of-00003.safetensors",
    }
    assert count(checkpoint).seed.total_bytes > 42_112


def test_unknown_dtypes_count_by_their_offsets(tmp_path):
    assert read("unknown_dtypes", tmp_path).disk_bytes == 42_112 + 6 * 24


def test_the_tiny_gguf_counts(tmp_path):
    checkpoint = read("gguf_ok", tmp_path)
    (tensor,) = checkpoint.tensors
    assert (tensor.dtype, tensor.shape, tensor.nbytes) == ("F16", (64, 64), 8192)


@pytest.mark.parametrize("name", ["experts_zero", "k_gt_e", "k_missing"])
def test_experts_without_a_valid_share_refuse_a_figure(name, tmp_path):
    found = count(read(name, tmp_path))
    assert found.refusal is not None
    assert found.refusal.message


@pytest.mark.parametrize("name", ["n_routed_experts", "top_k_experts"])
def test_expert_keys_of_other_vendors_are_read(name, tmp_path):
    found = count(read(name, tmp_path))
    assert found.refusal is None
    assert (found.experts, found.experts_per_token) == (8, 2)
    assert found.weight_bytes == 29_312 + 131_072 // 4


@pytest.mark.parametrize("name", ["tied_with_head", "tie_conflict"])
def test_one_vocabulary_matrix_is_read_whatever_the_flags_say(name, tmp_path):
    found = count(read(name, tmp_path))
    assert found.weight_bytes == 29_312
    assert found.findings


def test_the_seed_rule_counts_both_matrices_of_a_tied_checkpoint_with_a_head(tmp_path):
    assert count(read("tied_with_head", tmp_path)).seed.weight_bytes == 42_112


def test_a_tensor_that_no_rule_knows_counts_once_and_is_named(tmp_path):
    found = count(read("unknown_name", tmp_path))
    assert found.weight_bytes == 29_312 + 8_192
    assert found.by_role[Role.OTHER].per_token == 8_192
    assert any("model.mystery" in finding.message for finding in found.findings)


@pytest.mark.parametrize("name", ["modality_names", "embed_names", "mtp"])
def test_parts_that_text_decode_does_not_read_are_left_out(name, tmp_path):
    assert count(read(name, tmp_path)).weight_bytes == 29_312


def test_draft_layers_are_shown_with_their_bytes(tmp_path):
    assert count(read("mtp", tmp_path)).by_role[Role.DRAFT].on_disk == 16_384


def test_per_layer_embeddings_are_looked_up_even_when_tied(tmp_path):
    assert count(read("ple", tmp_path)).weight_bytes == 29_312


def test_hostile_names_are_read_and_what_is_said_of_them_is_harmless(tmp_path):
    checkpoint = read("hostile_names", tmp_path)
    assert checkpoint.disk_bytes == 42_112 + 6 * 16
    text = said(checkpoint)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", text)
    assert max(map(len, text.splitlines()), default=0) < 2000
