"""What a reading says: the formula both ways, idle, claims, stalled rails, counting errors, its fields."""

import dataclasses
import math

import pytest

from tests.power.made import T0, S, counted, every, row, steady, trace
from workbench.ledger.parts import PowerReading
from workbench.power.claim import Claim, judge
from workbench.power.energy import EnergyReading, Window, mwh_per_token, read_energy, window_of
from workbench.power.source import Method, Sample

GPU = {"cpu": 4.0, "gpu": 96.0, "ane": 0.0}


def system(key="macmon-system", **more):
    return row(Method.TRAPEZOID, key=key, parts=("system",), watched=("system",), whole_machine=True, **more)


def test_100_w_at_32_6_tokens_a_second_are_0_852_mwh_and_3_07_j():
    assert mwh_per_token(100, 32.6) == pytest.approx(0.852, abs=5e-4)


def test_a_reading_has_exactly_the_record_s_fields_and_defaults():
    ours = {f.name: f.type for f in dataclasses.fields(EnergyReading)}
    assert list(ours) == list(PowerReading.__struct_fields__)
    blank = EnergyReading("made", "SoC")
    assert PowerReading(**dataclasses.asdict(blank)) == PowerReading(source="made", scope="SoC")


def test_a_steady_decode_gives_watts_and_both_ways_to_energy_per_token():
    made = trace((row(), every(S // 4, 100, GPU)))
    tokens = [T0 + 2 * S + round(i * S / 32.6) for i in range(600)]
    (reading,) = read_energy(made, window_of(tokens, 100, 100))
    assert reading.window_tokens == 399
    assert reading.window_s == pytest.approx(399 / 32.6)
    assert reading.tps_in_window == pytest.approx(32.6)
    assert reading.mean_w == pytest.approx(100)
    assert reading.mwh_per_token_gross == pytest.approx(0.852, abs=5e-4)
    assert reading.j_per_token_gross == pytest.approx(3.067, abs=1e-3)
    assert reading.energy_gross_j == pytest.approx(100 * 399 / 32.6)
    assert reading.rails_j["gpu"] == pytest.approx(96 * 399 / 32.6)
    assert (reading.claim, reading.claim_reasons, reading.method) == ("valid", [], "counter")
    assert reading.idle_w is None and reading.energy_net_j is None and reading.mwh_per_token_net is None


def test_net_takes_the_idle_power_of_the_loaded_model_off():
    idle = every(S // 4, 80, {"cpu": 1.0, "gpu": 19.0, "ane": 0.0})
    busy = every(S // 4, 80, GPU, start_ns=idle[-1].at_ns)
    made = trace((row(), idle + busy))
    idle_window = Window(T0 + 5 * S, T0 + 15 * S)
    (reading,) = read_energy(made, Window(T0 + 25 * S, T0 + 37 * S, 1200), idle_window)
    assert reading.idle_w == pytest.approx(20)
    assert reading.energy_gross_j == pytest.approx(1200) and reading.energy_net_j == pytest.approx(960)
    assert reading.mwh_per_token_gross == pytest.approx(100 / 360)
    assert reading.mwh_per_token_net == pytest.approx(80 / 360)


def test_a_source_that_starts_a_moment_after_the_idle_window_is_judged_by_the_rest():
    late = every(S // 4, 40, {"cpu": 1.0, "gpu": 19.0, "ane": 0.0}, start_ns=T0 + 2 * S)
    busy = every(S // 4, 80, GPU, start_ns=late[-1].at_ns)
    decode = Window(T0 + 14 * S, T0 + 26 * S, 1200)
    (reading,) = read_energy(trace((row(), late + busy)), decode, Window(T0, T0 + 12 * S))
    assert reading.idle_w == pytest.approx(20)
    (too_late,) = read_energy(trace((row(), late + busy)), decode, Window(T0, T0 + 4 * S))
    assert too_late.idle_w is None


def test_an_idle_window_that_was_not_measured_leaves_net_unknown():
    made = trace((row(), every(S // 4, 80, GPU)))
    (reading,) = read_energy(made, Window(T0 + 2 * S, T0 + 14 * S, 10), Window(T0 - 9 * S, T0 - 2 * S))
    assert reading.claim == "valid" and reading.idle_w is None and reading.energy_net_j is None


@pytest.mark.parametrize(
    ("seconds", "claim", "word"),
    [(12, "valid", None), (6, "indicative", "a claim needs 10 s"), (0.5, "none", "needs 2 s")],
)
def test_the_window_s_length_decides_the_claim(seconds, claim, word):
    made = trace((row(cadence_s=0.1), every(S // 10, 200, GPU)))
    (reading,) = read_energy(made, Window(T0 + 2 * S, T0 + 2 * S + int(seconds * S), 50))
    assert reading.claim == claim
    assert word is None or any(word in reason for reason in reading.claim_reasons)


def test_rails_published_every_2_2_s_need_44_s():
    made = trace((row(cadence_s=2.2), every(S // 4, 240, GPU)))
    (short,) = read_energy(made, Window(T0 + 2 * S, T0 + 14 * S, 50))
    assert short.claim == "indicative" and short.claim_reasons == [
        "the edges may matter by 18 %; 5 % needs a window of 44 s"
    ]
    (long,) = read_energy(made, Window(T0 + 2 * S, T0 + 46 * S, 50))
    assert long.claim == "valid" and long.edge_uncertainty == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("window_s", "samples", "edge", "claim"),
    [
        (10, 8, 0.05, Claim.VALID), (9.9, 8, 0.05, Claim.INDICATIVE), (10, 7, 0.05, Claim.INDICATIVE),
        (10, 8, 0.06, Claim.INDICATIVE), (10, 2, 0.05, Claim.INDICATIVE), (10, 1, 0.05, Claim.NONE),
        (10, 8, 0.26, Claim.NONE), (1.9, 40, 0.01, Claim.NONE), (2.0, 40, 0.01, Claim.INDICATIVE),
    ],
)  # fmt: skip
def test_the_thresholds_of_a_claim(window_s, samples, edge, claim):
    found, reasons = judge(window_s, samples, edge)
    assert found is claim and bool(reasons) == (claim is not Claim.VALID)


def test_faults_forbid_a_claim_and_doubts_a_valid_one():
    assert judge(60, 100, 0.01, faults=["stalled"]) == (Claim.NONE, ["stalled"])
    assert judge(60, 100, 0.01, doubts=["hot"]) == (Claim.INDICATIVE, ["hot"])


def test_a_rail_exactly_0_under_load_is_stalled_and_not_0_w():
    made = trace((row(), every(S // 4, 100, {"cpu": 0.0, "gpu": 36.0, "ane": 0.0})))
    (reading,) = read_energy(made, Window(T0 + 5 * S, T0 + 17 * S, 100))
    assert reading.claim == "none"
    assert reading.claim_reasons == ["the cpu rail reads exactly 0 under load: stalled, not 0 W"]
    assert "cpu" not in reading.rails_j and "cpu (stalled at 0)" in reading.rails_missing
    assert reading.rails_j["ane"] == 0  # the ANE rests during a GPU decode: no fault
    assert reading.scope == "SoC GPU+ANE, made, no CPU"


def test_a_rail_at_0_while_nothing_runs_may_be_idle():
    made = trace((row(), every(S // 4, 100, {"cpu": 1.0, "gpu": 0.0})))
    (reading,) = read_energy(made, Window(T0 + 5 * S, T0 + 17 * S), under_load=False)
    assert reading.claim == "indicative" and reading.mean_w == pytest.approx(1.0)
    assert reading.rails_j == pytest.approx({"cpu": 12.0, "gpu": 0.0})


def test_a_source_whose_every_rail_stalls_has_no_figures():
    made = trace((row(), every(S // 4, 100, {"cpu": 0.0, "gpu": 0.0})))
    (reading,) = read_energy(made, Window(T0 + 5 * S, T0 + 17 * S, 100))
    assert reading.energy_gross_j is None and reading.mean_w is None and reading.claim == "none"


def test_rails_above_the_whole_machine_are_a_power_counting_error_on_both_rows():
    """Seen on a Mac: GPU 87 W beside 52 W for the whole system."""
    made = trace(
        (row(), every(S // 4, 100, {"cpu": 4.0, "gpu": 87.0})),
        (system(), steady(S // 4, 100, {"system": 52.0})),
    )
    rails, whole = read_energy(made, Window(T0 + 5 * S, T0 + 17 * S, 100))
    assert rails.claim == whole.claim == "none"
    assert rails.claim_reasons[0] == (
        "power counting error: made reads 91.0 W, more than the whole machine's 52.0 W (macmon-system)"
    )
    assert rails.energy_gross_j == pytest.approx(91 * 12)  # shown, never claimed


def test_rails_up_to_ten_percent_above_the_whole_are_within_the_meters():
    made = trace(
        (row(), every(S // 4, 100, {"cpu": 4.0, "gpu": 52.0})),
        (system(), steady(S // 4, 100, {"system": 52.0})),
    )
    assert [r.claim for r in read_energy(made, Window(T0 + 5 * S, T0 + 17 * S, 9))] == ["valid", "valid"]


def test_two_rows_of_rails_are_never_added_to_each_other():
    made = trace((row(key="a"), every(S // 4, 100, GPU)), (row(key="b"), every(S // 4, 100, GPU)))
    readings = read_energy(made, Window(T0 + 5 * S, T0 + 17 * S, 9))
    assert [r.mean_w for r in readings] == pytest.approx([100, 100])


def test_a_counter_and_instant_power_of_one_source_must_agree_within_5_percent():
    counter = row(key="nvml", source="nvml", parts=("board",), watched=("board",))
    instant = row(Method.TRAPEZOID, key="nvml-instant", source="nvml", parts=("board",), watched=("board",))
    window = Window(T0 + 5 * S, T0 + 17 * S, 9)

    def claims(watts):
        made = trace(
            (counter, every(S // 10, 300, {"board": 600.0})),
            (instant, steady(S // 10, 300, {"board": watts})),
        )
        return read_energy(made, window)

    assert [r.claim for r in claims(618.0)] == ["valid", "valid"]
    apart = claims(660.0)
    assert [r.claim for r in apart] == ["indicative", "indicative"]
    assert apart[0].claim_reasons == ["nvml and nvml-instant differ by 10 % (limit 5 %)"]


def test_the_formula_and_joules_over_tokens_apart_by_more_than_3_percent_is_flagged():
    """Power falls during a long edge document: the documents inside know nothing of it."""
    samples = counted(
        [4 * S] * 4, lambda start, _: {"cpu": 1.0, "gpu": 100.0 if start < T0 + 8 * S else 60.0}
    )
    (reading,) = read_energy(trace((row(cadence_s=0.1), samples)), Window(T0 + 2 * S, T0 + 11 * S, 9))
    assert any("differ by" in reason and "limit 3 %" in reason for reason in reading.claim_reasons)
    assert reading.mwh_per_token_gross == pytest.approx(101 / 3.6 / 1)
    assert reading.j_per_token_gross == pytest.approx((6 * 101 + 3 * 61) / 9)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"thermal": "Heavy"}, "thermal pressure Heavy"),
        ({"throttle": ("thermal, hardware",)}, "throttled: thermal, hardware"),
    ],
)
def test_a_throttled_window_is_indicative_at_most(more, reason):
    samples = every(S // 4, 100, GPU)
    samples[40] = dataclasses.replace(samples[40], **more)
    (reading,) = read_energy(trace((row(), samples)), Window(T0 + 5 * S, T0 + 17 * S, 9))
    assert (reading.claim, reading.claim_reasons) == ("indicative", [reason])


def test_a_power_cap_and_nominal_pressure_are_no_doubt():
    samples = [
        dataclasses.replace(s, thermal="Nominal", throttle=("sw power cap",)) for s in every(S // 4, 100, GPU)
    ]
    assert read_energy(trace((row(), samples)), Window(T0 + 5 * S, T0 + 17 * S, 9))[0].claim == "valid"


def test_typed_watts_stand_for_the_whole_window_and_are_indicative():
    typed = system(key="external", cadence_s=math.inf)
    made = trace((typed, [Sample(T0, {"system": 143.0})]))
    (reading,) = read_energy(made, Window(T0 + 5 * S, T0 + 17 * S, 120))
    assert (reading.claim, reading.claim_reasons) == ("indicative", ["one typed figure"])
    assert reading.mwh_per_token_gross == pytest.approx(143 / 36) and reading.method is None


def test_a_row_without_samples_says_why_and_has_no_figures():
    made = trace((row(), []))
    made = dataclasses.replace(
        made, rows=(dataclasses.replace(made.rows[0], ended="sudo asks for a password"),)
    )
    (reading,) = read_energy(made, Window(T0, T0 + 12 * S, 9))
    assert reading.claim == "none" and reading.claim_reasons == ["no samples", "sudo asks for a password"]
    assert (
        reading.energy_gross_j is None
        and reading.rails_j == {}
        and reading.scope.startswith("SoC CPU+GPU+ANE")
    )


def test_a_package_rail_is_kept_and_added_to_nothing():
    made = trace((row(), every(S // 4, 100, {"cpu": 4.0, "gpu": 6.0, "package": 14.0})))
    (reading,) = read_energy(made, Window(T0 + 5 * S, T0 + 15 * S, 9))
    assert reading.rails_j["package"] == pytest.approx(140) and reading.energy_gross_j == pytest.approx(100)


def test_a_window_counts_the_tokens_after_its_start_up_to_its_end():
    tokens = [T0 + i * S for i in range(10)]
    assert window_of(tokens, 2, 3) == Window(T0 + 2 * S, T0 + 6 * S, 4)


@pytest.mark.parametrize(("run_in", "run_out"), [(5, 4), (9, 0), (0, 9), (-1, 0), (0, -1)])
def test_run_in_and_run_out_must_leave_a_window(run_in, run_out):
    with pytest.raises(ValueError, match="leave no window"):
        window_of([T0 + i * S for i in range(10)], run_in, run_out)
