"""Builders of malformed and tricky checkpoints: one function per case of data/checkpoints/malformed.json.

Each gets an empty directory and returns the path to open. All are variations of one small checkpoint of
42,112 bytes, of which a token reads 29,312 (the embedding of 12,800 bytes is looked up).
"""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.checkpoints import TOKENIZER, gguf_string, tensor_bytes, write_gguf, write_index, write_safetensors

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


def shards(root: Path, *numbers: int, total: int, tensors: Any = TENSORS) -> dict[str, str]:
    """Shards of the tensors, dealt round-robin over `total` files of which only `numbers` are written."""
    weight_map = {}
    for number in range(1, total + 1):
        file = f"model-{number:05d}-of-{total:05d}.safetensors"
        part = tensors[number - 1 :: total]
        weight_map |= {name: file for name, _, _ in part}
        if number in numbers:
            write_safetensors(root / file, part)
    return weight_map


@case
def missing_shard(root):
    dressed(root)
    write_index(root, shards(root, 1, total=2), {"total_size": TOTAL})


@case
def missing_shard_no_index(root):
    dressed(root)
    shards(root, 1, 3, total=3)


@case
def stale_shards(root):
    dressed(root)
    write_index(root, shards(root, 1, 2, total=2), {"total_size": TOTAL})
    shards(root, 1, 3, total=3)


@case
def consolidated_duplicate(root):
    whole(root)
    vendor = [
        ("tok_embeddings.weight", "BF16", [100, 64]),
        ("layers.0.feed_forward.w2.weight", "BF16", [64, 128]),
        ("norm.weight", "BF16", [64]),
        ("output.weight", "BF16", [100, 64]),
    ]
    write_safetensors(root / "consolidated.safetensors", vendor)


@case
def adapter_only(root):
    (root / "adapter_config.json").write_text(
        json.dumps({"peft_type": "LORA", "base_model_name_or_path": "meta-llama/Llama-3.2-1B"})
    )
    write_safetensors(root / "adapter_model.safetensors", [("base_model.lora_A.weight", "BF16", [8, 64])])


@case
def model_plus_adapter(root):
    whole(root)
    write_safetensors(root / "adapters.safetensors", [("model.layers.0.mlp.lora_a", "BF16", [64, 8])])


@case
def pickle_only(root):
    dressed(root)
    (root / "pytorch_model.bin").write_bytes(b"PK\x03\x04" + bytes(100))


@case
def empty_dir(root):
    pass


@case
def index_invalid(root):
    dressed(root)
    write_index(root, shards(root, 1, 2, total=2), {"total_size": TOTAL})
    index = root / "model.safetensors.index.json"
    index.write_text(index.read_text()[:-40])


@case
def index_total_wrong(root):
    dressed(root)
    write_index(root, shards(root, 1, 2, total=2), {"total_size": 54_912})


@case
def index_path_escape(root):
    dressed(root)
    weight_map = shards(root, 1, 2, total=2) | {"a.weight": "../../etc/passwd", "b.weight": "/etc/passwd"}
    write_index(root, weight_map, {"total_size": TOTAL})


def hub_cache(root: Path, *, broken: bool) -> Path:
    """The cache's layout: a snapshot of links to blobs; `broken` leaves one shard's download unfinished."""
    repository = root / "models--acme--tiny"
    snapshot = repository / "snapshots" / ("c0ffee" + "0" * 34)
    blobs = repository / "blobs"
    for folder in (snapshot, blobs, repository / "refs"):
        folder.mkdir(parents=True)
    (repository / "refs" / "main").write_text(snapshot.name)
    dressed(snapshot)
    write_index(snapshot, shards(snapshot, 1, 2, total=2), {"total_size": TOTAL})
    for number, path in enumerate(sorted(snapshot.iterdir())):
        blob = blobs / f"{number:064x}"
        path.rename(blob)
        path.symlink_to(Path("..") / ".." / "blobs" / blob.name)
    if broken:
        second = snapshot / "model-00002-of-00002.safetensors"
        blob = second.resolve()
        blob.rename(blob.with_suffix(".incomplete"))
    return snapshot


@case
def hf_cache_ok(root):
    return hub_cache(root, broken=False)


@case
def hf_cache_partial(root):
    return hub_cache(root, broken=True)


@case
def config_missing(root):
    whole(root, config=None)


@case
def config_invalid(root):
    whole(root, config='{"model_type":"llama", "vocab_size": 1 0}')


def mixture(root: Path, **changes: Any) -> None:
    """A mixture of 8 stacked experts; keys set to None are left out of its config."""
    config = {key: value for key, value in (MOE | changes).items() if value is not None}
    whole(root, (*TENSORS, *EXPERTS), config)


@case
def experts_zero(root):
    mixture(root, num_experts=0, num_experts_per_tok=None)


@case
def k_gt_e(root):
    mixture(root, num_experts_per_tok=12)


@case
def k_missing(root):
    mixture(root, num_experts_per_tok=None)


@case
def n_routed_experts(root):
    mixture(root, num_experts=None, n_routed_experts=8)


@case
def top_k_experts(root):
    mixture(root, num_experts_per_tok=None, top_k_experts=2)


@case
def tied_with_head(root):
    whole(root, config=CONFIG | {"tie_word_embeddings": True})


@case
def tie_conflict(root):
    whole(root, config=CONFIG | {"text_config": {"tie_word_embeddings": True, "num_hidden_layers": 1}})


@case
def unknown_name(root):
    whole(root, (*TENSORS, ("model.mystery", "BF16", [64, 64])))


@case
def modality_names(root):
    parts = [
        "multi_modal_projector.linear",
        "audio_tower.conv",
        "embed_audio.proj",
        "aligner.fc1",
        "patch_merge_mlp.fc",
    ]
    whole(root, (*TENSORS, *((f"{part}.weight", "BF16", [64, 64]) for part in parts)))


@case
def embed_names(root):
    whole(root, (("transformer.wte.weight", "BF16", [100, 64]), *TENSORS[1:]))


@case
def ple(root):
    tables = (("model.embed_tokens_per_layer.weight", "BF16", [100, 64]),)
    whole(root, (*TENSORS[:3], *tables), CONFIG | {"model_type": "gemma3n", "tie_word_embeddings": True})


@case
def mtp(root):
    extra = (("mtp.fc.weight", "BF16", [64, 64]), ("model.layers.1.mlp.down_proj.weight", "BF16", [32, 128]))
    whole(root, (*TENSORS, *extra), CONFIG | {"num_nextn_predict_layers": 1})


HOSTILE = (
    "model.\x1b[31mred\x1b[0m.weight",
    "model.new\nline.weight",
    "model.[bold red]rich[/].weight",
    "model.\u202ebidi.weight",
    "model." + "x" * 5000,
    "",
)


@case
def hostile_names(root):
    whole(root, (*TENSORS, *((name, "BF16", [8]) for name in HOSTILE)))


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
