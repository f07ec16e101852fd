"""Ten numbers that somebody shows, and rows to set a verdict beside."""

from datetime import UTC, datetime

import pytest

from tests.analysis.office import BYTES, SPEC, STREAMED, office_record
from workbench.analysis.check import check
from workbench.analysis.excess import alternatives_of
from workbench.analysis.reference import ledger_beside, office_beside
from workbench.analysis.verdict import judged
from workbench.errors import UsageError
from workbench.ledger.parts import NamedCeiling
from workbench.ledger.table import row_of
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind, ceilings

NOW = datetime(2026, 11, 29, tzinfo=UTC)
M5_ULTRA = BandwidthFigure(1200, BandwidthKind.SPEC, "Apple")


def fields_of(model, figures=(SPEC,), rule="count"):
    record = office_record(model, figures=figures, rule=rule)
    names = (
        *("model", "quantization", "weight_bytes_total", "weight_bytes_vision", "weight_bytes_embed"),
        *("weight_bytes_experts", "tied_embeddings", "experts", "experts_per_token"),
        *("weight_bytes_per_token", "rule", "ceilings", "bandwidth_gbps", "bandwidth_kind"),
    )
    return {name: getattr(record, name) for name in names}


def claimed(model, tps, figures=(SPEC,), rule="count", **named):
    return check(fields_of(model, figures, rule), tps, now=NOW, **named)


@pytest.mark.parametrize(
    ("model", "tps", "figure", "rule", "word"),
    [
        # the source documents' eleven rows at both denominators, and run 1
        ("Qwen3.5-0.8B-4bit", 338, STREAMED, "count", "ok"),
        ("Qwen3.5-2B-4bit", 257, STREAMED, "count", "ok"),
        ("Qwen3.5-4B-4bit", 148, STREAMED, "count", "ok"),
        ("Qwen3.5-9B-4bit", 95, STREAMED, "count", "ok"),
        ("Qwen3.5-27B-4bit", 32.6, STREAMED, "count", "ok"),
        ("Qwen3.5-35B-A3B-4bit", 89, STREAMED, "count", "ok"),
        ("Qwen3.5-0.8B-4bit", 338.2, SPEC, "count", "ok"),
        ("Qwen3.5-9B-4bit", 95.1, SPEC, "count", "ok"),
        ("Qwen3.5-27B-4bit", 32.6, SPEC, "count", "ok"),
        ("Qwen3.5-35B-A3B-4bit", 89.1, SPEC, "count", "ok"),
        ("Qwen3.5-35B-A3B-4bit", 88.99, SPEC, "all-bytes", "counting error"),
        # claims that no M3 Ultra can have, and one that no machine has warmed up for
        ("Qwen3.5-27B-4bit", 60.0, SPEC, "count", "counting error"),
        ("Qwen3.5-9B-4bit", 20.0, SPEC, "count", "low"),
        # the same 27B number on the chip that it came from
        ("Qwen3.5-27B-4bit", 60.0, M5_ULTRA, "count", "ok"),
    ],
)
def test_a_number_that_somebody_shows_is_judged(model, tps, figure, rule, word):
    assert claimed(model, tps, (figure,), rule).verdict == word


def test_a_checked_number_is_external_and_says_who_said_it():
    record = claimed("Qwen3.5-9B-4bit", 95.0, measured_by="a README", device="Apple M3 Ultra")
    assert (record.experiment, record.status, record.measured_by) == ("external", "imported", "a README")
    assert record.scope == "Decode phase as claimed, on Apple M3 Ultra: said by a README, not measured here."
    assert record.date == "2026-11-29T00:00:00+00:00"
    assert "Not measured here: the figures are as they were given." in record.verdict_reasons
    assert record.sha256 is None
    unnamed = claimed("Qwen3.5-9B-4bit", 95.0)
    assert unnamed.measured_by == "nobody named"
    assert unnamed.scope.startswith("Decode phase as claimed, on an unnamed device")


def test_a_claim_by_a_draft_model_is_not_held_against_the_bus():
    assert claimed("Qwen3.5-27B-4bit", 90.0, draft_model="Qwen3.5-0.8B").verdict == "not applicable"
    assert claimed("Qwen3.5-27B-4bit", 90.0, batch=4).verdict == "not applicable"


def test_a_claim_is_explained_by_the_counts_alternatives():
    fields = fields_of("Qwen3.5-35B-A3B-4bit", rule="all-bytes")
    record = check(fields, 89.0, alternatives=alternatives_of(office_record("Qwen3.5-35B-A3B-4bit")), now=NOW)
    assert record.excess_explained_by == ["experts counted in full"]


@pytest.mark.parametrize("tps", [0.0, -1.0, float("nan"), float("inf"), 90_000.0])
def test_a_claim_that_is_no_rate_is_refused(tps):
    with pytest.raises(UsageError, match="no rate that a machine"):
        claimed("Qwen3.5-9B-4bit", tps)


def test_without_its_overrides_a_flagged_count_is_shown_too():
    nbytes = BYTES["Qwen3.5-27B-4bit"][7]
    made = ceilings([SPEC], {"count": 2 * nbytes, "count without overrides": nbytes})
    record = office_record(
        "Qwen3.5-27B-4bit",
        40.0,
        weight_bytes_per_token=2 * nbytes,
        ceilings=[NamedCeiling(one.name, one.gbps, one.tps) for one in made],
    )
    reasons = " ".join(judged(record).verdict_reasons)
    assert (
        "Without the overrides it is 70.4 % of the ceiling at spec 819 GB/s, count without overrides"
        in reasons
    )


# --- rows beside a verdict ---


def test_the_office_rows_beside_a_verdict_name_both_denominators_and_the_date():
    beside = office_beside(4_000_000_000)
    assert [(row.model, row.of, round(row.fraction * 100)) for row in beside] == [
        ("Qwen3.5-9B-4bit", "spec 819 GB/s", 52),
        ("Qwen3.5-9B-4bit", "achieved 638 GB/s", 66),
        ("Qwen3.5-4B-4bit", "spec 819 GB/s", 43),
        ("Qwen3.5-4B-4bit", "achieved 638 GB/s", 55),
    ]
    assert {(row.machine, row.date) for row in beside} == {("office, Apple M3 Ultra", "2026-09-15")}


def test_a_mixture_stands_beside_the_mixture():
    assert {row.model for row in office_beside(1_000_000_000, is_mixture=True)} == {"Qwen3.5-35B-A3B-4bit"}


def ledger_rows():
    made = [judged(office_record(model, record_id=model)) for model in BYTES]
    again = judged(office_record("Qwen3.5-9B-4bit", 96.0, record_id="again", date="2026-10-01T00:00:00Z"))
    wrong = judged(office_record("Qwen3.5-9B-4bit", 500.0, record_id="wrong", alias="music"))
    return [row_of(record) for record in [*made, again, wrong]]


def test_this_ledgers_similar_rows_stand_beside_it_newest_first_of_each_model():
    found = ledger_beside(ledger_rows(), 4_465_912_320, {})
    assert [(row.model, row.tps, row.date) for row in found] == [
        ("Qwen3.5-9B-4bit", 96.0, "2026-10-01"),
        ("Qwen3.5-4B-4bit", 148.0, "2026-09-15"),
        ("Qwen3.5-35B-A3B-4bit", 89.1, "2026-09-15"),
    ]
    assert found[0].of == "spec 819 GB/s"


def test_flagged_and_discarded_rows_and_the_record_itself_do_not():
    found = ledger_beside(ledger_rows(), 4_465_912_320, {"Qwen3.5-4B-4bit": "wrong"}, but="again")
    assert [(row.model, row.tps) for row in found][:1] == [("Qwen3.5-9B-4bit", 95.1)]
    assert all(row.model != "Qwen3.5-4B-4bit" for row in found)
    assert all(row.machine == "office" for row in found)
