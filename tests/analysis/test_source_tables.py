"""The source documents' tables, published and ours, and the shipped example that replays one of them.

Four cells differ from the pages, which rounded their inputs: the 4B's ceiling at 638 GB/s is 269.53
(published 269), run 1's fraction 221.6 % (221), 89.1 x 1.659 is 147.8 (147.9), 95/142.9 is 66.5 % (67).
"""

from msgspec.structs import replace

from tests.analysis.office import BYTES, office_record
from tests.analysis.office_example import CORRECTED_ID, DISCARD_ID, EVEN_TIMES_RULE, RUN_1_ID, example
from workbench.analysis.rates import decode_tps
from workbench.analysis.reference import OFFICE
from workbench.analysis.tables import (
    bytes_table,
    fraction_table,
    ledger_table,
    prediction_table,
    source_tables,
)
from workbench.analysis.token_times import times
from workbench.ledger.corrections import discarded
from workbench.ledger.example import OFFICE_RUN_1
from workbench.ledger.external import external_row
from workbench.ledger.store import read
from workbench.ledger.verify import verify
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind

PRINTED = {row.model: row.tps for row in OFFICE}
ROWS = [office_record(model, PRINTED[model]) for model in BYTES]


def test_which_bytes_count_reads_as_published():
    small = office_record("Qwen3.5-0.8B-4bit")
    llama = replace(
        small,
        model="mlx-community/Llama-3.2-1B-Instruct-4bit",
        weight_bytes_total=695_221_248,
        weight_bytes_vision=0,
        weight_bytes_embed=147_750_912,
        weight_bytes_per_token=695_221_248,
    )
    table = bytes_table([*ROWS, llama])
    published = {row[0]: row[1:6] for row in table.rows}
    assert published["Qwen3.5-0.8B-4bit"] == ("0.625", "0.201", "0.143, tied (counted)", "—", "0.424")
    assert published["Qwen3.5-9B-4bit"] == ("5.95", "0.912", "0.572, untied (excluded)", "—", "4.466")
    assert published["Qwen3.5-27B-4bit"] == ("16.05", "0.921", "0.715, untied (excluded)", "—", "14.42")
    assert published["Qwen3.5-35B-A3B-4bit"] == (
        "20.39",
        "0.893",
        "0.286, untied (excluded)",
        "18.12 at 8/256",
        "1.659",
    )
    assert published["Llama-3.2-1B-Instruct-4bit"] == ("0.695", "—", "0.148, tied (counted)", "—", "0.695")


def test_prediction_against_measurement_reads_as_published():
    table = fraction_table(ROWS, 638.0)
    assert table.headers[1] == "Ceiling (638 GB/s ÷ bytes)"
    assert [row[1:4] for row in table.rows] == [
        ("1,505", "338", "22%"),
        ("602", "257", "43%"),
        ("270", "148", "55%"),  # published 269
        ("143", "95", "66%"),  # published 67%
        ("44", "32.6", "74%"),
        ("385", "89", "23%"),
    ]
    assert table.rows[0][4] == "measured 2026-09-15"


def test_the_prediction_before_the_number_reads_as_published():
    run_1 = office_record("Qwen3.5-35B-A3B-4bit", 88.99, rule="all-bytes", record_id="run-1")
    wanted = ["Qwen3.5-0.8B-4bit", "Qwen3.5-9B-4bit", "Qwen3.5-27B-4bit"]
    records = [*map(office_record, wanted), run_1, office_record("Qwen3.5-35B-A3B-4bit")]
    table = prediction_table(records, {"run-1"}, 819.0)
    assert [row[:5] for row in table.rows] == [
        ("Qwen3.5-0.8B-4bit", "0.42 GB", "1,932", "338.2", "18%"),
        ("Qwen3.5-9B-4bit", "4.47 GB", "183", "95.1", "52%"),
        ("Qwen3.5-27B-4bit", "14.42 GB", "56.8", "32.6", "57%"),
        ("Qwen3.5-35B-A3B-4bit (all-bytes)", "20.39 GB", "40.2", "89.0", "222% — impossible"),  # 221
        ("Qwen3.5-35B-A3B-4bit", "1.66 GB", "494", "89.1", "18%"),
    ]
    assert table.rows[3][5] == "measured 2026-09-15, discarded"


def test_the_bandwidth_ledgers_row_has_its_four_values():
    row = external_row(
        model="Bonsai-8B-Q1_0",
        device="Apple M4 Pro",
        runtime="llama.cpp",
        measured_by="PrismML",
        figure=BandwidthFigure(273, BandwidthKind.SPEC, "Apple's spec"),
        weight_bytes=1_150_000_000,
        tps=65.0,
    )
    assert ledger_table([row]).rows == (("Bonsai-8B-Q1_0", "1.15", "237", "65.0", "27%", "74.8"),)
    run_1 = office_record("Qwen3.5-35B-A3B-4bit", 88.99, rule="all-bytes")
    assert ledger_table([run_1]).rows[0][-1] == "1,814.6"


def test_the_tables_of_a_ledger_come_as_markdown_with_what_was_discarded_marked():
    records = read(OFFICE_RUN_1).records
    text = source_tables(records, discarded(records).keys())
    assert text.count("## ") == 4
    assert text.count("222%") == 1  # the discarded run stands where it is marked, and nowhere else
    assert "| 222% — impossible | imported 2026-09-15, discarded |" in text
    assert "| 18.12 at 8/256 | 1.659 |" in text  # the discarded count is not shown as the checkpoint's
    assert source_tables([]).count("## ") == 4


# --- the shipped example ---


def test_the_shipped_example_is_what_the_published_figures_give():
    records = read(OFFICE_RUN_1).records
    assert [replace(one, sha256=None) for one in records] == [replace(one, sha256=None) for one in example()]
    assert [one.record_id for one in records] == [RUN_1_ID, DISCARD_ID, CORRECTED_ID]


def test_the_shipped_example_verifies_and_its_first_run_is_discarded():
    assert verify(OFFICE_RUN_1).problems == ()
    assert list(discarded(read(OFFICE_RUN_1).records)) == [RUN_1_ID]


def test_the_shipped_run_1_replays_at_its_rate_and_says_that_its_times_are_made():
    run_1, _, corrected = read(OFFICE_RUN_1).records
    assert run_1.decode_rule == EVEN_TIMES_RULE
    assert "synthesized" in run_1.decode_rule
    [steps] = run_1.token_times_ns
    assert len(steps) == 199
    assert abs(decode_tps(times(steps)) - 88.99) < 1e-4
    assert run_1.verdict == "counting error"
    assert run_1.excess_explained_by == ["experts counted in full"]
    assert round(run_1.effective_gbps, 1) == 1814.6
    assert round(run_1.fractions[0].value * 100, 1) == 221.6
    assert corrected.verdict == "ok"
