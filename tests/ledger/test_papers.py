"""Cards, reports, comparisons and exports: what people and other programs read."""

import csv
import io
import json

import pytest
from msgspec.structs import replace

from tests.analysis.office import office_record
from tests.ledger.builders import a_record
from workbench.analysis.derive import derive
from workbench.analysis.verdict import judged
from workbench.ledger.card import card
from workbench.ledger.difference import compare, shown
from workbench.ledger.export import as_csv, as_json, as_markdown, markdown_table
from workbench.ledger.parts import (
    FileEntry,
    FitEstimate,
    LockedPrediction,
    NamedPrediction,
    PowerReading,
    Quantization,
)
from workbench.ledger.report import as_markdown as report_markdown
from workbench.ledger.report import report, row
from workbench.ledger.table import row_of

RUN_1 = judged(
    office_record(
        "Qwen3.5-35B-A3B-4bit",
        88.99,
        rule="all-bytes",
        macos="26.0",
        os_build="25A354",
        mlx="0.32.2",
        mlx_lm="0.31.0",
        memory_gb=549.8,
        predicted_tps_human=60.0,
        predicted_by="ana",
    )
)


def test_the_card_has_the_source_documents_ten_lines():
    lines = dict(card(RUN_1))
    assert lines["alias"] == "office"
    assert lines["date"] == "2026-09-15T12:00:00Z"
    assert lines["build"] == "Apple M3 Ultra, 549.8 GB; 26.0 (25A354)"
    assert lines["versions"] == "mlx 0.32.2, mlx-lm 0.31.0"
    assert lines["model"] == "Qwen3.5-35B-A3B-4bit"
    assert lines["bits"] == "4, groups of 64, affine"
    assert lines["bytes per token"] == "20.391 GB of 20.391 GB on disk (rule: all-bytes)"
    assert lines["prediction"] == "60.0 tok/s by ana"
    assert lines["measurement"].startswith("89.0 tok/s")
    assert "1,814.6 GB/s effective" in lines["measurement"]
    assert "221.6 % of spec 819 GB/s, all-bytes" in lines["gap"]
    assert "+48.3 % against the prediction" in lines["gap"]
    assert lines["verdict"] == "counting error"


def test_the_card_says_what_came_first_and_what_the_fit_expected():
    record = replace(
        RUN_1,
        predicted_at="2026-09-15T11:59:58+00:00",
        locks=[LockedPrediction("2026-09-15T11:59:50+00:00", 80.0), LockedPrediction("x", 60.0)],
        fit_estimate=FitEstimate(91.0, 80.0, None, "abc"),
        synthetic_weights=True,
    )
    lines = dict(card(record))
    before = "predicted at 2026-09-15T11:59:58+00:00, corrected 1x"
    assert lines["order"] == f"{before}; the model was never loaded"
    loaded = dict(card(replace(record, loaded_at="2026-09-15T12:00:00+00:00")))
    assert loaded["order"] == f"{before}; load began 2026-09-15T12:00:00+00:00"
    assert lines["the fit expected"] == "91.0 tok/s (95 %: 80.0 or more)"
    assert lines["weights"] == "synthetic"


@pytest.mark.parametrize(
    ("fields", "bits"),
    [
        ({"format": "safetensors", "dtype": "BF16"}, "not quantized, bf16"),
        ({"format": "safetensors"}, "not quantized"),
        ({"format": "gguf", "dtype": "Q4_K"}, "q4_k"),
        ({"format": "gguf"}, "as the GGUF file says"),
        ({"quantization": Quantization(mode="fp8"), "dtype": "F8_E4M3"}, "fp8"),
    ],
)
def test_the_card_says_how_weights_without_bits_are_stored(fields, bits):
    assert dict(card(a_record(**fields)))["bits"] == bits


def test_the_card_says_that_it_was_discarded_and_why():
    assert ("discarded", "every byte was counted") in card(RUN_1, "every byte was counted")


def test_a_class_rounds_card_names_everybody():
    record = judged(
        office_record(
            "Qwen3.5-9B-4bit", predictions=[NamedPrediction("ana", 90.0), NamedPrediction("bo", 300.0)]
        )
    )
    assert dict(card(record))["prediction"] == "ana 90.0, bo 300.0 tok/s"
    assert "ana +5.7 %; bo -68.3 %" in dict(card(record))["gap"]


def test_a_card_of_nothing_measured_never_says_zero():
    lines = dict(card(a_record(status="cancelled", reason="stopped by hand", device=None, date=None)))
    assert lines["measurement"] == lines["gap"] == lines["date"] == "not measured"
    assert lines["bytes per token"] == "not counted"
    assert lines["status"] == "cancelled: stopped by hand"


def test_names_from_outside_cannot_write_to_the_terminal():
    record = a_record(alias="\x1b[31mred", model="a\nb", reason="\x07", status="failed")
    assert not any("\x1b" in text or "\n" in text or "\x07" in text for _, text in card(record))
    assert not any("\x1b" in text or "\n" in text for _, text in report(record))


def test_the_report_has_every_listed_item_in_order():
    record = replace(
        judged(office_record("Qwen3.5-9B-4bit", bandwidth_source="Apple, page of the Mac Studio")),
        command=["workbench", "measure", "~/models/Qwen3.5-9B-4bit", "--predict", "90"],
        files=[FileEntry("model.safetensors", 5950062560)],
        revision="abc123",
        format="safetensors",
        prompt_tps=1200.5,
        prompt_tokens=209,
        ttft_s=0.174,
        peak_memory_gb=6.31,
        mlx_lm="0.32.2",
        scope="Decode phase only, on one machine.",
    )
    assert report(record) == [
        (
            "device and source of its bandwidth",
            "Apple M3 Ultra (office); spec 819 GB/s: Apple, page of the Mac Studio",
        ),
        ("runtime and commit", "mlx-lm, commit not recorded; mlx-lm 0.32.2"),
        (
            "model file and format",
            "Qwen3.5-9B-4bit, revision abc123; safetensors, 4-bit, groups of 64, affine, 1 file of 5.950 GB",
        ),
        ("command", "workbench measure ~/models/Qwen3.5-9B-4bit --predict 90"),
        ("prompt processing", "1,200.5 tok/s over 209 tokens, first token after 174 ms"),
        ("decode", "95.1 tok/s, 424.7 GB/s effective"),
        ("peak memory", "6.31 GB"),
        ("power or energy", "not measured"),
        (
            "interpretation",
            "Decode phase only, on one machine. Verdict: ok. Plausible: 51.9 % of the ceiling at spec"
            " 819 GB/s, count; 66.6 % of the ceiling at achieved 638 GB/s, count.",
        ),
    ]
    assert row(record) == [
        ("bytes per forward pass", "4.466 GB of 5.950 GB on disk (rule: count)"),
        ("predicted tok/s", "183.4"),
        ("measured tok/s", "95.1"),
        ("utilization", "51.9 %"),
    ]


def test_an_energy_claim_carries_device_method_rate_and_formula_in_the_report_and_on_the_card():
    # 100 W at 32.6 tok/s are 0.852 mWh/token, 3.07 J
    reading = PowerReading(
        source="powermetrics",
        scope="SoC CPU+GPU+ANE, Apple estimate, no DRAM",
        mean_w=100.0,
        tps_in_window=32.6,
        window_s=12.5,
        method="trapezoid",
        mwh_per_token_gross=0.852,
        j_per_token_gross=3.07,
        claim="valid",
    )
    record = replace(RUN_1, power=[reading, replace(reading, claim="none", claim_reasons=["4 samples"])])
    energy = dict(report(record))["power or energy"]
    assert energy.startswith(
        "0.852 mWh/token = 100.0 W / (3.6 x 32.6 tok/s), 3.07 J/token gross; over 12.5 s by"
    )
    assert "by powermetrics, SoC CPU+GPU+ANE, Apple estimate, no DRAM, trapezoid; valid claim" in energy
    assert energy.endswith("no claim from powermetrics, SoC CPU+GPU+ANE, Apple estimate, no DRAM: 4 samples")
    assert "; ".join(text for label, text in card(record) if label == "energy") == energy


def test_missing_energy_says_why():
    record = replace(RUN_1, energy_unavailable_reason="sudo -n was refused")
    assert dict(report(record))["power or energy"] == "sudo -n was refused"


def test_reports_print_as_markdown():
    lines = [("decode", "95.1 tok/s"), ("", "a reason"), ("peak memory", "6 GB")]
    assert report_markdown(lines, "Report") == (
        "## Report\n\n- **decode**: 95.1 tok/s\n  - a reason\n- **peak memory**: 6 GB"
    )


def test_comparing_shows_only_what_differs_with_ratios():
    right = judged(office_record("Qwen3.5-35B-A3B-4bit", 89.1, record_id="corrected"))
    found = {difference.field: difference for difference in compare(RUN_1, right)}
    assert found["weight_bytes_per_token"].ratio is not None
    assert round(1 / found["weight_bytes_per_token"].ratio, 2) == 12.29
    assert (found["rule"].left, found["rule"].right) == ("all-bytes", "count")
    assert "model" not in found
    assert "record_id" not in found
    assert compare(right, right) == []


def test_comparing_goes_into_nested_fields():
    one = office_record("Qwen3.5-9B-4bit")
    other = replace(one, quantization=replace(one.quantization, bits=8))
    [difference] = compare(one, other)
    assert (difference.field, difference.left, difference.right, difference.ratio) == (
        "quantization.bits",
        4,
        8,
        2.0,
    )
    assert shown(None) == "null"
    assert shown([1.5]) == "[1.5]"


def test_csv_has_a_column_for_each_field_and_no_live_formula():
    record = replace(RUN_1, alias='=HYPERLINK("http://x")', model='a,"b"\nc', reason="-1+1")
    [line] = csv.DictReader(io.StringIO(as_csv([record])))
    assert line["alias"] == '\'=HYPERLINK("http://x")'
    assert line["model"] == 'a,"b"\nc'
    assert line["generation_tps"] == "88.99"
    assert line["gpu_cores"] == ""
    assert line["tied_embeddings"] == "false"
    assert json.loads(line["fractions"])[0]["of"] == "spec 819 GB/s, all-bytes"
    assert "token_times_ns" not in line


def test_negative_numbers_stay_numbers_in_csv():
    [line] = csv.DictReader(io.StringIO(as_csv([replace(RUN_1, prediction_error=-0.5)])))
    assert line["prediction_error"] == "-0.5"


def test_json_is_the_records():
    assert json.loads(as_json([RUN_1]))[0]["effective_gbps"] == RUN_1.effective_gbps
    assert json.loads(as_json([])) == []


def test_markdown_is_the_table_with_its_marks_escaped():
    text = as_markdown([row_of(replace(RUN_1, model="a|b*c"))])
    header, rule, line = text.split("\n")
    assert header.startswith("| date | machine | model | bits |")
    assert rule == "|---|---|---|---:|---:|---:|---:|---:|---|---|"
    assert r"a\|b\*c" in line
    assert "221.6 %" in line
    assert markdown_table(("a",), []) == "| a |\n|---|"


def test_the_gap_names_every_person_of_a_class_and_one_person_once():
    run = office_record("Qwen3.5-9B-4bit", predicted_tps_human=100.0)
    alone = derive(replace(run, predictions=[NamedPrediction("", 100.0)]))
    assert dict(card(alone))["gap"].count("-4.9 %") == 1
    assert "-4.9 % against the prediction" in dict(card(alone))["gap"]
    assert "-4.9 % against the prediction" in dict(card(derive(run)))["gap"]
    both = derive(replace(run, predictions=[NamedPrediction("ana", 100.0), NamedPrediction("bo", 50.0)]))
    assert dict(card(both))["gap"].endswith("; ana -4.9 %; bo +90.2 %")
