import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.analysis import token_times
from workbench.analysis.rates import (
    decode_tps,
    percentile,
    plausible_tps,
    rates,
    spread,
    tps_as_mlx_lm_counts,
)

MS = 1_000_000


def steady(tokens: int, step_ms: float) -> list[int]:
    return [5_000 * MS + round(i * step_ms * MS) for i in range(tokens)]


def test_a_rate_counts_the_intervals_between_tokens():
    assert decode_tps(steady(5, 10)) == pytest.approx(100)
    assert decode_tps([0, 250 * MS]) == pytest.approx(4)


def test_mlx_lms_own_figure_is_n_over_n_minus_one_times_ours():
    # 116.82 tok/s by our rule were printed as 117.98 for 101 tokens; 336.5 as 338.2 for 200
    assert tps_as_mlx_lm_counts(116.82, 101) == pytest.approx(117.98, abs=0.01)
    assert tps_as_mlx_lm_counts(336.5, 200) == pytest.approx(338.2, abs=0.05)


@pytest.mark.parametrize("times", [[], [7], [7, 7], [7, 7, 7], [9, 3], [0, 14_000]])
def test_what_has_no_rate_gives_none(times):
    # the last: 14 µs between two tokens, as mlx-lm's first response has it, would be 71,000 tok/s
    assert decode_tps(times) is None
    assert rates(times) is None


def test_a_clock_that_runs_backwards_gives_no_statistics():
    assert rates([0, 10 * MS, 5 * MS, 30 * MS]) is None


@pytest.mark.parametrize("tps", [None, 0.0, -1.0, math.nan, math.inf, 69_000.0, 137_000.0])
def test_rates_that_no_machine_has_are_not_plausible(tps):
    assert plausible_tps(tps) is None


def test_percentiles_are_linear_between_neighbours():
    assert percentile([1, 2, 3, 4, 5], 0.5) == 3
    assert percentile([0, 10], 0.95) == pytest.approx(9.5)
    assert percentile([4], 0.99) == 4


def test_quarters_tell_a_machine_that_slows_down():
    times = steady(101, 10)
    slow = times[:76] + [times[75] + (i + 1) * 20 * MS for i in range(25)]
    found = rates(slow)
    assert found.tps_first_quarter == pytest.approx(100)
    assert found.tps_last_quarter == pytest.approx(50)
    assert rates(steady(5, 10)).tps_first_quarter is None


def test_a_token_beyond_three_medians_is_a_stall():
    times = [0, 10, 20, 30, 61, 71, 101, 111]
    found = rates([t * MS for t in times])
    assert found.stalls == 1  # 31 ms; the 30 ms token is exactly three medians
    assert found.inter_token_ms.p50 == 10
    assert found.inter_token_ms.max == 31


def test_a_summary_has_the_samples_spread():
    found = spread([90.0, 100.0, 110.0])
    assert (found.mean, found.median, found.sd, found.cv) == pytest.approx((100, 100, 10, 0.1))
    assert spread([math.nan, 4.0]).mean == 4
    assert spread([4.0]).sd is None
    assert spread([math.inf]) is None


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=60))
def test_token_times_come_back_from_their_differences(steps):
    times = token_times.times(steps)
    assert len(times) == len(steps) + 1
    assert token_times.differences(times) == steps


@given(st.lists(st.integers(0, 10**11), max_size=60))
def test_no_list_of_times_gives_a_rate_that_no_machine_has(times):
    found = rates(times)
    assert found is None or 0 < found.tps <= 20_000


def test_even_times_have_the_rate_they_were_made_for():
    assert decode_tps(token_times.even(88.99, 200)) == pytest.approx(88.99, rel=1e-8)
