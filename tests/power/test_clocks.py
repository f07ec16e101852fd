"""Two processes' clocks put side by side."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.power.made import T0, S, every, row, trace
from workbench.power.clocks import Alignment, align, clock_pair
from workbench.power.energy import Window, read_energy, window_of

WALL = 1_790_000_000 * S


@given(st.integers(-(10**15), 10**15), st.lists(st.integers(0, 10**11), min_size=1, max_size=5))
def test_any_offset_between_two_monotonic_clocks_is_found(offset, moments):
    ours = [(T0 + m, WALL + m) for m in moments]
    theirs = [(T0 + m - offset, WALL + m) for m in moments]
    found = align(theirs, ours)
    assert found == Alignment(offset, 0)
    assert found.ours(T0 - offset) == T0


def test_a_stepped_wall_clock_is_uncertainty():
    theirs = [(T0, WALL), (T0 + 30 * S, WALL + 31 * S)]
    assert align(theirs, [(T0, WALL)]).uncertainty_ns == S // 2


def test_clocks_need_a_pair_from_each_side():
    with pytest.raises(ValueError, match="pair from each"):
        align([], [(1, 2)])


def test_a_pair_reads_both_clocks_of_this_process():
    monotonic, wall = clock_pair()
    assert abs(time.perf_counter_ns() - monotonic) < S and abs(time.time_ns() - wall) < S


def test_the_tightest_of_five_tries_is_taken():
    ticks = iter([0, 900, 1000, 1800, 2000, 2010, 3000, 3700, 4000, 4500])
    assert clock_pair(lambda: next(ticks), iter([1, 2, 3, 4, 5]).__next__) == (2005, 3)


@given(st.integers(-(10**13), 10**13))
def test_a_clock_offset_changes_no_energy(offset):
    made = trace((row(), every(S // 4, 100, {"cpu": 4.0, "gpu": 6.0})))
    tokens = [T0 + 2 * S + i * S // 10 for i in range(121)]
    (direct,) = read_energy(made, window_of(tokens, 10, 10))
    theirs = [t - offset for t in tokens]
    alignment = align([(T0 - offset, WALL)], [(T0, WALL)])
    (aligned,) = read_energy(made, window_of(theirs, 10, 10, alignment), alignment=alignment)
    assert aligned == direct and direct.energy_gross_j == pytest.approx(100.0)


def test_clock_uncertainty_enters_the_edges():
    made = trace((row(), every(S // 4, 100, {"cpu": 4.0, "gpu": 6.0})))
    window = Window(T0 + 5 * S, T0 + 15 * S, 100)
    (sure,) = read_energy(made, window)
    (unsure,) = read_energy(made, window, alignment=Alignment(0, S))
    assert sure.edge_uncertainty == pytest.approx(0.025) and sure.claim == "valid"
    assert unsure.edge_uncertainty == pytest.approx(0.125) and unsure.claim == "indicative"
