"""A run told as a story: what each report of the worker makes of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.stage import STAMP, plan, repeat, story
from workbench.ledger.parts import LockedPrediction
from workbench.protocol.plan import RunSettings
from workbench.protocol.run import PLOT_POINTS, TEXT_CHARS, Phase, Run, Step, fold
from workbench.worker import messages as m


def told(run, *reports):
    for report in reports:
        run = fold(run, report)
    return run


def locked(run):
    return replace(run, phase=Phase.LOCKED, locks=(LockedPrediction("2026-01-01T00:00:00+00:00", 120.0),))


def test_a_run_goes_through_the_six_steps_in_their_order():
    run = Run(plan())
    steps = [run.step]
    run = fold(run, m.Ready(stamp=STAMP, pid=7))
    steps.append(run.step)
    run = locked(run)
    for report in story():
        run = fold(run, report)
        steps.append(run.step)
    steps.append(replace(run, phase=Phase.ENDED).step)
    assert list(dict.fromkeys(steps)) == [
        Step.STAMP,
        Step.PREDICT,
        Step.WARM_UP,
        Step.MEASURE,
        Step.RECORD,
    ]
    assert run.finished
    assert [done.index for done in run.repeats] == [0, 1]
    assert run.loaded.load_s == 0.2
    assert [one.passes for one in run.warmed] == [1]


def test_a_stamp_does_not_undo_a_lock_that_came_first():
    run = fold(locked(Run(plan())), m.Ready(stamp=STAMP, pid=7))
    assert run.phase is Phase.LOCKED
    assert run.locked
    assert (run.stamp, run.worker_pid) == (STAMP, 7)


def test_no_lock_may_change_once_the_load_has_begun():
    run = fold(locked(Run(plan())), m.Loading(at_ns=5))
    assert run.load_begun
    assert run.loading_at_ns == 5


def test_a_repeat_begins_with_its_prefill_and_without_the_last_ones_rate():
    progress = m.Progress(index=0, tokens=5, elapsed_s=0.4, tps_now=10.0, tps_mean=10.0, text="hello")
    run = told(Run(plan()), m.RepeatStarted(index=0, of=2), progress)
    assert (run.phase, run.now.tps_now, run.text) == (Phase.DECODING, 10.0, "hello")
    run = told(run, repeat(0), m.RepeatStarted(index=1, of=2))
    assert (run.phase, run.now, run.text, run.repeat_index) == (Phase.PREFILL, None, "", 1)
    assert len(run.points) == 1


@pytest.mark.parametrize("rate", [120_000.0, 69_000.0, 0.0, -1.0, float("nan"), float("inf"), None])
def test_the_first_tokens_rate_never_appears(rate):
    run = fold(Run(plan()), m.Progress(index=0, tokens=1, elapsed_s=0.0, tps_now=99.0, tps_mean=99.0))
    assert (run.now.tps_now, run.now.tps_mean, run.points) == (None, None, ())
    run = fold(run, m.Progress(index=0, tokens=9, elapsed_s=0.1, tps_now=rate, tps_mean=rate))
    assert (run.now.tps_now, run.now.tps_mean, run.points) == (None, None, ())
    assert run.now.tokens == 9


def test_a_failure_keeps_how_far_the_run_had_come():
    progress = m.Progress(index=1, tokens=5, elapsed_s=0.4, tps_now=10.0, tps_mean=10.0)
    run = told(Run(plan()), repeat(0), progress, m.Failed("load_failed", "no", "do"))
    assert run.failure.code == "load_failed"
    assert (len(run.repeats), run.now.tokens) == (1, 5)


def test_the_energy_pass_follows_the_last_repeat():
    energetic = plan(settings=replace(plan().settings, energy_min_s=10.0, idle_s=5.0))
    run = told(Run(energetic), repeat(0))
    assert run.phase is Phase.COOLING
    run = told(run, repeat(1))
    assert run.phase is Phase.IDLE
    run = told(run, m.Idle(start_ns=1, end_ns=2))
    assert run.phase is Phase.ENERGY
    run = told(run, m.Progress(index=2, tokens=9, elapsed_s=0.1, tps_now=50.0, tps_mean=50.0))
    assert run.phase is Phase.ENERGY
    window = m.EnergyWindow(token_times_ns=[1, 2], clock_pairs=[], run_in_tokens=0, run_out_tokens=0)
    assert told(run, window).energy is window
    no_idle = plan(settings=replace(plan().settings, energy_min_s=10.0))
    assert told(Run(no_idle), repeat(0), repeat(1)).phase is Phase.ENERGY


def test_reports_of_other_jobs_change_nothing():
    run = Run(plan())
    assert fold(run, m.Synthesized(name="x", path="y", built=True)) is run


def test_a_run_of_hours_does_not_grow_without_end():
    run = Run(plan())
    for i in range(PLOT_POINTS + 50):
        run = fold(
            run, m.Progress(index=0, tokens=i + 2, elapsed_s=i, tps_now=9.0, tps_mean=9.0, text="x" * 20)
        )
    assert len(run.points) == PLOT_POINTS
    assert run.points[-1].tokens == PLOT_POINTS + 51
    assert len(run.text) == TEXT_CHARS


reports = st.one_of(
    st.builds(m.Loading, at_ns=st.integers(0, 2**62)),
    st.builds(m.RepeatStarted, index=st.integers(0, 4), of=st.integers(1, 5)),
    st.builds(
        m.Progress,
        index=st.integers(0, 4),
        tokens=st.integers(0, 300),
        elapsed_s=st.floats(allow_nan=True),
        tps_now=st.none() | st.floats(),
        tps_mean=st.none() | st.floats(),
        text=st.text(max_size=5),
    ),
    st.builds(m.Warmed, passes=st.integers(0, 9), tokens=st.integers(0, 99)),
    st.sampled_from([repeat(0), repeat(1), m.Finished(), m.Failed("c", "m"), m.Ready(stamp=STAMP, pid=1)]),
)


@given(st.lists(reports, max_size=30))
def test_no_order_of_reports_shows_a_rate_that_no_machine_has(said):
    run = told(Run(plan(settings=RunSettings(repeats=2))), *said)
    rates = [rate for point in run.points for rate in (point.tps_now, point.tps_mean) if rate is not None]
    assert all(0 < rate <= 20_000 for rate in rates)
