"""The GGUF reader: block sizes, metadata kept and skipped, bounds, and models in several files."""

import struct

import pytest

from tests.checkpoint.malformed_gguf import GGUF_KV, GGUF_TENSOR
from tests.checkpoints import fixture, gguf_string, materialize, write_gguf
from workbench.checkpoint import cursor, ggml
from workbench.checkpoint.checkpoint import State
from workbench.checkpoint.gguf import SkippedArray, read_header
from workbench.checkpoint.reading import open_checkpoint
from workbench.errors import CheckpointError, IncompleteCheckpointError

# GGML_QUANT_SIZES of gguf-py 0.19: type id -> (values in a block, bytes of a block)
GGUF_PY = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110),
    22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8),
    29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18),
}  # fmt: skip


def codes(found) -> list[str]:
    return [finding.code for finding in found.findings]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tiny.gguf"


@pytest.mark.parametrize("type_id", GGUF_PY)
def test_block_sizes_are_those_of_the_reference(type_id):
    values, nbytes = GGUF_PY[type_id]
    assert ggml.TYPES[type_id][1:] == (values, nbytes)
    assert ggml.tensor_bytes(type_id, (values * 3, 5)) == 15 * nbytes
    assert values == 1 or ggml.tensor_bytes(type_id, (values + 1, 5)) is None


@pytest.mark.parametrize("name", ["gguf-Bonsai-8B-Q1_0", "gguf-Qwen3-8B-F16"])
def test_published_files_give_every_tensor_to_the_byte(name, tmp_path):
    described = fixture(name)
    file = materialize(name, tmp_path)
    header = read_header(file, file.name)
    assert [tensor.nbytes for tensor in header.tensors] == [
        entry[3] for entry in described["gguf"]["tensors"]
    ]
    assert [tensor.shape[::-1] for tensor in header.tensors] == [
        tuple(entry[2]) for entry in described["gguf"]["tensors"]
    ]
    assert sum(tensor.nbytes for tensor in header.tensors) == described["expect"]["tensor_bytes"]
    assert file.stat().st_size == described["expect"]["file_bytes"]
    assert header.findings == []
    assert header.metadata["general.architecture"] == "qwen3"
    assert header.metadata["qwen3.block_count"] == 36
    assert len(header.metadata["tokenizer.ggml.tokens"]) == 151_936


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("alignment", [8, 32, 4096])
def test_versions_and_alignments_are_read(path, version, alignment):
    kv = [*GGUF_KV, ["general.alignment", "u32", alignment]]
    tensors = [GGUF_TENSOR, ["blk.0.attn_norm.weight", 0, [3], 12], ["output.weight", 8, [64, 2], 136]]
    write_gguf(path, kv, tensors, version=version, alignment=alignment)
    header = read_header(path, path.name)
    assert [tensor.nbytes for tensor in header.tensors] == [8192, 12, 136]
    assert codes(header) == []


@pytest.mark.parametrize(
    ("version", "words"),
    [(0, "version is 0"), (1, "version is 1"), (4, "version is 4"), (3 << 24, "big-endian")],
)
def test_other_versions_and_byte_orders_are_refused(path, version, words):
    write_gguf(path, GGUF_KV, [GGUF_TENSOR], version=version)
    with pytest.raises(CheckpointError, match=words) as error:
        read_header(path, path.name)
    assert error.value.code == "gguf_version"


@pytest.mark.parametrize("alignment", [0, 3, 2**31])
def test_an_alignment_that_is_no_power_of_two_is_refused(path, alignment):
    write_gguf(path, [["general.alignment", "u32", alignment]], [GGUF_TENSOR])
    with pytest.raises(CheckpointError, match=r"general\.alignment"):
        read_header(path, path.name)


def test_scalars_are_kept_and_long_arrays_and_texts_are_not(path):
    values = {
        "u8": 200, "i8": -3, "u16": 60_000, "i16": -3, "u32": 2**31, "i32": -3, "f32": 0.5, "bool": True,
        "u64": 2**63, "i64": -3, "f64": 0.1, "str": "né",
    }  # fmt: skip
    kv = [[f"x.{kind}", kind, value] for kind, value in values.items()]
    kv += [
        ["x.layers", "arr:i32", [4, 0, 4]],
        ["x.flags", "arr:bool", [True, False]],
        ["x.none", "arr:f32", []],
        ["x.long", "arr:u8", [1] * 1025],
        ["x.words", "arr:str", ["a"]],
        ["x.template", "str", "y" * 5000],
    ]
    write_gguf(path, kv, [])
    metadata = read_header(path, path.name).metadata
    assert {kind: metadata[f"x.{kind}"] for kind in values} == values
    assert (metadata["x.layers"], metadata["x.flags"], metadata["x.none"]) == ((4, 0, 4), (True, False), ())
    assert isinstance(metadata["x.long"], SkippedArray) and len(metadata["x.long"]) == 1025
    assert len(metadata["x.words"]) == 1
    assert metadata["x.template"] is None


@pytest.mark.parametrize("chunk", [24, 40, 64, 333])
def test_strings_across_chunk_borders_are_skipped_exactly(path, chunk, monkeypatch):
    words = ["", "a" * 7, "b" * 100, "c" * 1000, "d"] * 20
    write_gguf(path, [["x.words", "arr:str", words], ["x.after", "u32", 7]], [GGUF_TENSOR])
    monkeypatch.setattr(cursor, "_CHUNK_BYTES", chunk)
    header = read_header(path, path.name)
    assert header.metadata["x.after"] == 7
    assert header.tensors[0].name == GGUF_TENSOR[0]


def test_a_type_that_is_not_known_counts_by_the_offsets(path):
    write_gguf(path, GGUF_KV, [["a", 300, [64], 100], ["b", 0, [2], 8], ["c", 301, [64], 50]])
    header = read_header(path, path.name)
    assert [(tensor.dtype, tensor.nbytes) for tensor in header.tensors] == [
        ("type 300", 128),  # padded to 32
        ("F32", 8),
        ("type 301", 64),
    ]
    assert codes(header) == ["unknown_dtype"]


def test_rows_that_are_no_whole_blocks_are_told(path):
    for dims in ([100, 2], [], [1]):
        write_gguf(path, GGUF_KV, [["a", 12, dims, 288]])
        assert "shape_mismatch" in codes(read_header(path, path.name))


def test_overlaps_gaps_and_trailing_bytes_are_told(path):
    write_gguf(path, GGUF_KV, [["a", 0, [64], 96], ["b", 0, [2], 512], ["c", 0, [2], 8]])
    with path.open("ab") as file:
        file.write(bytes(500))
    assert codes(read_header(path, path.name)) == ["offsets_overlap", "offsets_gap", "trailing_bytes"]


def test_names_that_stand_twice_are_told(path):
    write_gguf(path, [*GGUF_KV, GGUF_KV[0]], [GGUF_TENSOR, GGUF_TENSOR])
    assert sorted(codes(read_header(path, path.name))) == ["duplicate_tensor", "gguf_duplicate_key"]


def head(kv_count=1, tensor_count=0) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensor_count, kv_count)


@pytest.mark.parametrize(
    "content",
    [
        head(kv_count=2**60),
        head(kv_count=100_000) + bytes(2_000_000),
        head() + struct.pack("<Q", 2**40),
        head() + struct.pack("<Q", 70_000) + bytes(80_000),
        head() + gguf_string("k") + struct.pack("<IIQ", 9, 8, 2**50) + bytes(100),
        head() + gguf_string("k") + struct.pack("<IIQ", 9, 4, 2**61) + bytes(100),
        head() + gguf_string("k") + struct.pack("<IIQ", 9, 8, 2) + struct.pack("<Q", 2**63) + bytes(100),
        head(0, 1) + gguf_string("t") + struct.pack("<IQQQ", 2**30, 1, 1, 0),
        head(0, 1) + gguf_string("t") + struct.pack("<IQQQIQ", 3, 2**40, 2**40, 1, 0, 0),
        head(0, 1) + gguf_string("t") + struct.pack("<IQIQ", 1, 1, 0, 2**63),
        head() + gguf_string("k") + struct.pack("<I", 13) + bytes(100),
        head() + gguf_string("k") + struct.pack("<IIQ", 9, 9, 1) + bytes(100),
    ],
)
def test_absurd_lengths_and_kinds_are_refused_without_allocating(path, content):
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as error:
        read_header(path, path.name)
    assert not isinstance(error.value, IncompleteCheckpointError)


def test_a_header_cut_anywhere_is_incomplete_or_absurd_never_good(path):
    write_gguf(path, [*GGUF_KV, ["x.words", "arr:str", ["ab"] * 9]], [GGUF_TENSOR])
    content = path.read_bytes()
    header_bytes = len(content) - 8192
    for length in range(header_bytes - 31):
        path.write_bytes(content[:length])
        with pytest.raises(CheckpointError):
            read_header(path, path.name)


def split(directory, numbers, total=3, **kv):
    for number in numbers:
        write_gguf(
            directory / f"big-{number:05d}-of-{total:05d}.gguf",
            [*GGUF_KV, ["split.no", "u16", number - 1], ["split.count", "u16", total]],
            [[f"blk.{number}.ffn_up.weight", 0, [2, number], 8 * number]],
        )


def test_a_split_model_is_one_checkpoint_whichever_part_is_named(tmp_path):
    split(tmp_path, [1, 2, 3])
    for number in (1, 3):
        found = open_checkpoint(tmp_path / f"big-{number:05d}-of-00003.gguf")
        assert found.state is State.NOT_LOADABLE
        assert [tensor.file for tensor in found.tensors] == [0, 1, 2]
        assert found.disk_bytes == 8 + 16 + 24
    assert open_checkpoint(tmp_path).disk_bytes == 48


def test_a_split_model_with_a_part_missing_names_it(tmp_path):
    split(tmp_path, [1, 3])
    found = open_checkpoint(tmp_path)
    assert found.state is State.INCOMPLETE
    assert found.reason.startswith("big-00002-of-00003.gguf is missing: 2 of 3")


def test_a_part_under_another_name_says_that_it_is_one(tmp_path):
    split(tmp_path, [2])
    renamed = (tmp_path / "big-00002-of-00003.gguf").rename(tmp_path / "renamed.gguf")
    found = open_checkpoint(renamed)
    assert (found.state, codes(found)) == (State.INCOMPLETE, ["shard_missing"])


def test_a_projector_beside_the_model_is_listed_and_not_counted(tmp_path):
    write_gguf(tmp_path / "model-q4.gguf", GGUF_KV, [GGUF_TENSOR])
    write_gguf(tmp_path / "mmproj-model.gguf", GGUF_KV, [["v.blk.0.attn_q.weight", 1, [2], 4]])
    found = open_checkpoint(tmp_path)
    assert found.disk_bytes == 8192
    assert [(skipped.name, "mmproj" in skipped.why) for skipped in found.skipped] == [
        ("mmproj-model.gguf", True)
    ]


def test_several_models_in_a_directory_must_be_named(tmp_path):
    for name in ("a.gguf", "b.gguf"):
        write_gguf(tmp_path / name, GGUF_KV, [GGUF_TENSOR])
    with pytest.raises(CheckpointError, match=r"2 GGUF models: a\.gguf, b\.gguf"):
        open_checkpoint(tmp_path)


def test_a_gguf_without_tensors_predicts_nothing(path):
    write_gguf(path, GGUF_KV, [])
    found = open_checkpoint(path)
    assert (found.state, codes(found)) == (State.UNREADABLE, ["no_tensors"])
