import json
import os
from datetime import UTC, datetime

import pytest

from workbench.analysis.verdict import judged
from workbench.errors import LedgerError, UsageError
from workbench.ledger.external import external_row
from workbench.ledger.imports import import_file
from workbench.ledger.llama_bench import LLAMA_BENCH_RULE
from workbench.ledger.merge import add_new
from workbench.ledger.source_rows import MLX_LM_RULE
from workbench.ledger.store import read
from workbench.ledger.verify import verify
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind

# as the source documents' program writes a line; run_once's four rates under mlx-lm's names
SOURCE_ROW = {
    "alias": "office",
    "device": "Apple M3 Ultra",
    "memory_gb": 549.8,
    "recommended_working_set_gb": 498.2,
    "macos": "26.0",
    "mlx": "0.32.2",
    "mlx_lm": "0.31.0",
    "date": "2026-09-15T10:00:00+00:00",
    "experiment": "ladder",
    "model": "mlx-community/Qwen3.5-35B-A3B-4bit",
    "weight_bytes_total": 20391405152,
    "weight_bytes_vision": 893142496,
    "weight_bytes_embed": 286064640,
    "weight_bytes_experts": 18119393280,
    "tied_embeddings": False,
    "experts": 256,
    "experts_per_token": 8,
    "weight_bytes_per_token": 1659035776,
    "quantization": {"group_size": 64, "bits": 4, "mode": "affine", "model.layers.0.mlp.gate": {"bits": 8}},
    "prompt_tokens": 209,
    "prompt_tps": 1000.5,
    "generation_tokens": 200,
    "generation_tps": 89.1,
    "peak_memory": 20.9,
    "predicted_decode_tps": 493.7,
    "effective_gbps": 147.8,
}

# llama-bench -o jsonl, the fields of its public format
BENCH = {
    "build_commit": "0104b15",
    "build_number": 7000,
    "cpu_info": "Apple M4 Pro",
    "gpu_info": "Apple M4 Pro",
    "backends": "MTL,BLAS",
    "model_filename": "/models/Bonsai-8B-Q1_0.gguf",
    "model_type": "qwen3 8B Q1_0",
    "model_size": 1150000000,
    "model_n_params": 8190735360,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_threads": 10,
    "type_k": "f16",
    "type_v": "f16",
    "n_gpu_layers": 99,
    "n_depth": 0,
    "test_time": "2026-07-07T09:00:00Z",
    "avg_ns": 1969230769,
    "stddev_ns": 1000000,
    "samples_ns": [1969230769, 1969230769],
}
PROMPT = {
    **BENCH,
    "n_prompt": 512,
    "n_gen": 0,
    "avg_ts": 812.4,
    "stddev_ts": 3.2,
    "samples_ts": [812.0, 812.8],
}
GENERATION = {
    **BENCH,
    "n_prompt": 0,
    "n_gen": 128,
    "avg_ts": 65.0,
    "stddev_ts": 0.5,
    "samples_ts": [64.5, 65.5],
}
MIXED = {**BENCH, "n_prompt": 512, "n_gen": 128, "avg_ts": 300.0}


def written(tmp_path, *rows, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_source_row_keeps_its_figures_and_says_where_it_comes_from(tmp_path):
    [record] = import_file(written(tmp_path, SOURCE_ROW)).records
    assert (record.status, record.experiment, record.alias) == ("imported", "ladder", "office")
    assert "not measured here" in record.reason
    assert record.generation_tps == record.generation_tps_mlx_lm == 89.1
    assert record.decode_rule == MLX_LM_RULE
    assert record.weight_bytes_per_token == 1659035776
    assert (record.quantization.bits, record.quantization.group_size) == (4, 64)
    assert record.peak_memory_gb == 20.9
    assert (record.bandwidth_gbps, record.bandwidth_kind) == (819.0, "stated")


def test_a_source_row_is_judged_like_any_other(tmp_path):
    run_1 = {**SOURCE_ROW, "generation_tps": 88.99, "weight_bytes_per_token": 20391405152}
    run_1 |= {"predicted_decode_tps": 40.2, "effective_gbps": 1814.6}
    [record] = import_file(written(tmp_path, run_1)).records
    record = judged(record)
    assert record.verdict == "counting error"
    assert record.excess_explained_by[0] == "experts counted in full"


def test_importing_twice_gives_the_same_record_ids_and_a_sound_ledger(tmp_path):
    path = written(tmp_path, SOURCE_ROW, {**SOURCE_ROW, "generation_tps": 89.3})
    first, second = import_file(path), import_file(path)
    assert [one.record_id for one in first.records] == [one.record_id for one in second.records]
    assert len({one.record_id for one in first.records}) == 2
    ledger = tmp_path / "ledger.jsonl"
    assert add_new(ledger, first.records) == (2, 0)
    assert add_new(ledger, second.records) == (0, 2)
    assert verify(ledger).is_sound
    assert len(read(ledger).records) == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("not json", "no JSON"),
        ("[1, 2]", "no JSON object"),
        ('{"generation_tps": 5}', "names no model"),
        (json.dumps({**SOURCE_ROW, "generation_tps": "fast"}), "does not fit"),
        (json.dumps({**SOURCE_ROW, "record_id": "x"}), "merge the ledger instead"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_number(tmp_path, line, why):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(SOURCE_ROW) + "\n" + line + "\n")
    imported = import_file(path)
    assert len(imported.records) == 1
    [(number, reason)] = imported.refused
    assert number == 2
    assert why in reason


def test_llama_bench_gives_one_row_a_generation_test_with_its_prompt_rate(tmp_path):
    imported = import_file(written(tmp_path, PROMPT, GENERATION), measured_by="the vendor")
    [record] = imported.records
    assert imported.refused == ()
    assert (record.runtime, record.runtime_commit) == ("llama.cpp", "0104b15")
    assert record.model == "Bonsai-8B-Q1_0.gguf"
    assert record.device == "Apple M4 Pro"
    assert (record.generation_tps, record.generation_tokens, record.repeats_tps) == (65.0, 128, [64.5, 65.5])
    assert record.decode_rule == LLAMA_BENCH_RULE
    assert (record.prompt_tps, record.prompt_tokens) == (812.4, 512)
    assert (record.weight_bytes_per_token, record.rule) == (1150000000, "whole-file")
    assert record.measured_by == "the vendor"
    assert record.scope.startswith("Decode phase, batch 1, 128 tokens from an empty cache, on Apple M4 Pro")


def test_llama_benchs_json_array_reads_like_its_jsonl(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([PROMPT, GENERATION], indent=2))
    assert import_file(path).records == import_file(written(tmp_path, PROMPT, GENERATION)).records


def test_a_mixed_test_is_refused_and_a_prompt_test_alone_is_kept(tmp_path):
    imported = import_file(written(tmp_path, MIXED, PROMPT))
    assert imported.refused == ((1, "a mixed test: its rate is of prompt and generation together"),)
    [record] = imported.records
    assert record.generation_tps is None
    assert record.prompt_tps == 812.4
    assert judged(record).verdict == "none"


def test_depth_other_builds_and_other_settings_are_tests_of_their_own(tmp_path):
    deep = {**GENERATION, "n_depth": 4096}
    other = {**GENERATION, "build_commit": "fffffff"}
    flash = [{**PROMPT, "flash_attn": True, "avg_ts": 900.0}, {**GENERATION, "flash_attn": True}]
    records = import_file(written(tmp_path, PROMPT, GENERATION, deep, other, *flash)).records
    assert [record.prompt_tps for record in records] == [812.4, None, None, 900.0]
    assert "at depth 4096" in records[1].scope
    assert len({record.record_id for record in records}) == 4


def test_one_prompt_test_serves_every_generation_test_beside_it(tmp_path):
    longer = {**GENERATION, "n_gen": 256, "avg_ts": 64.0}
    records = import_file(written(tmp_path, PROMPT, GENERATION, longer)).records
    assert [(record.max_tokens, record.prompt_tps) for record in records] == [(128, 812.4), (256, 812.4)]


@pytest.mark.parametrize("text", ["", "[", "[1]", '[{"n_prompt": "x"}]', "{}", "\x00\x01", "[" * 50_000])
def test_a_file_that_is_neither_form_is_said_to_be(tmp_path, text):
    path = tmp_path / "rows.json"
    path.write_text(text)
    try:
        imported = import_file(path)
    except LedgerError as error:
        assert error.hint
    else:
        assert imported.records == ()
        assert imported.refused


def test_a_file_that_is_not_there_is_said_to_be(tmp_path):
    with pytest.raises(LedgerError, match="cannot be read"):
        import_file(tmp_path / "none.json")


# --- rows that a person types ---


def typed(**fields):
    given = {
        "model": "Bonsai-8B-Q1_0.gguf",
        "device": "Apple M4 Pro",
        "runtime": "llama.cpp",
        "measured_by": "PrismML",
        "figure": BandwidthFigure(273, BandwidthKind.SPEC, "Apple's spec"),
        "weight_bytes": 1150000000,
        "tps": 65.0,
        "bits": 1,
        "now": datetime(2026, 11, 29, tzinfo=UTC),
        **fields,
    }
    return external_row(**given)


def test_the_bandwidth_ledgers_example_is_a_row():
    record = judged(typed())
    assert round(record.predicted_decode_tps) == 237  # "roughly 235"
    assert round(record.fractions[0].value * 100) == 27
    assert record.verdict == "ok"
    assert record.status == "imported"
    assert record.scope == (
        "Decode phase, batch 1, 1.150 GB per token by the rule whole-file, on Apple M4 Pro with llama.cpp:"
        " measured by PrismML, not here."
    )
    assert "Not measured here: the figures are as they were given." in record.verdict_reasons


def test_its_full_precision_ceiling_is_near_17():
    # FP16 weights of 8.19 billion parameters
    assert round(typed(weight_bytes=16381470720, tps=None).predicted_decode_tps) == 17


@pytest.mark.parametrize("name", ["model", "device", "runtime", "measured_by"])
def test_a_row_that_would_be_a_rumour_is_refused(name):
    with pytest.raises(UsageError, match="The row names no"):
        typed(**{name: " "})


def test_a_typed_row_may_lack_figures_but_not_hold_wrong_ones():
    assert typed(figure=None).ceilings == []
    assert judged(typed(tps=None)).verdict == "none"
    for wrong in (0, -1, 10**18):
        with pytest.raises(UsageError, match="no size"):
            typed(weight_bytes=wrong)
    for wrong in (0, -4, 65, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="no format"):
            typed(bits=wrong)
    for wrong in ("", "2026-13-45", "\x1b[31m", "9" * 1000):
        with pytest.raises(UsageError, match="is no date") as caught:
            typed(date=wrong)
        assert "\x1b" not in caught.value.message
    assert typed(date="2026-09-15", bits=4.5).date == "2026-09-15"


def test_a_fifo_is_refused_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "rows.jsonl")
    with pytest.raises(LedgerError, match="not a regular file"):
        import_file(tmp_path / "rows.jsonl")


# --- llama-bench as it was, and what lies around its rows ---


OLD = {name: value for name, value in BENCH.items() if name not in {"backends", "n_depth", "n_ubatch"}} | {
    "cuda": False,
    "metal": True,
    "gpu_blas": True,
    "blas": True,
    "f16_kv": True,
    "mul_mat_q": True,
    "model_type": "llama 7B mostly Q4_0",
}
"""The fields of 2023 and 2024: a flag for each backend, no depth."""


def test_rows_of_2023_with_a_flag_for_each_backend_are_read(tmp_path):
    prompt = {**OLD, "n_prompt": 512, "n_gen": 0, "avg_ts": 700.0}
    generation = {**OLD, "n_prompt": 0, "n_gen": 128, "avg_ts": 65.0, "samples_ts": [64.5, 65.5]}
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([prompt, generation]))
    [record] = import_file(path).records
    assert (record.generation_tps, record.prompt_tps) == (65.0, 700.0)
    assert "with llama.cpp (metal)" in record.scope
    assert (record.architecture, record.quantization.mode) == ("llama", "Q4_0")
    assert import_file(written(tmp_path, prompt, generation)).records == (record,)


def test_the_log_before_the_rows_and_a_torn_last_row_cost_no_row(tmp_path):
    path = written(tmp_path, PROMPT, GENERATION)
    path.write_text("ggml_metal_init: found device\n" + path.read_text() + '{"build_commit": "0104')
    imported = import_file(path)
    assert [record.generation_tps for record in imported.records] == [65.0]
    assert imported.refused == ((1, "the line is no JSON"), (4, "the line is no JSON"))


ODD = ["nan", "inf", 1e308, -1e308, 10**40, 10**400, -1, 0, True, [], {}, "\x1b[2J", None, {"a": "b"}, 5e-324]


@pytest.mark.parametrize("row", [SOURCE_ROW, GENERATION], ids=["source row", "llama-bench"])
def test_no_value_in_any_field_stops_an_import_or_damages_the_ledger(tmp_path, row):
    odd = [{**row, name: value} for name in (*row, "rule") for value in ODD]
    imported = import_file(written(tmp_path, row, *odd))
    assert imported.records
    ledger = tmp_path / "ledger.jsonl"
    add_new(ledger, imported.records)
    assert read(ledger).damaged == []
    assert {one.code for one in verify(ledger).problems} <= {"date"}
