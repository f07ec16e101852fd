"""The energy pass: a decode that lasts, at the same power before and after the window that is counted.

Nothing but decode steps runs in it: the prompt is read once, and every chunk of `max_tokens` tokens starts
from a copy of that cache, so that no prefill and no longer context enters the window.
"""

import copy
import time
from collections.abc import Iterator
from typing import Any

from workbench.worker.jobs.live import Live
from workbench.worker.jobs.loading import LoadedModel
from workbench.worker.messages import DecodeRequest, EnergyWindow, Idle
from workbench.worker.outlet import Say


def energy_pass(request: DecodeRequest, loaded: LoadedModel, ids: list[int], say: Say) -> None:
    """Idle with the model loaded, then decode until `energy_min_s` lie between run-in and run-out.

    mlx-lm computes one step more than it hands out per chunk, so that a window costs 1/`max_tokens` more
    energy than its tokens (0.5 % at 200).
    """
    if request.idle_s > 0:
        time.sleep(request.settle_s)
        say(_idle(request.idle_s))
    edge_ns = round(request.edge_s * 1e9)
    window_ns = round(request.energy_min_s * 1e9)
    live = Live(say, request.repeats, request.progress_hz)
    times: list[int] = []
    begin = end = 0  # the tokens whose times open and close the window
    started = _clock_pair()
    for token_time_ns, text in _steady_decode(request, loaded, ids):
        times.append(token_time_ns)
        live.seen(times, text)
        if not begin and token_time_ns >= times[0] + edge_ns:
            begin = len(times) - 1
        elif begin and not end and token_time_ns >= times[begin] + window_ns:
            end = len(times) - 1
        elif end and token_time_ns >= times[end] + edge_ns:
            break
    say(
        EnergyWindow(
            token_times_ns=times,
            clock_pairs=[started, _clock_pair()],
            run_in_tokens=begin,
            run_out_tokens=len(times) - 1 - end,
        )
    )


def _steady_decode(request: DecodeRequest, loaded: LoadedModel, ids: list[int]) -> Iterator[tuple[int, str]]:
    """Time and text of one token after another without end, chunk by chunk from the same prompt's cache."""
    import mlx.core as mx
    from mlx_lm import stream_generate

    first, prefilled = _prefilled(request, loaded, ids)
    while True:
        for response in stream_generate(
            loaded.model,
            loaded.tokenizer,
            mx.array([first]),
            max_tokens=request.max_tokens,
            prompt_cache=copy.deepcopy(prefilled),
        ):
            yield time.perf_counter_ns(), response.text


def _prefilled(request: DecodeRequest, loaded: LoadedModel, ids: list[int]) -> tuple[int, list[Any]]:
    """The first token after the prompt, and the evaluated cache that holds the prompt."""
    import mlx.core as mx
    from mlx_lm import stream_generate
    from mlx_lm.models.cache import make_prompt_cache

    cache = make_prompt_cache(loaded.model)
    (response,) = stream_generate(
        loaded.model,
        loaded.tokenizer,
        mx.array(ids),
        max_tokens=1,
        prefill_step_size=request.prefill_step_size,
        prompt_cache=cache,
    )
    mx.eval([part.state for part in cache])
    return response.token, cache


def _idle(idle_s: float) -> Idle:
    before, start = _clock_pair(), time.perf_counter_ns()
    time.sleep(idle_s)
    return Idle(start_ns=start, end_ns=time.perf_counter_ns(), clock_pairs=[before, _clock_pair()])


def _clock_pair() -> tuple[int, int]:
    return time.perf_counter_ns(), time.time_ns()
