"""Malformed GGUF files."""

import os
import struct

from tests.checkpoint.malformed import case
from tests.checkpoints import gguf_string, write_gguf

GGUF_KV = [["general.architecture", "str", "llama"], ["llama.block_count", "u32", 1]]
GGUF_TENSOR = ["blk.0.ffn_down.weight", 1, [64, 64], 8192]


@case
def gguf_ok(root):
    write_gguf(root / "tiny.gguf", GGUF_KV, [GGUF_TENSOR])
    return root / "tiny.gguf"


@case
def gguf_bad_magic(root):
    gguf_ok(root)
    path = root / "tiny.gguf"
    path.write_bytes(b"GGML" + path.read_bytes()[4:])
    return path


@case
def gguf_tensor_count(root):
    write_gguf(root / "tiny.gguf", GGUF_KV, [GGUF_TENSOR], metadata_only_count=1 << 60)
    return root / "tiny.gguf"


@case
def gguf_string_len(root):
    path = root / "tiny.gguf"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + gguf_string("general.name")
    path.write_bytes(head + struct.pack("<IQ", 8, 1 << 62) + bytes(64))
    return path


@case
def gguf_truncated(root):
    gguf_ok(root)
    path = root / "tiny.gguf"
    os.truncate(path, path.stat().st_size - 4096)
    return path
