"""Malformed sets of files: shards, indexes, second copies, the Hugging Face cache."""

import json
from pathlib import Path
from typing import Any

from tests.checkpoint.malformed import TENSORS, TOTAL, case, dressed, whole
from tests.checkpoints import write_index, write_safetensors


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
