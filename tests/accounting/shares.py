"""Checkpoints written with the share that a step must read of each tensor, and what the count makes of it."""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

from tests.checkpoints import checkpoint, tensor_bytes
from workbench.accounting.engine import count

ROW = "row"
SHARES = {"all": Fraction(1), "never": Fraction(0), "row": ROW}
BASE = {
    "vocab_size": 512,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
}


def read_schemes(path: Path) -> dict[str, tuple[dict, dict]]:
    """The file's blocks: title -> (fields, {name: (dtype, shape, share)}). Its head explains the format."""
    schemes = {}
    for block in re.split(r"^== ", path.read_text(), flags=re.MULTILINE)[1:]:
        title, config, *lines = (line for line in block.splitlines() if line.strip())
        schemes[title] = (_fields(config), dict(entry for line in lines for entry in _entries(line)))
    return schemes


def misread(tensors, config=None, **fields):
    """What the count reads otherwise than written: {} if it is right.

    Totals and look-up rows are held against the same table; a refusal is a misreading too.
    """
    counted = count(checkpoint({name: entry[:2] for name, entry in tensors.items()}, config, **fields))
    wrong = {}
    total = rows = 0
    for row in counted.rows:
        dtype, shape, share = tensors[row.name]
        size = tensor_bytes(dtype, shape)
        found = ROW if row.lookup_bytes and not row.share else row.share
        if found != share:
            wrong[row.name] = (str(found), row.rule)
        total += 0 if share == ROW else int(size * share)
        rows += size // shape[0] if share == ROW else 0
    if (counted.weight_bytes, counted.lookup_bytes) != (total, rows):
        wrong["totals"] = (counted.weight_bytes, total, counted.lookup_bytes, rows)
    if counted.refusal is not None:
        wrong["refusal"] = counted.refusal.message
    return wrong


def _fields(text: str) -> dict:
    """What a Checkpoint needs besides its tensors: a config, or GGUF metadata."""
    if text.startswith("gguf "):
        return {"format": "gguf", "gguf": json.loads(text.removeprefix("gguf "))}
    return {"config": _config(text)}


def _config(text: str) -> dict:
    if text.startswith("+"):
        return BASE | json.loads(text[1:])
    return json.loads(re.sub(r"\+(?=[,}])", json.dumps(BASE)[1:-1], text))


def _entries(line: str) -> Iterator[tuple[str, tuple[str, tuple[int, ...], Fraction | str]]]:
    share, kind, name = line.split()
    dtype, _, shape = kind.rpartition(":")
    entry = (
        dtype or "BF16",
        tuple(map(int, shape.split("x"))),
        SHARES[share] if share in SHARES else Fraction(share),
    )
    ranges = re.findall(r"\[(\d+)-(\d+)\]", name)
    template = re.sub(r"\[\d+-\d+\]", "{}", name)
    for numbers in product(*(range(int(first), int(last) + 1) for first, last in ranges)):
        yield template.format(*numbers), entry
