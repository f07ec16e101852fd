"""The count against decode steps that were really executed, parameter by parameter, for 123 architectures.

decode-reads (80 architectures) and more-reads (43 more) hold, for a small configuration of each, how a step
of mlx-lm read every parameter, found by damaging one parameter, row or expert at a time.
"""

import json
import lzma
from functools import cache
from math import prod
from pathlib import Path

import pytest

from tests.checkpoints import checkpoint
from workbench.accounting.engine import count

DATA = Path(__file__).parents[1] / "data"
DTYPES = {"float32": "F32", "bfloat16": "BF16", "uint32": "U32", "uint8": "U8"}

EXPLAINED = {
    "longcat_flash": "what is routed to experts without weights reads expert 0 and multiplies it by 0",
    "minimax_m3_vl": "36 tokens pass its tiny sparse threshold: above it the indexer's queries are read",
}
"""Architectures where executed and counted bytes differ by more than 0.1 %, and why."""


@cache
def executed(file):
    return json.loads(lzma.decompress((DATA / file).read_bytes()))


def architectures():
    return [
        pytest.param(file, name, id=name)
        for file in ("truth/decode-reads.json.xz", "truth/more-reads.json.xz")
        for name in executed(file)
    ]


def counted(reads):
    tensors = {name: (DTYPES[dtype], shape) for name, (dtype, shape, *_) in reads["tensors"].items()}
    return count(checkpoint(tensors, reads["config"]))


@pytest.mark.parametrize(("file", "name"), architectures())
def test_the_count_is_what_the_step_reads(file, name):
    reads = executed(file)[name]
    found = counted(reads)
    difference = found.weight_bytes / reads["bytes_per_token"] - 1
    assert found.refusal is None
    assert (abs(difference) > 0.001) is (name in EXPLAINED)


@pytest.mark.parametrize(("file", "name"), architectures())
def test_tables_are_looked_up_and_experts_read_in_part(file, name):
    reads = executed(file)[name]
    if name in EXPLAINED:
        return
    for row in counted(reads).rows:
        _, shape, kind, share, times = reads["tensors"][row.name]
        if kind == "lookup" and share < 1:
            assert (row.share, row.lookup_bytes) == (0, row.disk_bytes // shape[0])
        elif kind == "experts" and share < 1 and times and len(shape) > 1:
            assert float(row.share) == pytest.approx(share)
        elif kind == "full" and prod(shape) > 4096:
            assert float(row.share) == pytest.approx(times)


def test_the_explanations_hold():
    sparse = executed("truth/decode-reads.json.xz")["minimax_m3_vl"]
    found = counted(sparse)
    at_thirty_six = found.weight_bytes + found.context.at(36).indexer_weight_bytes
    keys = sum(
        4 * prod(shape)
        for name, (_, shape, kind, *_) in sparse["tensors"].items()
        if "index_k" in name and kind == "never"
    )
    assert at_thirty_six == sparse["bytes_per_token"] + keys
    longcat = executed("truth/decode-reads.json.xz")["longcat_flash"]
    assert [finding.code for finding in counted(longcat).findings] == ["zero_experts"]


def test_both_collections_are_whole():
    assert len(executed("truth/decode-reads.json.xz")) == 80
    assert len(executed("truth/more-reads.json.xz")) == 43
    assert not executed("truth/decode-reads.json.xz").keys() & executed("truth/more-reads.json.xz").keys()
