"""The importer against output that llama.cpp itself published; see tests/data/llama-bench/README.md."""

from pathlib import Path

import pytest

from workbench.analysis.verdict import judged
from workbench.ledger.card import card
from workbench.ledger.imports import import_file
from workbench.ledger.llama_bench import LLAMA_BENCH_RULE

DATA = Path(__file__).parents[1] / "data" / "llama-bench"
JSON, JSONL = DATA / "rtx4080-qwen2-7b.json", DATA / "rtx4080-qwen2-7b.jsonl"


@pytest.mark.parametrize("path", [JSON, JSONL], ids=["json", "jsonl"])
def test_the_published_example_is_one_row_with_its_prompt_rate(path):
    imported = import_file(path, "the llama.cpp authors")
    [record] = imported.records
    assert imported.refused == ()
    assert record.generation_tps == 118.881588
    assert record.prompt_tps == 7100.002165
    assert (record.generation_tokens, record.prompt_tokens, record.repeats) == (128, 512, 5)
    assert record.repeats_tps == [119.03, 120.178, 119.43, 118.307, 117.464]
    assert record.decode_rule == LLAMA_BENCH_RULE
    assert (record.runtime, record.runtime_commit) == ("llama.cpp", "8cf427ff")
    assert record.device == "NVIDIA GeForce RTX 4080"
    assert record.model == "Qwen2.5-7B-Instruct-Q4_K_M.gguf"
    assert (record.architecture, record.quantization.mode) == ("qwen2", "Q4_K - Medium")
    assert (record.weight_bytes_per_token, record.rule) == (4_677_120_000, "whole-file")
    assert record.date == "2025-04-24T11:58:51Z"
    assert "not here" in record.scope


def test_both_forms_give_the_same_record():
    assert import_file(JSON, "x").records == import_file(JSONL, "x").records


def test_its_rate_is_what_its_own_samples_say():
    [record] = import_file(JSON).records
    assert record.tps_mean == pytest.approx(sum(record.repeats_tps) / 5, rel=1e-4)


def test_it_is_judged_and_carded_like_any_other_row():
    [record] = import_file(JSON).records
    assert judged(record).verdict == "none"  # it names no bandwidth
    lines = dict(card(record))
    assert lines["bits"] == "Q4_K - Medium"
    assert lines["versions"] == "llama.cpp commit 8cf427ff"


def test_windows_paths_and_padded_device_names_are_cleaned(tmp_path):
    text = JSONL.read_text().replace("models/Qwen2.5", "C:\\\\models\\\\Qwen2.5")
    text = text.replace("NVIDIA GeForce RTX 4080", "").replace("8-Core Processor", "8-Core Processor    ")
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    [record] = import_file(path).records
    assert record.model == "Qwen2.5-7B-Instruct-Q4_K_M.gguf"
    assert record.device == "AMD Ryzen 7 7800X3D 8-Core Processor"
