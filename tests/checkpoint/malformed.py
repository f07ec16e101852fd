"""Builders of malformed and tricky checkpoints: a good one, the means to spoil it, and single bad files.

Each case of data/checkpoints/malformed.json is a function that gets an empty directory; `cases` has them all.
They are variations of one small checkpoint of 42,112 bytes, of which a token reads 29,312 (the embedding of
12,800 bytes is looked up).
"""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.checkpoints import TOKENIZER, tensor_bytes, write_safetensors

EMBEDDING = ("model.embed_tokens.weight", "BF16", [100, 64])
MLP = ("model.layers.0.mlp.down_proj.weight", "BF16", [64, 128])
NORM = ("model.norm.weight", "BF16", [64])
HEAD = ("lm_head.weight", "BF16", [100, 64])
TENSORS = (EMBEDDING, MLP, NORM, HEAD)
CONFIG = {"model_type": "llama", "num_hidden_layers": 1, "vocab_size": 100, "tie_word_embeddings": False}
EXPERTS = tuple((f"model.layers.0.mlp.experts.{p}_proj.weight", "BF16", [8, 64, 128]) for p in ["up"])
MOE = {**CONFIG, "model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2}

CASES: dict[str, Callable[[Path], Path]] = {}


def case(build: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Register a builder under its own name; one that returns nothing built the directory itself."""
    CASES[build.__name__] = lambda root: build(root) or root
    return build


def dressed(root: Path, config: Any = CONFIG) -> None:
    """Config and tokenizer, so that only the weights can be wrong."""
    if config is not None:
        (root / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    (root / "tokenizer.json").write_text(TOKENIZER)


def whole(root: Path, tensors: Any = TENSORS, config: Any = CONFIG) -> None:
    """A checkpoint of one good file."""
    dressed(root, config)
    write_safetensors(root / "model.safetensors", tensors)


def raw(
    root: Path, head: bytes, *, length: int | None = None, data_bytes: int = 0, config: Any = CONFIG
) -> None:
    """A file of a length field, any header bytes, and a hole."""
    dressed(root, config)
    with (root / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(head) if length is None else length) + head)
        file.truncate(8 + len(head) + data_bytes)


def header(tensors: Any = TENSORS, **changes: Any) -> dict[str, Any]:
    """The header of the tensors packed in order; `changes` go to the entries by their module's name."""
    entries = {}
    at = 0
    for name, dtype, shape in tensors:
        end = at + tensor_bytes(dtype, shape)
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, end]}
        entries[name] |= changes.get(name.split(".")[-2], {})
        at = end
    return entries


def packed(**changes: Any) -> bytes:
    """`header` as JSON."""
    return json.dumps(header(**changes)).encode()


TOTAL = sum(tensor_bytes(dtype, shape) for _, dtype, shape in TENSORS)


@case
def ok_control(root):
    whole(root)


@case
def header_truncated(root):
    raw(root, packed()[:152], length=len(packed()))


@case
def header_len_beyond_file(root):
    raw(root, packed()[:100], length=1 << 20)


@case
def zero_bytes(root):
    dressed(root)
    (root / "model.safetensors").touch()


@case
def five_bytes(root):
    dressed(root)
    (root / "model.safetensors").write_bytes(b"\x10\0\0\0\0")


@case
def header_not_utf8(root):
    raw(root, b'{"a":"abcdef\xff"}')


@case
def header_not_json(root):
    raw(root, packed()[:-1] + b";", data_bytes=TOTAL)


@case
def header_leading_space(root):
    raw(root, b" " + packed(), data_bytes=TOTAL)


@case
def header_100mb(root):
    raw(root, b"{", length=100_000_001, data_bytes=100_000_100)


@case
def duplicate_keys(root):
    text = packed().decode()
    twice = '{"model.norm.weight": {"dtype": "BF16", "shape": [64], "data_offsets": [0, 128]}, ' + text[1:]
    raw(root, twice.encode(), data_bytes=TOTAL + 128)


@case
def offsets_overlap(root):
    raw(root, packed(down_proj={"data_offsets": [6400, 22784]}), data_bytes=TOTAL)


@case
def offsets_gap(root):
    raw(root, packed(lm_head={"data_offsets": [TOTAL - 12800 + 4096, TOTAL + 4096]}), data_bytes=TOTAL + 4096)


@case
def offsets_beyond_file(root):
    raw(root, packed(), data_bytes=TOTAL - 20_000)


@case
def trailing_bytes(root):
    raw(root, packed(), data_bytes=TOTAL + 10_000)


@case
def offsets_wrong_type(root):
    entries = header(
        embed_tokens={"data_offsets": [0.0, 12800.0]},
        down_proj={"data_offsets": ["12800", "29184"]},
        norm={"data_offsets": [1, 2, 3]},
    )
    del entries["lm_head.weight"]["data_offsets"]
    raw(root, json.dumps(entries).encode(), data_bytes=TOTAL)


@case
def shape_mismatch(root):
    raw(root, packed(lm_head={"shape": [100, 128]}), data_bytes=TOTAL)


@case
def unknown_dtypes(root):
    dtypes = ["F4", "F8_E4M3", "F8_E8M0", "U32", "F6_E2M3", "MYTYPE"]
    entries = header()
    for number, dtype in enumerate(dtypes):
        at = TOTAL + number * 24
        shape = {"F4": [48], "U32": [6], "F6_E2M3": [32]}.get(dtype, [24])
        entries[f"model.layers.0.extra{number}.weight"] = {
            "dtype": dtype, "shape": shape, "data_offsets": [at, at + 24],
        }  # fmt: skip
    raw(root, json.dumps(entries).encode(), data_bytes=TOTAL + 24 * len(dtypes))


@case
def zero_tensors(root):
    raw(root, b'{"__metadata__": {"format": "mlx"}}')


@case
def lfs_pointer(root):
    dressed(root)
    (root / "model.safetensors").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 4781571736\n"
    )


@case
def is_a_directory(root):
    dressed(root)
    (root / "model.safetensors").mkdir()


@case
def is_a_fifo(root):
    dressed(root)
    os.mkfifo(root / "model.safetensors")
