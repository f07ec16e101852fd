"""Broken copies of a tiny checkpoint, one per way in which loading fails."""

import json
import os
import shutil
import struct
from pathlib import Path


def broken_checkpoints(sound: Path, directory: Path) -> dict[str, Path]:
    """Make every case below `directory` from the sound checkpoint; returns case -> path."""
    made = {
        "absolute path typo": directory / "not-there",
        "relative path typo": Path("mlx-community/tiny-1-typo"),
    }
    for case, breaks in CASES.items():
        path = directory / case.replace(" ", "-")
        shutil.copytree(sound, path)
        breaks(path)
        made[case] = path
    file = directory / "just-a-file"
    file.write_text("x")
    evil = directory / "evil\x1b[31m\u202e"
    evil.mkdir()
    (evil / "config.json").write_text("{}")
    return made | {"a file": file, "evil name": evil}


def _config(**changes):
    def breaks(path: Path) -> None:
        config = json.loads((path / "config.json").read_text())
        for key, value in changes.items():
            if value is None:
                config.pop(key, None)
            else:
                config[key] = value
        (path / "config.json").write_text(json.dumps(config))

    return breaks


def _write(name: str, content: bytes):
    return lambda path: (path / name).write_bytes(content)


def _delete(*names: str):
    return lambda path: [(path / name).unlink() for name in names]


def _tensors(change):
    """Rewrite model.safetensors with a changed dict of name -> (shape, bytes)."""

    def breaks(path: Path) -> None:
        file = path / "model.safetensors"
        raw = file.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + length])
        header.pop("__metadata__")
        data = raw[8 + length :]
        tensors = {n: (h["shape"], data[slice(*h["data_offsets"])]) for n, h in header.items()}
        change(tensors)
        out, body = {}, b""
        for name, (shape, content) in tensors.items():
            out[name] = {
                "dtype": "F32",
                "shape": shape,
                "data_offsets": [len(body), len(body) + len(content)],
            }
            body += content
        text = json.dumps(out).encode()
        file.write_bytes(struct.pack("<Q", len(text)) + text + body)

    return breaks


def _drop_half(tensors):
    for name in list(tensors)[1::2]:
        del tensors[name]


def _reshape_one(tensors):
    name = "model.layers.0.mlp.up_proj.weight"
    shape, content = tensors[name]
    tensors[name] = (shape[::-1], content)


def _add_one(tensors):
    tensors["model.layers.0.surprise.weight"] = ([1], b"\0\0\0\0")


def _truncate(path: Path) -> None:
    os.truncate(path / "model.safetensors", 300_000)


def _rename(path: Path) -> None:
    (path / "model.safetensors").rename(path / "weights.safetensors")


def _dangle(path: Path) -> None:
    (path / "model.safetensors").unlink()
    (path / "model.safetensors").symlink_to("../blobs/gone")


def _pipe(path: Path) -> None:
    (path / "model.safetensors").unlink()
    os.mkfifo(path / "model.safetensors")


def _config_pipe(path: Path) -> None:
    (path / "config.json").unlink()
    os.mkfifo(path / "config.json")


def _config_bom(path: Path) -> None:
    (path / "config.json").write_bytes(b"\xef\xbb\xbf" + (path / "config.json").read_bytes())


def _shift_tokens(path: Path) -> None:
    tokenizer = json.loads((path / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {token: 600 + i for i, token in enumerate(vocabulary)}
    tokenizer["added_tokens"] = []
    (path / "tokenizer.json").write_text(json.dumps(tokenizer))


def _empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


_LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"

CASES = {
    "empty directory": _empty,
    "no config": _delete("config.json"),
    "config a named pipe": _config_pipe,
    "config with a byte-order mark": _config_bom,
    "config not JSON": _write("config.json", b"{nope"),
    "config a list": _write("config.json", b"[1]"),
    "config not UTF-8": _write("config.json", b"\xff\xfe{\x00}\x00"),
    "no model_type": _config(model_type=None),
    "unknown model_type": _config(model_type="quokka_9"),
    "model_type of no model": _config(model_type="base"),
    "model_type a path": _config(model_type="../../evil"),
    "model_type a list": _config(model_type=["llama"]),
    "config field missing": _config(hidden_size=None),
    "no tokenizer": _delete("tokenizer.json", "tokenizer_config.json"),
    "no tokenizer.json": _delete("tokenizer.json"),
    "no tokenizer_config": _delete("tokenizer_config.json"),
    "tokenizer of another model": _shift_tokens,
    "empty tokenizer.json": _write("tokenizer.json", b"{}"),
    "broken tokenizer.json": _write("tokenizer.json", b"{"),
    "no safetensors": _delete("model.safetensors"),
    "weights under another name": _rename,
    "a shard missing": _tensors(_drop_half),
    "wrong shape": _tensors(_reshape_one),
    "vocabulary mismatch": _config(vocab_size=600),
    "extra tensor": _tensors(_add_one),
    "truncated": _truncate,
    "zero bytes": _write("model.safetensors", b""),
    "git-lfs pointer": _write("model.safetensors", _LFS),
    "broken link": _dangle,
    "named pipe": _pipe,
    "no quant_method": _config(quantization_config={"bits": 4}),
    "own code": _config(model_file="modeling.py"),
    "own tokenizer code": _write(
        "tokenizer_config.json",
        json.dumps({"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Evil", None]}}).encode(),
    ),
}
