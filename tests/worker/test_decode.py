"""One whole measurement of a tiny mixture, through the client, and what each of its reports says."""

import hashlib
import json
import math
from itertools import pairwise
from statistics import median
from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer

from tests.worker.conversation import collect, only
from workbench.errors import WorkerError
from workbench.worker.jobs import decode
from workbench.worker.jobs.prose import PROSE
from workbench.worker.messages import (
    DecodeRequest,
    EnergyWindow,
    Finished,
    Idle,
    Loaded,
    Loading,
    Progress,
    Ready,
    RepeatDone,
    RepeatStarted,
    Warmed,
)

TOKENS = 30


@pytest.fixture(scope="module")
def run(tiny):
    request = DecodeRequest(
        str(tiny["tiny-mixture"]),
        max_tokens=TOKENS,
        repeats=2,
        warm_until_stable=True,
        text=True,
        progress_hz=20,
        settle_s=0.1,
        idle_s=0.2,
        energy_min_s=0.5,
        edge_s=0.15,
    )
    return collect("decode", request)


def rate(times_ns):
    return (len(times_ns) - 1) * 1e9 / (times_ns[-1] - times_ns[0])


def test_the_reports_come_in_the_protocols_order(run):
    kinds = [type(report) for report in run if not isinstance(report, Progress | Warmed)]
    repeats = [RepeatStarted, RepeatDone] * 2
    assert kinds == [Ready, Loading, Loaded, *repeats, Idle, EnergyWindow, Finished]


def test_the_prompt_is_exactly_as_long_as_asked_and_the_same_every_time(run, tiny):
    (loaded,) = only(run, Loaded)
    assert loaded.prompt_tokens == 209
    assert loaded.load_s > 0
    ids = Tokenizer.from_file(str(tiny["tiny-mixture"] / "tokenizer.json")).encode(PROSE).ids[:209]
    assert loaded.prompt_sha256 == hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest()


def test_warm_up_throws_8_tokens_away_and_goes_on_until_two_passes_agree(run):
    warmed = only(run, Warmed)
    assert (warmed[0].passes, warmed[0].tokens) == (1, 8)
    assert 3 <= len(warmed) <= 8
    assert [report.passes for report in warmed] == list(range(1, len(warmed) + 1))
    before, last = warmed[-2].tps, warmed[-1].tps
    steady = abs(last - before) <= 0.05 * before
    assert steady or len(warmed) == 8
    assert [report.steady for report in warmed] == [False] * (len(warmed) - 1) + [steady]


@pytest.mark.parametrize(
    ("rates", "tokens"),
    [
        ([0.2, 300, 310], [8, 8, 150]),  # the first pass compiles: it must not size those that are compared
        ([0.2, 300, 400, 404], [8, 8, 150, 200]),
        ([2.0, 2.1, 2.1], [8, 8, 8]),  # a slow model has been heard after 8 tokens
        ([100, *[50, 200] * 4], [8, 50, 25, 100, 25, 100, 25, 100]),
    ],
)
def test_each_warm_up_pass_is_as_long_as_the_rate_before_it_asks_for(monkeypatch, rates, tokens):
    given = iter(rates)
    monkeypatch.setattr(decode, "_timed", lambda *_: SimpleNamespace(rate=next(given)))
    said = []
    request = DecodeRequest("anywhere", max_tokens=200, warm_until_stable=True)
    decode._warm_up(request, None, [], said.append)
    assert [warmed.tokens for warmed in said] == tokens
    assert [warmed.tps for warmed in said] == rates[: len(tokens)]
    assert [warmed.steady for warmed in said[:-1]] == [False] * (len(said) - 1)
    assert said[-1].steady == (len(said) < 8)


def test_a_repeat_holds_the_time_of_every_token(run):
    for index, done in enumerate(only(run, RepeatDone)):
        repeat = done.repeat
        times = repeat.token_times_ns
        assert repeat.index == index and len(times) == TOKENS
        assert all(a < b for a, b in pairwise(times))
        assert 0 < repeat.ttft_s < 10 and 0 < repeat.prompt_tps < 1e6
        assert 0.001 < repeat.peak_memory_gb < 1
        assert repeat.text


def test_mlx_lms_own_rate_is_n_over_n_minus_1_times_ours(run):
    ratios = [d.repeat.tps_mlx_lm / rate(d.repeat.token_times_ns) for d in only(run, RepeatDone)]
    # What remains lies between its clock reads and ours: microseconds, or a time slice on a busy machine.
    assert min(abs(ratio * (TOKENS - 1) / TOKENS - 1) for ratio in ratios) < 0.02


def test_the_first_responses_nonsense_rate_never_leaves_the_job(run):
    true = max(rate(done.repeat.token_times_ns) for done in only(run, RepeatDone))
    live = [r for p in only(run, Progress) for r in (p.tps_now, p.tps_mean) if r is not None]
    rates = live + [w.tps for w in only(run, Warmed)] + [d.repeat.tps_mlx_lm for d in only(run, RepeatDone)]
    assert live and all(math.isfinite(r) and 0 < r < 10 * true for r in rates)
    for progress in only(run, Progress):
        if progress.tokens == 1:
            assert progress.tps_now is None and progress.tps_mean is None and progress.elapsed_s == 0


def test_live_views_are_no_more_than_asked_and_carry_the_text(run):
    for index, done in enumerate(only(run, RepeatDone)):
        shown = [p for p in only(run, Progress) if p.index == index]
        seconds = (done.repeat.token_times_ns[-1] - done.repeat.token_times_ns[0]) / 1e9
        assert 1 <= len(shown) <= 20 * seconds + 1
        assert done.repeat.text.startswith("".join(p.text for p in shown))


def test_the_energy_window_is_as_long_as_asked_between_run_in_and_run_out(run):
    (window,) = only(run, EnergyWindow)
    times = window.token_times_ns
    opened, closed = times[window.run_in_tokens], times[len(times) - 1 - window.run_out_tokens]
    assert closed - opened >= 0.5e9
    assert opened - times[0] >= 0.15e9 and times[-1] - closed >= 0.15e9
    assert len(times) > TOKENS  # more than a chunk, and no prefill between them
    gaps = [b - a for a, b in pairwise(times)]
    between_chunks = gaps[TOKENS - 1 :: TOKENS]
    prefill_ns = min(done.repeat.ttft_s for done in only(run, RepeatDone)) * 1e9
    assert median(between_chunks) < prefill_ns / 2
    (before, before_wall), (after, after_wall) = window.clock_pairs
    assert before <= times[0] and times[-1] <= after
    assert after_wall - before_wall == pytest.approx(after - before, rel=0.01)
    (idle,) = only(run, Idle)
    assert idle.end_ns - idle.start_ns >= 0.2e9 and idle.end_ns <= times[0]


def test_end_of_text_tokens_do_not_end_a_repeat(tiny, tmp_path):
    path = tmp_path / "all-end"
    path.mkdir()
    for file in tiny["tiny-1"].iterdir():
        (path / file.name).write_bytes(file.read_bytes())
    config = json.loads((path / "config.json").read_text()) | {"eos_token_id": list(range(512))}
    (path / "config.json").write_text(json.dumps(config))
    reports = collect("decode", DecodeRequest(str(path), repeats=1, max_tokens=20))
    (done,) = only(reports, RepeatDone)
    assert len(done.repeat.token_times_ns) == 20


def test_one_token_is_no_measurement():
    with pytest.raises(WorkerError, match="2 tokens"):
        decode.run(DecodeRequest("x", max_tokens=1), lambda _: None)
