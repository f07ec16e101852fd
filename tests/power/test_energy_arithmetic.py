"""Energy over a window: exact for constant power, alike by counters and by trapezoids, refused over a gap."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.power.made import T0, S, counted, every, points, row, steady
from workbench.power.source import Method, Sample
from workbench.power.window import integrate, placed

POWERS = st.floats(0.001, 2000, allow_nan=False)
INTERVALS = st.lists(st.integers(50_000_000, 600_000_000), min_size=6, max_size=60)
EDGES = st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda edge: abs(edge[0] - edge[1]) > 1e-3)


def inside(edges, first_ns, last_ns):
    low, high = sorted(edges)
    span = last_ns - first_ns
    return first_ns + int(low * span), first_ns + int(high * span)


@given(INTERVALS, POWERS, POWERS, EDGES)
def test_constant_power_gives_exactly_p_times_t_by_counters(elapsed, cpu_w, gpu_w, edges):
    samples = counted(elapsed, {"cpu": cpu_w, "gpu": gpu_w, "ane": 0.0})
    start_ns, end_ns = inside(edges, T0, samples[-1].at_ns)
    found = integrate(row(), samples, start_ns, end_ns)
    seconds = (end_ns - start_ns) / S
    assert found.refused is None
    assert found.rails_j["cpu"] == pytest.approx(cpu_w * seconds, rel=1e-9)
    assert found.rails_j["gpu"] == pytest.approx(gpu_w * seconds, rel=1e-9)
    assert found.rails_j["ane"] == 0
    assert found.mean_w == pytest.approx(cpu_w + gpu_w, rel=1e-9)


@given(st.lists(st.integers(100_000_000, 200_000_000), min_size=4, max_size=60), POWERS, EDGES)
def test_constant_power_gives_exactly_p_times_t_by_trapezoids(gaps, watts, edges):
    times = [T0]
    for gap in gaps:
        times.append(times[-1] + gap)
    samples = points(times, lambda _: {"system": watts})
    start_ns, end_ns = inside(edges, times[0], times[-1])
    found = integrate(row(Method.TRAPEZOID, parts=("system",)), samples, start_ns, end_ns)
    assert found.refused is None
    assert found.rails_j["system"] == pytest.approx(watts * (end_ns - start_ns) / S, rel=1e-9)
    assert found.mean_w == pytest.approx(watts)


@given(st.floats(-3, 3), st.floats(50, 500), EDGES)
def test_the_trapezoid_is_exact_for_power_that_changes_linearly(slope_w_per_s, at_start_w, edges):
    def watts(at_ns):
        return {"system": at_start_w + slope_w_per_s * (at_ns - T0) / S}

    samples = points([T0 + i * S // 10 for i in range(101)], watts)
    start_ns, end_ns = inside(edges, T0, T0 + 10 * S)
    found = integrate(row(Method.TRAPEZOID, parts=("system",)), samples, start_ns, end_ns)
    middle_w = watts((start_ns + end_ns) / 2)["system"]
    assert found.rails_j["system"] == pytest.approx(middle_w * (end_ns - start_ns) / S, rel=1e-6)


@given(EDGES, st.floats(0.5, 5), st.floats(0, 0.9))
def test_counters_and_trapezoids_agree_on_power_that_swings(edges, period_s, depth):
    def watts(at_ns):
        return 100 * (1 + depth * math.sin(2 * math.pi * (at_ns - T0) / S / period_s))

    def mean(start_ns, end_ns):
        a, b = ((t - T0) / S * 2 * math.pi / period_s for t in (start_ns, end_ns))
        return {"gpu": 100 * (1 + depth * (math.cos(a) - math.cos(b)) / (b - a))}

    interval = S // 20
    by_counter = counted([interval] * 400, mean)
    by_watts = points([T0 + i * interval for i in range(401)], lambda at: {"gpu": watts(at)})
    start_ns, end_ns = inside(edges, T0, T0 + 20 * S)
    if end_ns - start_ns < 2 * S:
        return
    gpu = ("gpu",)
    counters = integrate(row(parts=gpu), by_counter, start_ns, end_ns)
    trapezoids = integrate(row(Method.TRAPEZOID, parts=gpu), by_watts, start_ns, end_ns)
    assert counters.rails_j["gpu"] == pytest.approx(trapezoids.rails_j["gpu"], rel=0.02)


def test_edge_documents_count_by_the_share_of_their_time_inside():
    samples = counted([S, S, S], lambda start, _: {"cpu": 10.0 * (1 + (start - T0) // S)})  # 10, 20, 30 W
    found = integrate(row(), samples, T0 + S // 2, T0 + 2 * S + S // 4)
    assert found.rails_j["cpu"] == pytest.approx(0.5 * 10 + 20 + 0.25 * 30)
    assert found.inside == 1 and found.mean_w == pytest.approx(20)


def test_a_window_inside_one_document_gets_its_share_and_has_no_sample():
    found = integrate(row(), every(4 * S, 3, {"cpu": 8.0}), T0 + 5 * S, T0 + 6 * S)
    assert found.rails_j["cpu"] == pytest.approx(8.0) and found.inside == 0


@given(st.lists(st.integers(0, 400_000_000), min_size=30, max_size=30), st.sets(st.integers(0, 9)))
def test_a_document_read_late_moves_no_energy(delays, punctual):
    late = [0 if index % 10 in punctual or index % 3 == 0 else delay for index, delay in enumerate(delays)]
    on_time = counted([S // 4] * 30, lambda start, _: {"cpu": 5.0 + (start - T0) / S})
    delayed = counted([S // 4] * 30, lambda start, _: {"cpu": 5.0 + (start - T0) / S}, late_ns=late)
    window = (T0 + 2 * S, T0 + 5 * S)
    expected, found = integrate(row(), on_time, *window), integrate(row(), delayed, *window)
    assert found.refused is None
    assert found.rails_j == pytest.approx(expected.rails_j)


def test_documents_are_laid_end_to_end_and_none_ends_after_it_arrived():
    samples = counted([S, S, S], {"cpu": 1.0}, late_ns=[300_000_000, 20_000_000, 700_000_000])
    laid = placed(samples)
    assert [d.end_ns - d.start_ns for d in laid] == [S, S, S]
    assert [d.start_ns for d in laid[1:]] == [d.end_ns for d in laid[:-1]]
    assert [d.late_ns for d in laid] == [280_000_000, 0, 680_000_000]


def test_a_document_marked_lost_inside_the_window_refuses():
    samples = every(S // 4, 40, {"cpu": 5.0})
    broken = samples[:20] + samples[21:]
    broken[20] = dataclasses.replace(broken[20], after_loss=True)
    found = integrate(row(), broken, T0 + 2 * S, T0 + 8 * S)
    assert found.refused == "a document inside the window was damaged or lost"
    after = integrate(row(), broken, T0 + 6 * S, T0 + 8 * S)
    assert after.refused is None and after.rails_j["cpu"] == pytest.approx(10.0)


def test_a_document_that_vanished_without_a_mark_refuses_too():
    samples = every(S // 4, 60, {"cpu": 5.0})
    found = integrate(row(), samples[:30] + samples[31:], T0 + 3 * S, T0 + 12 * S)
    assert found.refused is not None and "missing" in found.refused


def test_documents_that_leave_a_little_time_out_still_measure_and_say_how_far_off():
    samples = []
    for index, sample in enumerate(every(S // 4, 80, {"cpu": 5.0})):
        samples.append(
            Sample(sample.at_ns + index * 2_500_000, sample.rails_w, sample.elapsed_ns, sample.rails_mj)
        )
    found = integrate(row(), samples, T0 + 5 * S, T0 + 15 * S)
    assert found.refused is None
    assert found.rails_j["cpu"] == pytest.approx(50.0, rel=0.02)
    assert found.edge_s > 0.27  # one interval, and the drift


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [(-1, 5, "the samples begin 1.00 s after"), (5, 11, "the samples end 1.00 s before")],
)
@pytest.mark.parametrize("method", list(Method))
def test_a_window_that_the_samples_do_not_bracket_refuses(method, start, end, why):
    samples = every(S // 4, 40, {"cpu": 5.0})
    if method is Method.TRAPEZOID:
        samples = steady(S // 4, 41, {"cpu": 5.0})
    found = integrate(row(method), samples, T0 + start * S, T0 + end * S)
    assert found.refused is not None and why in found.refused and found.rails_j == {}


def test_a_gap_of_more_than_two_and_a_half_intervals_refuses():
    times = [T0 + i * S // 10 for i in range(100)]
    fine = points(times[:50] + times[52:], lambda _: {"system": 5.0})  # a gap of 0.3 s: 3 intervals
    system = row(Method.TRAPEZOID, parts=("system",))
    refused = integrate(system, fine, T0 + S, T0 + 8 * S).refused
    assert refused is not None and "gap of 0.30 s" in refused
    spared = points(times[:50] + times[51:], lambda _: {"system": 5.0})  # 2 intervals are bridged
    assert integrate(system, spared, T0 + S, T0 + 8 * S).refused is None


@pytest.mark.parametrize("method", list(Method))
def test_no_samples_and_an_empty_window_refuse(method):
    assert integrate(row(method), [], T0, T0 + S).refused == "no samples"
    assert integrate(row(method), every(S, 3, {"cpu": 1.0}), T0 + S, T0 + S).refused == "the window is empty"


def test_a_rail_in_some_samples_only_has_no_energy():
    samples = every(S, 6, {"cpu": 5.0, "ane": 1.0})
    samples[3] = Sample(samples[3].at_ns, {"cpu": 5.0}, S, {"cpu": 5000.0})
    found = integrate(row(), samples, T0 + S, T0 + 5 * S)
    assert set(found.rails_j) == {"cpu"} and found.partial == ("ane",)


def test_a_rail_published_in_batches_widens_the_edges_to_its_own_cadence():
    """CPU energy of 2.2 s arrives at once, the GPU's in every document: seen on M5 Max."""
    batches = [11.0 * 9 if index % 9 == 8 else 0.0 for index in range(90)]
    samples = [
        Sample(s.at_ns, {"cpu": cpu, "gpu": 30.0}, s.elapsed_ns, {"cpu": cpu * 250, "gpu": 7500.0})
        for s, cpu in zip(every(S // 4, 90, {}), batches, strict=True)
    ]
    found = integrate(row(), samples, T0 + 2 * S, T0 + 20 * S)
    assert found.edge_s == pytest.approx(2.25)
    gpu_alone = integrate(row(parts=("gpu",)), samples, T0 + 2 * S, T0 + 20 * S)
    assert gpu_alone.edge_s == pytest.approx(0.25)


def test_an_ane_that_wakes_up_now_and_then_widens_nothing():
    samples = [
        Sample(s.at_ns, {"cpu": 5.0, "ane": ane}, s.elapsed_ns, {"cpu": 1250.0, "ane": ane * 250})
        for s, ane in zip(every(S // 4, 40, {}), [4.0, *[0.0] * 19] * 2, strict=True)
    ]
    assert integrate(row(), samples, T0 + S, T0 + 9 * S).edge_s == pytest.approx(0.25)
