"""What the power pane is told while a run goes on: watts, energy per token, and whether a claim will hold."""

import dataclasses
import math

import pytest

from tests.power.made import T0, S, every, points, row, steady, trace
from workbench.power.conditions import PowerConditions, conditions_over
from workbench.power.energy import Window
from workbench.power.live import HISTORY, LiveState, live
from workbench.power.meter import Trace
from workbench.power.source import Method, Sample

GPU = {"cpu": 4.0, "gpu": 96.0, "ane": 0.0}


def at(seconds: float) -> int:
    return T0 + round(seconds * S)


def system(watts, count=100):
    whole = row(
        Method.TRAPEZOID, key="macmon-system", parts=("system",), watched=("system",), whole_machine=True
    )
    return whole, steady(S // 4, count, {"system": watts})


def test_before_the_first_sample_it_waits():
    (only,) = live(trace((row(), [])), at(1))
    assert (only.state, only.outlook) == (LiveState.WAITING, "waiting for the first sample")
    assert only.watts_now is None and only.mean_w is None


def test_while_nothing_runs_it_reads_watts_and_no_energy_per_token():
    (only,) = live(trace((row(), every(S // 4, 20, GPU))), at(5), tps=32.6)
    assert only.watts_now == pytest.approx(100) and only.mean_w == pytest.approx(100)
    assert only.state is LiveState.READING and only.outlook == "a claim needs 10 s of decode"
    assert only.mwh_per_token is None and only.j_per_token is None
    assert only.scope == "SoC CPU+GPU+ANE, made"


def test_during_a_decode_it_counts_from_the_first_token():
    idle = every(S // 4, 20, {"cpu": 1.0, "gpu": 9.0, "ane": 0.0})
    busy = every(S // 4, 16, GPU, start_ns=idle[-1].at_ns)
    (only,) = live(trace((row(), idle + busy)), at(9), since_ns=at(5), tps=32.6)
    assert only.samples == 16 and only.mean_w == pytest.approx(100)
    assert only.mwh_per_token == pytest.approx(0.852, abs=5e-4)
    assert only.j_per_token == pytest.approx(3.067, abs=1e-3)
    assert (only.state, only.outlook) == (LiveState.INDICATIVE, "a claim in 6 s, if the decode lasts")
    assert only.history_w == pytest.approx([10.0] * 20 + [100.0] * 16)


def test_after_its_window_a_claim_holds():
    (only,) = live(trace((row(), every(S // 4, 60, GPU))), at(15), since_ns=at(3), tps=30)
    assert (only.state, only.outlook) == (LiveState.VALID, "a claim holds: 12 s, 48 samples")


def test_a_claim_at_another_rate_than_the_repeats_is_indicative():
    made = trace((row(), every(S // 4, 60, GPU)))
    (near,) = live(made, at(15), since_ns=at(3), tps=30, repeats_tps=32.0)
    assert near.state is LiveState.VALID
    (apart,) = live(made, at(15), since_ns=at(3), tps=30, repeats_tps=40.0)
    assert apart.state is LiveState.INDICATIVE
    said = "indicative only: the window ran at 30.0 tok/s, the repeats at 40.0: 25 % apart (limit 10 %)"
    assert apart.outlook == said


@pytest.mark.parametrize(
    ("expected_s", "outlook"),
    [
        (4, "indicative only: about 4 s expected, a claim needs 10 s"),
        (0.6, "no claim: about 1 s expected, a claim needs 10 s"),
        (30, "a claim in 9 s, if the decode lasts"),
    ],
)
def test_a_run_that_will_be_too_short_is_told_beforehand(expected_s, outlook):
    made = trace((row(), every(S // 4, 24, GPU)))
    (only,) = live(made, at(6), since_ns=at(5), tps=30, expected_s=expected_s)
    assert only.outlook == outlook and only.state is LiveState.READING


def test_a_rail_at_exactly_0_for_seconds_of_decode_is_stalled():
    made = trace((row(), every(S // 4, 40, {"cpu": 0.0, "gpu": 36.0, "ane": 0.0})))
    (only,) = live(made, at(10), since_ns=at(2), tps=30)
    assert only.state is LiveState.STALLED
    assert only.outlook == "no claim: cpu at exactly 0 under load is stalled, not 0 W"
    assert only.mwh_per_token is None and only.scope == "SoC GPU+ANE, made, no CPU"
    (early,) = live(made, at(4), since_ns=at(2), tps=30)
    assert early.state is not LiveState.STALLED  # two seconds prove nothing


def test_rails_published_in_batches_are_not_called_stalled_between_them():
    slow = row(cadence_s=2.2)
    made = trace((slow, every(S // 4, 20, {"cpu": 0.0, "gpu": 30.0})[:8]))
    (only,) = live(made, at(4), since_ns=at(0), tps=30)
    assert only.state is not LiveState.STALLED


def test_rails_above_the_whole_machine_shout_on_both_rows():
    made = trace((row(), every(S // 4, 40, {"cpu": 4.0, "gpu": 87.0})), system(52.0, 40))
    rails, whole = live(made, at(9), since_ns=at(1), tps=30)
    assert rails.state is whole.state is LiveState.ERROR and str(rails.state) == "power counting error"
    words = "power counting error: made reads 91.0 W, more than the whole machine's 52.0 W (macmon-system)"
    assert rails.outlook == whole.outlook == words


def test_a_source_that_ended_says_why():
    made = trace((row(), every(S // 4, 4, GPU)))
    made = Trace((dataclasses.replace(made.rows[0], ended="sudo asks for a password"),))
    (only,) = live(made, at(20), since_ns=at(0))
    assert (only.state, only.outlook) == (LiveState.ENDED, "no claim: sudo asks for a password")
    assert only.watts_now == pytest.approx(100)


def test_typed_watts_give_energy_per_token_and_are_indicative():
    typed = row(Method.TRAPEZOID, key="external", parts=("system",), cadence_s=math.inf, whole_machine=True)
    (only,) = live(trace((typed, [Sample(T0, {"system": 143.0})])), at(60), since_ns=at(5), tps=40)
    assert only.mwh_per_token == pytest.approx(143 / 144) and only.state is LiveState.INDICATIVE
    assert only.outlook == "one typed figure: indicative at most"


def test_the_history_is_as_long_as_a_sparkline_and_ends_now():
    made = trace((row(Method.TRAPEZOID), points([at(i / 4) for i in range(200)], lambda t: {"cpu": t / S})))
    (only,) = live(made, at(50))
    assert len(only.history_w) == HISTORY and only.history_w[-1] == only.watts_now


def test_conditions_are_those_of_the_window():
    def sample(second, **more):
        return Sample(at(second), {"board": 1.0}, **more)

    gpu = dataclasses.replace(row(Method.TRAPEZOID, key="nvml", parts=("board",)), tells_throttle=True)
    board = [
        sample(1, gpu_mhz=300.0),
        sample(2, gpu_mhz=1980.0, throttle=("sw power cap",)),
        sample(3, gpu_mhz=0.0),
        sample(4, gpu_mhz=1700.0),
        sample(9, throttle=("hw thermal slowdown",)),
    ]
    chip = [sample(2, thermal="Nominal"), sample(3, thermal="Heavy"), sample(4, thermal="Moderate")]
    made = trace((gpu, board), (row(), chip))
    assert conditions_over(made, Window(at(2), at(5))) == PowerConditions(
        1840.0, 1700.0, "Moderate", "Heavy", ("sw power cap",)
    )


def test_conditions_that_no_source_states_are_none():
    assert conditions_over(trace((row(), every(S // 4, 8, GPU))), Window(at(0), at(2))) == PowerConditions()
