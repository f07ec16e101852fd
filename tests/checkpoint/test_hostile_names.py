"""Names made to break a terminal: kept as they are in the data, harmless in every sentence about them."""

import json
import re
import struct

import pytest

from tests.checkpoint.malformed import CONFIG, TENSORS, dressed, whole
from tests.checkpoint.malformed_contents import HOSTILE
from tests.checkpoints import write_gguf, write_index, write_safetensors
from workbench.checkpoint.reading import open_checkpoint
from workbench.errors import CheckpointError

NAMES = [name for name in HOSTILE if "/" not in name and len(name) < 200 and name]
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def sentences(root) -> list[str]:
    """All that the reader says about the checkpoint at `root`, at least one sentence."""
    try:
        found = open_checkpoint(root)
    except CheckpointError as error:
        return [error.message, error.hint]
    said = [found.reason, *(finding.message for finding in found.findings)]
    assert any(said)
    return said


def harmless(said) -> bool:
    return all(not UNSAFE.search(sentence) and len(sentence) < 2000 for sentence in said)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_tensor_name_in_a_fault(tmp_path, name):
    dressed(tmp_path)
    entries = {
        name: {"dtype": "F32", "shape": [9], "data_offsets": [0, 8]},
        name + ".": {"dtype": f"X{name}", "shape": [2], "data_offsets": [4, 12]},
    }
    raw = json.dumps(entries).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(raw)) + raw + bytes(12))
    assert harmless(sentences(tmp_path))
    assert open_checkpoint(tmp_path).tensors[0].name == name


@pytest.mark.parametrize("name", HOSTILE)
def test_a_malformed_entry_and_a_repeated_one(tmp_path, name):
    dressed(tmp_path)
    raw = json.dumps({name: 5}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(raw)) + raw)
    assert harmless(sentences(tmp_path))
    twice = raw[:-1] + b"," + raw[1:]
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(twice)) + twice)
    assert harmless(sentences(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_name(tmp_path, name):
    dressed(tmp_path)
    write_safetensors(tmp_path / "model.safetensors", TENSORS)
    (tmp_path / f"model{name}.safetensors").write_bytes(b"")
    assert harmless(sentences(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_the_directory_itself(tmp_path, name):
    root = tmp_path / name
    root.mkdir()
    assert harmless(sentences(root))
    assert harmless(sentences(root / "gone"))


@pytest.mark.parametrize("name", HOSTILE)
def test_an_index(tmp_path, name):
    whole(tmp_path)
    write_index(tmp_path, {name: f"model{name}.safetensors"}, {})
    assert harmless(sentences(tmp_path))
    write_index(tmp_path, {name: f"../{name}"}, {})
    assert harmless(sentences(tmp_path))
    write_index(tmp_path, {name: "model.safetensors"}, {})
    assert harmless(sentences(tmp_path))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_config(tmp_path, name):
    key = json.dumps(name)
    whole(tmp_path, config=f'{{{key}: 1, {key}: 2, "model_file": {key}, "model_type": 5}}')
    assert harmless(sentences(tmp_path))


@pytest.mark.parametrize("name", HOSTILE)
def test_the_base_of_an_adapter(tmp_path, name):
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": name}))
    write_safetensors(tmp_path / "adapter_model.safetensors", [("lora", "F32", [1])])
    assert harmless(sentences(tmp_path))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_a_gguf_file(tmp_path, name):
    kv = [[name, "u8", 1], [name, "u8", 1], ["general.alignment", "str", name]]
    tensors = [[name, 0, [9], 8], [name, 12, [3], 8]]
    write_gguf(tmp_path / "a.gguf", kv[:2], tensors)
    assert harmless(sentences(tmp_path / "a.gguf"))
    write_gguf(tmp_path / "a.gguf", kv, tensors)
    assert harmless(sentences(tmp_path / "a.gguf"))


def test_config_values_are_kept_as_they_are(tmp_path):
    whole(tmp_path, config=CONFIG | {"model_type": HOSTILE[0]})
    assert open_checkpoint(tmp_path).config["model_type"] == HOSTILE[0]
