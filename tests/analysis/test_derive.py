import math

import pytest
from msgspec.structs import replace

from tests.analysis.office import SPEC, STREAMED, office_record
from workbench.analysis.derive import derive, prediction_error
from workbench.ledger.parts import NamedPrediction

# "The Decode Ceiling": ceilings at 638 GB/s and measured / ceiling. Its 4B ceiling of 269 came from rounded
# inputs (269.53), so did 67 % on the 9B, which stands for 95/142.9 = 66.5 %.
DECODE_CEILING = [
    ("Qwen3.5-0.8B-4bit", 338.0, 1505, 22),
    ("Qwen3.5-2B-4bit", 257.0, 602, 43),
    ("Qwen3.5-4B-4bit", 148.0, 270, 55),
    ("Qwen3.5-9B-4bit", 95.0, 143, 66),
    ("Qwen3.5-27B-4bit", 32.6, 44, 74),
    ("Qwen3.5-35B-A3B-4bit", 89.0, 385, 23),
]
# "Write the Prediction Before the Number": the same at the vendor's 819 GB/s
PREDICTION_FIRST = [
    ("Qwen3.5-0.8B-4bit", 338.2, 1932, 18),
    ("Qwen3.5-9B-4bit", 95.1, 183, 52),
    ("Qwen3.5-27B-4bit", 32.6, 56.8, 57),
    ("Qwen3.5-35B-A3B-4bit", 89.1, 494, 18),
]


@pytest.mark.parametrize(("model", "tps", "ceiling", "percent"), DECODE_CEILING)
def test_the_rows_at_638_gbps_come_out_as_published(model, tps, ceiling, percent):
    record = derive(office_record(model, tps, figures=(STREAMED,)))
    assert round(record.predicted_decode_tps) == ceiling
    assert round(record.fractions[0].value * 100) == percent


@pytest.mark.parametrize(("model", "tps", "ceiling", "percent"), PREDICTION_FIRST)
def test_the_rows_at_819_gbps_come_out_as_published(model, tps, ceiling, percent):
    record = derive(office_record(model, tps, figures=(SPEC,)))
    assert round(record.predicted_decode_tps, 1 if ceiling == 56.8 else 0) == ceiling
    assert round(record.fractions[0].value * 100) == percent


def test_run_1_gives_the_published_effective_bandwidth():
    record = derive(office_record("Qwen3.5-35B-A3B-4bit", 88.99, rule="all-bytes"))
    assert round(record.effective_gbps, 1) == 1814.6
    assert round(record.predicted_decode_tps, 1) == 40.2
    assert round(record.fractions[0].value * 100, 1) == 221.6


def test_the_corrected_mixture_uses_147_8_of_the_bus():
    # published as 147.9, from rounded inputs
    record = derive(office_record("Qwen3.5-35B-A3B-4bit"))
    assert round(record.effective_gbps, 1) == 147.8
    assert round(record.predicted_decode_tps, 1) == 493.7


def test_a_ceiling_that_the_record_only_implies_is_written_out():
    record = office_record("Qwen3.5-9B-4bit", ceilings=[])
    [ceiling] = derive(record).ceilings
    assert ceiling.name == "spec 819 GB/s, count"
    assert round(ceiling.tps) == 183


def test_errors_are_measured_over_predicted_minus_one():
    record = office_record(
        "Qwen3.5-9B-4bit",
        predicted_tps_human=100.0,
        predictions=[NamedPrediction("ana", 90.0), NamedPrediction("bo", 190.2)],
    )
    record = derive(record)
    assert record.prediction_error == pytest.approx(-0.049)
    assert [said.error for said in record.predictions] == pytest.approx([0.0566667, -0.5], abs=1e-6)


@pytest.mark.parametrize("tps", [None, 0.0, math.nan, math.inf, 1e5])
def test_a_rate_that_no_machine_has_derives_nothing(tps):
    record = replace(office_record("Qwen3.5-9B-4bit", predicted_tps_human=90.0), generation_tps=tps)
    record = derive(record)
    assert record.effective_gbps is None
    assert record.fractions == []
    assert record.prediction_error is None


@pytest.mark.parametrize("said", [None, 0.0, -4.0, math.nan, math.inf])
def test_a_prediction_that_is_no_number_has_no_error(said):
    assert prediction_error(95.1, said) is None


def test_deriving_twice_changes_nothing():
    once = derive(office_record("Qwen3.5-9B-4bit"))
    assert derive(once) == once
