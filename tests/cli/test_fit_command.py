"""`fit`: the source documents' line, a ledger's groups, estimates, calibration."""

import pytest
from msgspec.structs import replace

from tests.analysis.office import BYTES, office_record
from workbench.ledger.parts import NamedPrediction
from workbench.ledger.store import append


@pytest.fixture
def office_ledger(home):
    path = home / "ledger.jsonl"
    for number, model in enumerate(BYTES):
        said = [NamedPrediction("ana", 100.0 + number)]
        append(
            path,
            office_record(
                model, record_id=f"{number}{number}{number}{number}", verdict="ok", predictions=said
            ),
        )
    return path


def test_the_office_rows_give_the_published_figures(run):
    said = run("fit", "--office")
    assert (said.code, said.err) == (0, "")
    text = " ".join(said.out.split())
    assert "1.91 ms + bytes / 502 GB/s by plain least squares" in text
    assert "1.67 ms + bytes / 497 GB/s weighted by bytes squared" in text
    assert "Published: 1.7 ms + bytes / 497 GB/s." in text
    assert "is an outlier" in text
    assert max(map(len, said.out.splitlines())) <= 110


def test_the_office_rows_in_json(run):
    found = run("fit", "--office", "--json").json
    assert found["schema_version"] == 1
    assert found["published"] == {"overhead_s": 0.0017, "gbps": 497.0}
    assert len(found["fits"][0]["fit"]["points"]) == 5
    assert found["outlier"]["relative"] > 1


def test_a_ledgers_groups_have_a_fit_or_a_reason_and_an_estimate(run, office_ledger, shelf, published):
    found = run("fit", "--estimate", published("mlx-Qwen3.5-9B-8bit"), "--json").json
    dense = next(one for one in found["fits"] if len(one["fit"]["points"] if one["fit"] else []) == 5)
    assert dense["fit"]["standing"] == "claim"
    assert dense["estimate"]["low"] < dense["estimate"]["tps"] < dense["estimate"]["high"]
    mixture = next(one for one in found["fits"] if "mixture" in one["group"])
    assert (mixture["fit"], mixture["estimate"]) == (None, None)
    assert mixture["refusal"]
    said = run("fit", "--estimate", published("mlx-Qwen3.5-9B-8bit"))
    assert said.code == 0
    text = " ".join(said.out.split())
    assert "expects " in text
    assert "a fit of its own would hold" in text  # these are 4-bit, and it is 8-bit
    assert "8-bit affine, groups of 64 and not 4-bit affine, groups of 64" in text
    assert dense["estimate_of_another_kind"]
    assert "  no fit: " in said.out
    same = run("fit", "--estimate", published("mlx-Qwen3.5-9B-4bit"), "--json").json["fits"]
    assert [one["estimate_of_another_kind"] for one in same if one["fit"]] == [False]


def test_an_interval_without_an_upper_bound_is_null_in_json(run, home):
    # four rates that scatter so much that the slope may be nothing
    for number, (nbytes, tps) in enumerate([(1e9, 100.0), (2e9, 130.0), (3e9, 60.0), (4e9, 90.0)]):
        record = office_record("Qwen3.5-9B-4bit", tps, record_id=f"{number}000-scatter", verdict="ok")
        record = replace(record, model=f"m{number}", weight_bytes_per_token=int(nbytes))
        append(home / "ledger.jsonl", record)
    [one] = run("fit", "--json").json["fits"]
    low, high = one["fit"]["gbps_interval"]
    assert low > 0
    assert high is None


def test_a_persons_errors_over_time(run, office_ledger):
    said = run("fit", "--calibration")
    row = next(line for line in said.out.splitlines() if line.startswith("ana "))
    assert row.split()[1] == "6"
    assert run("fit", "--calibration", "--json").json["calibration"][0]["name"] == "ana"


def test_an_empty_ledger_says_what_makes_records(run):
    said = run("fit", "--calibration")
    assert said.code == 0
    assert "`workbench measure`" in said.out
    assert "Nobody has predicted a run yet." in said.out
    assert run("fit", "--json").json == {"schema_version": 1, "fits": []}


def test_a_ledger_of_runs_that_cannot_be_fitted_says_why(run, home):
    for number, verdict in enumerate(["spoiled", "spoiled", "counting error"]):
        append(
            home / "ledger.jsonl",
            office_record("Qwen3.5-9B-4bit", record_id=f"{number}000-odd", verdict=verdict),
        )
    said = run("fit")
    assert said.code == 0
    assert "left out: 2, its verdict is spoiled" in said.out
    assert "left out: 1, its verdict is counting error" in said.out


def test_an_estimate_whose_range_is_open_says_its_lower_end(run, home, shelf):
    for number, (nbytes, tps) in enumerate([(1e9, 100.0), (2e9, 130.0), (3e9, 60.0), (4e9, 90.0)]):
        record = office_record("Qwen3.5-9B-4bit", tps, record_id=f"{number}000-scatter", verdict="ok")
        record = replace(record, model=f"m{number}", weight_bytes_per_token=int(nbytes))
        append(home / "ledger.jsonl", record)
    said = run("fit", "--estimate", "synthetic/tiny-1")
    assert "(95 %: " in said.out
    assert " or more)" in said.out
