"""Any bytes at all: the readers answer or raise their own error, and what they answer is sane."""

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkpoint.cases import CASES
from tests.checkpoint.fuzzing import damaged, json_values, numbers, thoroughly
from tests.checkpoint.malformed import packed
from tests.checkpoint.malformed_gguf import GGUF_KV
from tests.checkpoints import write_gguf, write_safetensors
from workbench.checkpoint import gguf, safetensors
from workbench.checkpoint.checkpoint import Checkpoint, State
from workbench.checkpoint.config import parse_config
from workbench.checkpoint.index import Index, read_index, read_weight_map
from workbench.checkpoint.reading import open_checkpoint
from workbench.errors import CheckpointError

entries = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.one_of(st.sampled_from(["F32", "BF16", "F4", "MYTYPE"]), json_values),
        "shape": st.one_of(st.lists(numbers, max_size=4), json_values),
        "data_offsets": st.one_of(st.lists(numbers, min_size=2, max_size=2), json_values),
    },
)
headers = st.dictionaries(st.text(max_size=12), st.one_of(entries, json_values), max_size=5)


def sane(tensors) -> bool:
    """What later rooms build upon."""
    return all(
        isinstance(tensor.name, str)
        and isinstance(tensor.dtype, str)
        and 0 <= tensor.nbytes < 2**63
        and all(isinstance(size, int) and 0 <= size < 2**63 for size in tensor.shape)
        for tensor in tensors
    )


def answer(read, *arguments):
    """What the reader returns, or None where it raises an error of its own; anything else fails the test."""
    try:
        return read(*arguments)
    except CheckpointError as error:
        assert error.message and error.code
        return None


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "model.safetensors"


@thoroughly
@given(st.one_of(headers, json_values), st.integers(0, 4000), st.one_of(st.none(), st.integers(0, 2**64 - 1)))
def test_any_json_as_a_safetensors_header(file, header, data_bytes, length):
    raw = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(raw) if length is None else length) + raw + bytes(data_bytes))
    found = answer(safetensors.read_header, file, file.name)
    assert found is None or sane(found.tensors)


@thoroughly
@given(st.one_of(st.binary(max_size=300), damaged(struct.pack("<Q", len(packed())) + packed() + bytes(99))))
def test_any_bytes_as_a_safetensors_file(file, content):
    file.write_bytes(content)
    found = answer(safetensors.read_header, file, file.name)
    assert found is None or sane(found.tensors)


@pytest.fixture(scope="module")
def good_gguf(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("gguf") / "good.gguf"
    kv = [
        *GGUF_KV,
        ["tokenizer.ggml.tokens", "arr:str", ["a", "bc", ""]],
        ["llama.heads", "arr:u32", [4, 4]],
        ["general.alignment", "u32", 64],
        ["flag", "bool", True],
        ["rate", "f64", 0.5],
    ]
    tensors = [["output.weight", 41, [128, 4], 72], ["blk.0.attn_q.weight", 12, [256, 2], 288]]
    write_gguf(path, kv, tensors, alignment=64)
    return path.read_bytes()


@thoroughly
@given(data=st.data())
def test_a_damaged_gguf_file(file, good_gguf, data):
    file.write_bytes(data.draw(damaged(good_gguf)))
    found = answer(gguf.read_header, file, file.name)
    assert found is None or sane(found.tensors)


@thoroughly
@given(
    st.integers(0, 5),
    st.one_of(st.integers(0, 6), st.integers(0, 2**64 - 1)),
    st.one_of(st.integers(0, 6), st.integers(0, 2**64 - 1)),
    st.binary(max_size=300),
)
def test_any_bytes_after_a_gguf_magic(file, version, tensor_count, kv_count, content):
    file.write_bytes(b"GGUF" + struct.pack("<IQQ", version, tensor_count, kv_count) + content)
    found = answer(gguf.read_header, file, file.name)
    assert found is None or sane(found.tensors)


@thoroughly
@given(st.one_of(json_values.map(lambda value: json.dumps(value).encode()), st.binary(max_size=200)))
def test_any_bytes_as_config(content):
    found = answer(parse_config, content)
    assert found is None or isinstance(found[0], dict)


@thoroughly
@given(
    st.one_of(
        damaged(b'{"model_type": "llama", "rope": {"theta": NaN, "x": [1, -Infinity]}, "e": "\\u00e9"}')
    )
)
def test_a_damaged_config(content):
    found = answer(parse_config, content)
    if found is not None:
        json.dumps(found[0], ensure_ascii=False).encode()


INDEX = b'{"metadata": {"total_size": 12}, "weight_map": {"a.weight": "model-1.safetensors", "b\\n": "c"}}'


@thoroughly
@given(st.one_of(damaged(INDEX), json_values.map(lambda value: json.dumps({"weight_map": value}).encode())))
def test_any_bytes_as_index(file, content):
    file.write_bytes(content)
    found = answer(read_index, file)
    assert found is None or isinstance(found, Index)
    if found is not None:
        assert sum(names.count for names in found.files.values()) == len(list(read_weight_map(file)))


FILES = [
    "model.safetensors",
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    "model-00001-of-00003.safetensors",
    "consolidated.safetensors",
    "adapters.safetensors",
    "._model.safetensors",
    "a.gguf",
    "mmproj.gguf",
    "pytorch_model.bin",
]


@thoroughly
@given(
    st.dictionaries(st.sampled_from(FILES), st.integers(0, 4)),
    st.one_of(st.none(), st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([*FILES, "../x", "/x"]))),
    st.booleans(),
)
def test_any_set_of_files_gets_a_state(tmp_path_factory, files, weight_map, config):
    root = tmp_path_factory.mktemp("any")
    for name, count in files.items():
        if name.endswith(".gguf"):
            write_gguf(root / name, GGUF_KV, [["a", 0, [2], 8]] * min(count, 1))
        else:
            write_safetensors(
                root / name, [("abcdef"[number], "F32", [number + 1]) for number in range(count)]
            )
    if weight_map is not None:
        (root / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    if config:
        (root / "config.json").write_text('{"model_type": "llama"}')
    found = answer(open_checkpoint, root)
    if found is None:
        return
    names = [tensor.name for tensor in found.tensors]
    assert len(set(names)) == len(names)
    assert all(tensor.file < len(found.files) for tensor in found.tensors)
    assert all(tensor.file < len(found.skipped) for tensor in found.skipped_tensors)
    assert (found.reason == "") == (found.state is State.COMPLETE)
    read_bytes = sum(tensor.nbytes for tensor in (*found.tensors, *found.skipped_tensors))
    on_disk = sum(
        4 * count * (count + 1) // 2 for name, count in files.items() if name.endswith(".safetensors")
    )
    assert found.format == "gguf" or read_bytes == on_disk


@pytest.mark.parametrize("name", CASES)
def test_a_known_case_cut_off_anywhere_is_answered(tmp_path, name):
    path = CASES[name](tmp_path)
    target = path if path.is_file() else path / "model.safetensors"
    if not target.is_file() or target.stat().st_size > 1 << 20:
        return
    content = target.read_bytes()
    for length in sorted({*range(0, min(len(content), 700), 7), len(content) - 1}):
        target.write_bytes(content[:length])
        found = answer(open_checkpoint, path)
        assert found is None or isinstance(found, Checkpoint)
