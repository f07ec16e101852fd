import math

import pytest
from msgspec.structs import replace

from tests.analysis.office import office_record
from workbench.analysis.calibration import calibrations, off_by, rank
from workbench.ledger.parts import NamedPrediction


def said(**people):
    return [NamedPrediction(name, tps) for name, tps in people.items()]


def test_a_round_is_ranked_by_how_many_times_off():
    placed = rank(said(ana=120.0, bo=300.0, cy=90.0, di=50.0), 100.0)
    assert [(one.place, one.name) for one in placed] == [(1, "cy"), (2, "ana"), (3, "di"), (4, "bo")]
    assert placed[0].error == pytest.approx(1 / 9)
    assert placed[0].factor == pytest.approx(10 / 9)


def test_a_wild_guess_does_not_win_over_half():
    # by measured / predicted - 1 a guess of 1,000 would look better (-90 %) than 50 (+100 %)
    assert rank(said(wild=1000.0, half=50.0), 100.0)[0].name == "half"


def test_twice_and_half_share_a_place():
    placed = rank(said(twice=200.0, half=50.0, last=900.0), 100.0)
    assert [(one.place, one.name) for one in placed] == [(1, "half"), (1, "twice"), (3, "last")]


def test_what_is_no_rate_comes_last():
    placed = rank(said(nan=math.nan, zero=0.0, ana=5.0), 100.0)
    assert placed[0].name == "ana"
    assert math.isinf(placed[2].factor)
    assert off_by(100.0, 0.0) == math.inf


def run(day, predicted, measured, **fields):
    return office_record(
        "Qwen3.5-9B-4bit",
        measured,
        record_id=f"day {day}",
        date=f"2026-09-{day:02d}T10:00:00Z",
        predicted_tps_human=predicted,
        predicted_by="ana",
        **fields,
    )


def test_a_persons_errors_shrink_over_time():
    records = [run(4, 100, 95), run(1, 400, 100), run(2, 50, 100), run(3, 110, 100)]
    [ana] = calibrations(records, {})
    assert [one.date[8:10] for one in ana.attempts] == ["01", "02", "03", "04"]
    assert ana.early_factor == pytest.approx(3.0)
    assert ana.late_factor == pytest.approx((1.1 + 100 / 95) / 2)
    assert ana.bias == pytest.approx((100 / 110 + 95 / 100) / 2)
    assert ana.attempts[0].error == pytest.approx(-0.75)


def test_class_predictions_count_for_everybody_and_names_are_one_in_any_case():
    first = run(1, None, 100.0, predictions=said(Ana=90.0, bo=200.0))
    second = run(2, None, 100.0, predictions=said(ana=80.0))
    found = calibrations([first, second], {})
    assert [(one.name, len(one.attempts)) for one in found] == [("Ana", 2), ("bo", 1)]
    assert found[0].early_factor is None


def test_a_single_unnamed_prediction_belongs_to_who_locked_it():
    record = run(1, 90.0, 100.0, predictions=[NamedPrediction("", 90.0)])
    assert calibrations([record], {})[0].name == "ana"


def test_discarded_cancelled_and_imported_runs_teach_nothing():
    records = [
        run(1, 90.0, 100.0),
        replace(run(2, 90.0, 100.0), status="cancelled"),
        replace(run(3, 90.0, 100.0), status="imported"),
        run(4, None, 100.0),
    ]
    assert calibrations(records, {"day 1": "wrong"}) == []
