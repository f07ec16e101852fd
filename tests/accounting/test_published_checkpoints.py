"""Published checkpoints, to the byte: what a token reads, the source documents' rule, and their tables."""

from decimal import ROUND_HALF_UP, Decimal
from functools import cache

import pytest

from tests.checkpoints import fixture, in_memory, materialize, names
from workbench.accounting import engine
from workbench.accounting.roles import Role
from workbench.accounting.ruling import weight_bytes_by_rule
from workbench.checkpoint.reading import open_checkpoint

SAFETENSORS = [name for name in names() if not name.startswith("gguf-")]
GGUF = [name for name in names() if name.startswith("gguf-")]


@cache
def counted(name):
    return engine.count(in_memory(name))


def test_all_published_checkpoints_are_here():
    assert (len(SAFETENSORS), len(GGUF)) == (37, 2)


@pytest.mark.parametrize("name", SAFETENSORS)
def test_a_token_reads_exactly_the_right_bytes(name):
    found, right = counted(name), fixture(name)["expect"]["truth"]
    assert found.weight_bytes == right["per_token"]
    assert found.disk_bytes == right["total"]
    assert found.refusal is None
    assert (found.tied, found.experts) == (right["tied"], right["E"])
    assert found.experts_per_token == (right["k"] if right["E"] else 0)


@pytest.mark.parametrize("name", SAFETENSORS)
def test_the_parts_of_a_checkpoint_are_told_apart(name):
    found, right = counted(name).by_role, fixture(name)["expect"]["truth"]

    def on_disk(*roles):
        return sum(found[role].on_disk for role in roles if role in found)

    assert on_disk(Role.VISION, Role.PROJECTOR) == right["vision"]
    assert on_disk(Role.AUDIO) == right["audio"]
    assert on_disk(Role.DRAFT) == right["mtp"]
    assert on_disk(Role.EXPERT) == right["experts"]
    assert on_disk(Role.EMBEDDING) == right["embed"] + right["ple"]
    assert on_disk(Role.HEAD) == right["head"]


@pytest.mark.parametrize("name", SAFETENSORS)
def test_the_seed_rule_gives_the_source_documents_bytes(name):
    found, right = counted(name).seed, fixture(name)["expect"]["seed"]
    assert found.weight_bytes == right["per_token"]
    assert (found.total_bytes, found.vision_bytes) == (right["total"], right["vision"])
    assert (found.embedding_bytes, found.expert_bytes) == (right["embed"], right["experts"])
    assert (found.tied, found.experts, found.experts_per_token) == (right["tied"], right["E"], right["k"])


@pytest.mark.parametrize("name", SAFETENSORS)
def test_nothing_published_is_left_unclassified(name):
    assert not [row.name for row in counted(name).rows if row.rule == "unclassified"]


@pytest.mark.parametrize("name", GGUF)
def test_gguf_files_have_both_rules_by_name(name, tmp_path):
    checkpoint, right = open_checkpoint(materialize(name, tmp_path)), fixture(name)["expect"]
    found = engine.count(checkpoint)
    assert weight_bytes_by_rule("count", checkpoint, found) == right["per_token"]
    assert weight_bytes_by_rule("whole-file", checkpoint, found) == right["file_bytes"]
    assert found.by_role[Role.EMBEDDING].on_disk == right["embed"]
    assert found.runtime == "llama.cpp"


def test_the_bandwidth_ledgers_ceilings_come_from_the_whole_file(tmp_path):
    ceilings = {}
    for name in GGUF:
        checkpoint = open_checkpoint(materialize(name, tmp_path))
        found = engine.count(checkpoint)
        for rule in ("whole-file", "count"):
            ceilings[name, rule] = 273e9 / weight_bytes_by_rule(rule, checkpoint, found)
    one_bit, sixteen = "gguf-Bonsai-8B-Q1_0", "gguf-Qwen3-8B-F16"
    assert round(ceilings[one_bit, "whole-file"], 1) == 235.6
    assert round(ceilings[one_bit, "count"], 1) == 256.2
    assert round(ceilings[sixteen, "whole-file"], 2) == 16.66
    assert round(ceilings[sixteen, "count"], 1) == 18.0


# "The Decode Ceiling", table 1: on disk, vision, embedding, experts, bytes per token, in GB as printed.
TABLE = {
    "mlx-Qwen3.5-0.8B-4bit": ("0.625", "0.201", "0.143", None, "0.424"),
    "mlx-Qwen3.5-9B-4bit": ("5.95", "0.912", "0.572", None, "4.466"),
    "mlx-Qwen3.5-27B-4bit": ("16.05", "0.921", "0.715", None, "14.42"),
    "mlx-Qwen3.5-35B-A3B-4bit": ("20.39", "0.893", "0.286", "18.12", "1.659"),
    "mlx-Llama-3.2-1B-Instruct-4bit": ("0.695", None, "0.148", None, "0.695"),
}
TIED_IN_TABLE = {"mlx-Qwen3.5-0.8B-4bit", "mlx-Llama-3.2-1B-Instruct-4bit"}


def as_printed(value, digits_like):
    """`value` rounded half up to as many decimals as the published cell has."""
    return Decimal(value).quantize(Decimal(digits_like), ROUND_HALF_UP)


@pytest.mark.parametrize("name", TABLE)
def test_table_one_is_reproduced_in_every_cell(name):
    found = counted(name)
    seed = found.seed
    ours = (seed.total_bytes, seed.vision_bytes, seed.embedding_bytes, seed.expert_bytes, found.weight_bytes)
    for bytes_found, cell in zip(ours, TABLE[name], strict=True):
        if cell is None:
            assert bytes_found == 0
        else:
            assert as_printed(Decimal(bytes_found) / 10**9, cell) == Decimal(cell)
    assert found.tied is (name in TIED_IN_TABLE)
    assert found.weight_bytes == seed.weight_bytes


# "The Decode Ceiling", table 2: ceiling at 638 GB/s, measured tok/s, measured / ceiling.
CEILINGS = {
    "mlx-Qwen3.5-0.8B-4bit": ("1505", "338.2", "22"),
    "mlx-Qwen3.5-2B-4bit": ("602", "257", "43"),
    "mlx-Qwen3.5-9B-4bit": ("143", "95.1", None),  # 66.5 %, published 67: see below
    "mlx-Qwen3.5-27B-4bit": ("44", "32.6", "74"),
    "mlx-Qwen3.5-35B-A3B-4bit": ("385", "89.1", "23"),
    "mlx-Qwen3.5-4B-4bit": (None, "148", "55"),  # 269.53, published 269: see below
}


@pytest.mark.parametrize("name", CEILINGS)
def test_table_two_is_reproduced_in_every_cell_but_the_named(name):
    published, measured, fraction = CEILINGS[name]
    ceiling = Decimal(638 * 10**9) / counted(name).weight_bytes
    if published is not None:
        assert as_printed(ceiling, "1") == Decimal(published)
    if fraction is not None:
        assert as_printed(100 * Decimal(measured) / ceiling, "1") == Decimal(fraction)


def test_the_four_cells_that_came_from_rounded_inputs_are_told_as_they_are():
    big = counted("mlx-Qwen3.5-35B-A3B-4bit")
    four, nine = (counted(f"mlx-Qwen3.5-{size}B-4bit") for size in (4, 9))
    # 4B's ceiling at 638 GB/s: published 269, cut off instead of rounded.
    assert as_printed(Decimal(638 * 10**9) / four.weight_bytes, "0.01") == Decimal("269.53")
    # Run 1 counted all bytes: 88.99 tok/s x 20.39 GB = 1,814.6 GB/s of 819 is 221.6 %, published 221.
    effective = Decimal("88.99") * big.seed.total_bytes / 10**9
    assert as_printed(effective, "0.1") == Decimal("1814.6")
    assert as_printed(effective / 819 * 100, "0.1") == Decimal("221.6")
    # 89.1 x 1.659 GB is 147.8 GB/s, published 147.9.
    assert as_printed(Decimal("89.1") * Decimal(big.weight_bytes) / 10**9, "0.1") == Decimal("147.8")
    # 95 of 142.9 tok/s is 66.5 %, published 67.
    ceiling = Decimal(638 * 10**9) / nine.weight_bytes
    assert as_printed(95 / ceiling * 100, "0.1") == Decimal("66.5")


# "Write the Prediction Before the Number": bytes per token in GB, ceiling at 819 GB/s, measured, fraction.
AT_819 = {
    "mlx-Qwen3.5-0.8B-4bit": ("0.42", "1932", "338.2", "18"),
    "mlx-Qwen3.5-9B-4bit": ("4.47", "183", "95.1", "52"),
    "mlx-Qwen3.5-27B-4bit": ("14.42", "56.8", "32.6", "57"),
    "mlx-Qwen3.5-35B-A3B-4bit": ("1.66", "494", "89.1", "18"),
}


@pytest.mark.parametrize("name", AT_819)
def test_the_table_at_the_chips_specification_is_reproduced(name):
    size, published, measured, fraction = AT_819[name]
    found = counted(name)
    ceiling = Decimal(819 * 10**9) / found.weight_bytes
    assert as_printed(Decimal(found.weight_bytes) / 10**9, size) == Decimal(size)
    assert as_printed(ceiling, published) == Decimal(published)
    assert as_printed(Decimal(measured) / ceiling * 100, "1") == Decimal(fraction)


def test_run_one_counted_every_byte_and_predicted_too_little():
    checkpoint = in_memory("mlx-Qwen3.5-35B-A3B-4bit")
    everything = weight_bytes_by_rule("all-bytes", checkpoint, engine.count(checkpoint))
    assert as_printed(Decimal(everything) / 10**9, "0.01") == Decimal("20.39")
    assert as_printed(Decimal(819 * 10**9) / everything, "0.1") == Decimal("40.2")
