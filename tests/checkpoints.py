"""Checkpoints for the tests: the header-only fixtures made real (sparse files), and small invented ones.

A fixture is a published checkpoint's configuration and tensor list without weights. `materialize` writes it
as sparse files in a temporary directory (577 GB cost about 1 MB), `in_memory` skips the disk, `invent` and
`write_*` build checkpoints that no one published.
"""

import hashlib
import json
import lzma
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from workbench.checkpoint.checkpoint import Checkpoint, SkippedFile, Tensor, WeightFile

DATA = Path(__file__).parent / "data" / "checkpoints"

ITEM_BITS = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "U8": 8,
    "I8": 8,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "F8_E8M0": 8,
    "U16": 16,
    "I16": 16,
    "F16": 16,
    "BF16": 16,
    "U32": 32,
    "I32": 32,
    "F32": 32,
    "U64": 64,
    "I64": 64,
    "F64": 64,
}

GGUF_TYPE_IDS = {
    "u8": 0, "i8": 1, "u16": 2, "i16": 3, "u32": 4, "i32": 5, "f32": 6,
    "bool": 7, "str": 8, "arr": 9, "u64": 10, "i64": 11, "f64": 12,
}  # fmt: skip
GGUF_PACK = {
    "u8": "<B", "i8": "<b", "u16": "<H", "i16": "<h", "u32": "<I", "i32": "<i", "f32": "<f",
    "bool": "<?", "u64": "<Q", "i64": "<q", "f64": "<d",
}  # fmt: skip

TOKENIZER = '{"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}'
"""Enough of a tokenizer.json for a reader that asks whether one is there."""


def names() -> list[str]:
    """All fixtures, safetensors and GGUF."""
    return sorted(path.name.removesuffix(".json.xz") for path in DATA.glob("*.json.xz"))


@cache
def fixture(name: str) -> dict[str, Any]:
    """One fixture as parsed; do not change it."""
    return json.loads(lzma.decompress((DATA / f"{name}.json.xz").read_bytes()))


def materialize(name: str, directory: Path, *, tokenizer: bool = True) -> Path:
    """Write the fixture below `directory`; the checkpoint's directory, or the .gguf file's path.

    `tokenizer` adds a stub tokenizer.json, so that nothing but the weights' content is missing.
    """
    described = fixture(name)
    if gguf := described.get("gguf"):
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / gguf["name"]
        write_gguf(path, gguf["kv"], gguf["tensors"], version=gguf["version"], alignment=gguf["alignment"])
        return path
    root = directory / name
    root.mkdir(parents=True)
    if described["config"] is not None:
        (root / "config.json").write_text(json.dumps(described["config"]))
    if tokenizer:
        (root / "tokenizer.json").write_text(TOKENIZER)
    for file in described["files"]:
        write_safetensors(root / file["name"], file["tensors"], file["layout"], file["metadata"])
    if described["index"] is not None:
        indexed = set(_index_files(described))
        weight_map = {
            tensor: file["name"]
            for file in described["files"]
            if file["name"] in indexed
            for tensor, _, _ in file["tensors"]
        }
        write_index(root, weight_map, described["index"])
    for relative, text in described.get("extra", {}).items():
        path = root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def in_memory(name: str, path: Path = Path("/nowhere")) -> Checkpoint:
    """The Checkpoint that reading the materialized safetensors fixture gives, without any file."""
    described = fixture(name)
    counted = [file for file in described["files"] if file["name"].startswith("model")]
    beside = [file for file in described["files"] if file not in counted]
    return Checkpoint(
        path=path / name,
        name=name,
        format="safetensors",
        config=described["config"] or {},
        files=tuple(WeightFile(file["name"], _file_bytes(file)) for file in counted),
        tensors=_tensors(counted),
        skipped=tuple(SkippedFile(file["name"], _file_bytes(file), "not loaded") for file in beside),
        skipped_tensors=_tensors(beside),
    )


def checkpoint(
    tensors: Mapping[str, tuple[str, Sequence[int]]], config: Mapping[str, Any] | None = None, **fields: Any
) -> Checkpoint:
    """An invented Checkpoint in memory: `{"model.norm.weight": ("BF16", [64])}` in one file."""
    rows = tuple(
        Tensor(name, dtype, tuple(shape), tensor_bytes(dtype, shape), 0)
        for name, (dtype, shape) in tensors.items()
    )
    total = sum(row.nbytes for row in rows)
    defaults: dict[str, Any] = {
        "path": Path("/nowhere/invented"),
        "name": "invented",
        "format": "safetensors",
        "config": dict(config or {}),
        "files": (WeightFile("model.safetensors", total),),
        "tensors": rows,
    }
    return Checkpoint(**(defaults | fields))


def invent(
    directory: Path,
    tensors: Mapping[str, tuple[str, Sequence[int]]],
    config: Mapping[str, Any] | None = None,
    *,
    shards: int = 1,
    layout: str = "mlx",
) -> Path:
    """Write an invented checkpoint of sparse files: config, tokenizer stub, shards and their index."""
    directory.mkdir(parents=True, exist_ok=True)
    if config is not None:
        (directory / "config.json").write_text(json.dumps(config))
    (directory / "tokenizer.json").write_text(TOKENIZER)
    entries = [[name, dtype, list(shape)] for name, (dtype, shape) in tensors.items()]
    if shards == 1:
        write_safetensors(directory / "model.safetensors", entries, layout, {"format": "mlx"})
        return directory
    weight_map = {}
    for number in range(shards):
        file = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        part = entries[number::shards]
        write_safetensors(directory / file, part, layout, {"format": "mlx"})
        weight_map |= {entry[0]: file for entry in part}
    write_index(directory, weight_map, {"total_size": sum(tensor_bytes(*entry[1:]) for entry in entries)})
    return directory


def write_index(directory: Path, weight_map: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Write model.safetensors.index.json."""
    index = {"metadata": dict(metadata), "weight_map": dict(weight_map)}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))


def write_safetensors(
    path: Path,
    tensors: Sequence[Sequence[Any]],
    layout: str = "mlx",
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a sparse safetensors file: `tensors` are (name, dtype, shape).

    Layout `mlx` is as mlx saves (keys sorted, offsets in no useful order, header not padded), `hf` as the
    safetensors crate writes (by item size, then name; header padded to 8).
    """
    ordered = _in_header_order(tensors, layout)
    offsets: dict[str, list[int]] = {}
    end = 0
    for name, dtype, shape in _in_data_order(ordered, layout):
        start, end = end, end + tensor_bytes(dtype, shape)
        offsets[name] = [start, end]
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    for name, dtype, shape in ordered:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": offsets[name]}
    raw = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    if layout == "hf":
        raw += b" " * (-len(raw) % 8)
    write_sparse(path, struct.pack("<Q", len(raw)) + raw, end)


def write_sparse(path: Path, head: bytes, data_bytes: int) -> None:
    """Write `head` and a hole of `data_bytes` after it."""
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + data_bytes)


def write_gguf(
    path: Path,
    kv: Sequence[Sequence[Any]],
    tensors: Sequence[Sequence[Any]],
    *,
    version: int = 3,
    alignment: int = 32,
    metadata_only_count: int | None = None,
) -> None:
    """Write a sparse GGUF file: `kv` are (key, type, value), `tensors` (name, type id, dims, bytes).

    Arrays are `arr:TYPE` with a list, or `{"n", "bytes"}` / `{"n", "value"}` for a made-up content of that
    size. `metadata_only_count` lies about the number of tensors.
    """
    count = len(tensors) if metadata_only_count is None else metadata_only_count
    head = bytearray(b"GGUF" + struct.pack("<IQQ", version, count, len(kv)))
    for key, kind, value in kv:
        head += gguf_string(key) + struct.pack("<I", GGUF_TYPE_IDS[kind.split(":")[0]])
        head += _gguf_value(kind, value)
    offset = 0
    for name, type_id, dims, nbytes in tensors:
        head += gguf_string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, type_id, offset)
        offset += nbytes + -nbytes % alignment
    head += b"\0" * (-len(head) % alignment)
    write_sparse(path, bytes(head), offset)


def gguf_string(text: str | bytes) -> bytes:
    """A string as GGUF v2 and v3 write it: length, then UTF-8."""
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw


def tensor_bytes(dtype: str, shape: Sequence[int]) -> int:
    """Bytes of a dense tensor of this dtype and shape."""
    return prod(shape) * ITEM_BITS[dtype] // 8


def _gguf_value(kind: str, value: Any) -> bytes:
    if kind == "str":
        return gguf_string(value)
    if not kind.startswith("arr:"):
        return struct.pack(GGUF_PACK[kind], value)
    item = kind.removeprefix("arr:")
    if isinstance(value, dict):
        n = value["n"]
        if item == "str":
            each, more = divmod(value["bytes"], n)
            value = ["x" * (each + (i < more)) for i in range(n)]
        else:
            value = [value["value"]] * n
    head = struct.pack("<IQ", GGUF_TYPE_IDS[item], len(value))
    return head + b"".join(_gguf_value(item, element) for element in value)


def _in_header_order(tensors: Sequence[Sequence[Any]], layout: str) -> list[Sequence[Any]]:
    if layout == "hf":
        return sorted(tensors, key=lambda tensor: (-ITEM_BITS[tensor[1]], tensor[0]))
    return sorted(tensors, key=lambda tensor: tensor[0])


def _in_data_order(ordered: list[Sequence[Any]], layout: str) -> list[Sequence[Any]]:
    if layout == "hf":
        return ordered
    return sorted(ordered, key=lambda tensor: hashlib.blake2b(tensor[0].encode("utf-8", "replace")).digest())


def _index_files(described: Mapping[str, Any]) -> list[str]:
    return described.get("index_files") or [file["name"] for file in described["files"]]


def _tensors(files: Sequence[Mapping[str, Any]]) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(name, dtype, tuple(shape), tensor_bytes(dtype, shape), number)
        for number, file in enumerate(files)
        for name, dtype, shape in _in_header_order(file["tensors"], file["layout"])
    )


def _file_bytes(file: Mapping[str, Any]) -> int:
    return sum(tensor_bytes(dtype, shape) for _, dtype, shape in file["tensors"])
