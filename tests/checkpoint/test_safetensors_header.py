"""The safetensors reader beyond the list of malformed cases: one header, read or refused."""

import json
import os
import struct
import tracemalloc

import pytest

from tests.checkpoints import write_safetensors
from workbench.checkpoint.safetensors import DTYPE_BITS, Forms, parse_header, read_header
from workbench.errors import CheckpointError, IncompleteCheckpointError


def header_of(entries) -> bytes:
    return json.dumps(entries).encode()


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def codes(header) -> list[str]:
    return [finding.code for finding in header.findings]


@pytest.mark.parametrize("layout", ["mlx", "hf"])
def test_a_good_file_gives_its_tensors_in_header_order_and_nothing_to_say(tmp_path, layout):
    path = tmp_path / "model.safetensors"
    tensors = [("b", "BF16", [3, 4]), ("a", "U32", [5]), ("c", "F32", [])]
    write_safetensors(path, tensors, layout, {"format": "mlx"})
    header = read_header(path, "model.safetensors", file=7)
    order = {"mlx": ["a", "b", "c"], "hf": ["a", "c", "b"]}[layout]
    assert [tensor.name for tensor in header.tensors] == order
    assert {tensor.name: tensor.nbytes for tensor in header.tensors} == {"a": 20, "b": 24, "c": 4}
    assert {tensor.file for tensor in header.tensors} == {7}
    assert header.findings == []


@pytest.mark.parametrize("pad", [0, 400, 503, 504, 505, 2000])
def test_headers_around_the_first_read_are_read_whole(tmp_path, pad):
    raw = header_of({"a": entry()}) + b" " * pad
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + bytes(8))
    assert [tensor.name for tensor in read_header(path, path.name).tensors] == ["a"]


def test_equal_dtypes_and_shapes_are_kept_once_over_all_files():
    forms = Forms()
    raw = header_of({"a": entry(), "b": entry(offsets=(8, 16))})
    first, second = parse_header(raw, 16, "1", 0, forms).tensors
    third = parse_header(raw, 16, "2", 1, forms).tensors[0]
    assert first.shape is second.shape is third.shape


@pytest.mark.parametrize(
    ("dtype", "shape", "nbytes"), [("F4", [3], 2), ("F6_E2M3", [4], 3), ("BOOL", [5], 5), ("C64", [2], 16)]
)
def test_sub_byte_and_wide_dtypes_need_whole_bytes(dtype, shape, nbytes):
    header = parse_header(header_of({"a": entry(dtype, shape, (0, nbytes))}), nbytes, "x")
    assert (header.tensors[0].nbytes, codes(header)) == (nbytes, [])
    assert dtype in DTYPE_BITS


@pytest.mark.parametrize(
    "bad",
    [
        entry(offsets=(8, 0)),
        entry(offsets=(-8, 0)),
        entry(offsets=(0, 2**63)),
        entry(offsets=(0, 8, 16)),
        entry(offsets=(0.0, 8.0)),
        entry(offsets=(False, 8)),
        entry(shape=(-2,)),
        entry(shape=(2.0,)),
        entry(shape=(2**63,)),
        entry(shape=(1,) * 33),
        entry(shape=([2],)),
        entry(dtype=None),
        entry(dtype=5),
        entry(dtype=["F32"]),
        {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": None, "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": {"2": 2}, "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2], "data_offsets": {"0": 0, "8": 8}},
        {"dtype": "F32", "shape": [2]},
        [],
        None,
        "F32",
    ],
)
def test_an_entry_that_makes_no_sense_refuses_the_file_and_names_it(bad):
    with pytest.raises(CheckpointError, match=r"'a\.weight'") as error:
        parse_header(header_of({"a.weight": bad}), 8, "model.safetensors")
    assert error.value.code == "header_entry_malformed"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "header_not_json"),
        (b"[]", "header_not_object"),
        (b'"text"', "header_not_object"),
        (b"null", "header_not_object"),
        (b"\xef\xbb\xbf{}", "header_not_json"),
        (b"{} \0\0\0", "header_not_json"),
        (b'{"a": ' + b"[" * 100_000, "header_not_json"),
        (b'{"a": ' + b"1" * 5000 + b"}", "header_not_json"),
        (b'{"\\ud800": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}', "header_not_utf8"),
    ],
)
def test_json_that_is_no_header_is_refused_with_a_code(raw, code):
    with pytest.raises(CheckpointError) as error:
        parse_header(raw, 8, "model.safetensors")
    assert error.value.code == code


@pytest.mark.parametrize(
    ("start", "code", "words"),
    [
        (b"<!DOCTYPE html><html><body>Access denied", "html_page", "web page"),
        (b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X", "apple_double", "AppleDouble"),
        (b"PK\x03\x04" + b"\x7f" * 8, "header_too_long", "pickle of PyTorch"),
        (b"GGUF\x03\x00\x00\x00" + b"\x7f" * 8, "header_too_long", "a GGUF file by another name"),
        (b"\xff" * 16, "header_too_long", "over the format's limit"),
    ],
)
def test_a_file_that_is_something_else_is_called_by_its_name(tmp_path, start, code, words):
    path = tmp_path / "model.safetensors"
    path.write_bytes(start + bytes(100))
    with pytest.raises(CheckpointError, match=words) as error:
        read_header(path, path.name)
    assert error.value.code == code


def test_a_long_header_that_is_no_json_is_refused_after_its_first_bytes(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 90_000_000) + b"\0")
    os.truncate(path, 95_000_000)
    tracemalloc.start()
    with pytest.raises(CheckpointError, match="does not begin with"):
        read_header(path, path.name)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_a_device_is_refused_without_reading_it(tmp_path):
    link = tmp_path / "model.safetensors"
    link.symlink_to("/dev/zero")
    with pytest.raises(CheckpointError, match="a device") as error:
        read_header(link, link.name)
    assert error.value.code == "not_a_regular_file"


def test_a_link_that_points_at_itself_is_an_error_with_words(tmp_path):
    link = tmp_path / "model.safetensors"
    link.symlink_to(link)
    with pytest.raises(CheckpointError, match=r"model\.safetensors"):
        read_header(link, link.name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"x" * 100)
    path.chmod(0)
    with pytest.raises(CheckpointError, match="Permission denied"):
        read_header(path, path.name)


def test_an_empty_tensor_anywhere_overlaps_nothing():
    entries = {"a": entry(), "zero": entry(shape=(0, 4), offsets=(4, 4)), "b": entry(offsets=(8, 16))}
    header = parse_header(header_of(entries), 16, "x")
    assert (len(header.tensors), codes(header)) == (3, [])


def test_a_tensor_inside_another_is_an_overlap_even_if_the_last_ends_at_the_end():
    entries = {"a": entry(shape=(6,), offsets=(0, 24)), "b": entry(offsets=(8, 16))}
    assert codes(parse_header(header_of(entries), 24, "x")) == ["offsets_overlap"]


def test_a_gap_before_the_first_tensor_is_a_gap():
    assert codes(parse_header(header_of({"a": entry(offsets=(8, 16))}), 16, "x")) == ["offsets_gap"]


def test_a_field_that_stands_twice_in_an_entry_is_told():
    raw = b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16], "data_offsets": [0, 8]}}'
    assert codes(parse_header(raw, 8, "x")) == ["duplicate_tensor"]


def test_a_name_hidden_by_an_escape_is_still_found_twice():
    one, two = entry(), entry(offsets=(8, 16))
    raw = f'{{"a": {json.dumps(one)}, "\\u0061": {json.dumps(two)}}}'.encode()
    assert "duplicate_tensor" in codes(parse_header(raw, 16, "x"))


def test_a_hidden_duplicate_that_is_no_entry_is_told_too():
    raw = f'{{"a": 5, "a": {json.dumps(entry())}, "b": "\\u0061"}}'.encode()
    with pytest.raises(CheckpointError, match="'b'"):
        parse_header(raw, 8, "x")


def test_a_file_that_shrinks_while_it_is_read_is_truncated(tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    write_safetensors(path, [(f"tensor.{number}", "F32", [2]) for number in range(50)])
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:600])
    real = os.fstat

    def before(descriptor):
        status = list(real(descriptor))
        status[6] = size
        return os.stat_result(status)

    monkeypatch.setattr("workbench.checkpoint.files.os.fstat", before)
    with pytest.raises(IncompleteCheckpointError, match="became shorter"):
        read_header(path, path.name)
