from hypothesis import given
from hypothesis import strategies as st

from workbench.worker.jobs.live import Live, rate_now


def stamps(*gaps_ms):
    times = [5_000_000_000]
    for gap in gaps_ms:
        times.append(times[-1] + round(gap * 1e6))
    return times


def test_the_rate_now_looks_at_the_last_half_second_only():
    slow_then_fast = stamps(*[100] * 10, *[10] * 100)
    assert round(rate_now(slow_then_fast), 6) == 100


def test_a_slow_model_gets_its_last_interval():
    assert rate_now(stamps(2000, 4000)) == 0.25


def test_one_token_has_no_rate():
    assert rate_now(stamps()) is None


def test_two_tokens_at_the_same_time_have_no_rate():
    assert rate_now(stamps(0)) is None


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=200))
def test_the_rate_now_lies_between_the_slowest_and_the_fastest_token(gaps_ms):
    now = rate_now(stamps(*gaps_ms))
    assert 1000 / max(gaps_ms) * 0.999 <= now <= 1000 / min(gaps_ms) * 1.001


def test_views_keep_their_distance_and_carry_all_text_between():
    said = []
    live = Live(said.append, 2, 10, text=True)
    times = []
    for time_ns in stamps(*[30] * 20):
        times.append(time_ns)
        live.seen(times, "a")
    assert [view.tokens for view in said] == [1, 5, 9, 13, 17, 21]
    assert [len(view.text) for view in said] == [1, 4, 4, 4, 4, 4]
    assert said[-1].index == 2 and said[-1].elapsed_s == 0.6


def test_no_views_are_said_at_zero_hertz():
    said = []
    Live(said.append, 0, 0).seen(stamps(10), "a")
    assert said == []
