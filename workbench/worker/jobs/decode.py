"""The decode job: load, warm up, and time greedy batch-1 decoding through `mlx_lm.stream_generate`.

Token times are taken right after each token comes back and sent whole when a repeat is done.
"""

import math
import time
from pathlib import Path

from workbench.errors import WorkerError
from workbench.worker.jobs.energy_pass import energy_pass
from workbench.worker.jobs.live import Live, rate
from workbench.worker.jobs.loading import LoadedModel, fixed_prompt, load_checkpoint, prompt_sha256
from workbench.worker.messages import (
    DecodeRequest,
    Loaded,
    Loading,
    Repeat,
    RepeatDone,
    RepeatStarted,
    Warmed,
)
from workbench.worker.outlet import Say

STABLE = 0.05
"""Two successive warm-up passes whose rates differ by no more than this are stable."""
_MOST_PASSES = 8
_PASS_S, _LEAST_TOKENS = 0.5, 8  # what a pass takes at the rate of the one before: long enough to compare


def run(request: DecodeRequest, say: Say) -> None:
    """Do the whole measurement and say it step by step. Raises WorkerError in words."""
    if request.max_tokens < 2:
        raise WorkerError("A decode rate needs at least 2 tokens.", "Ask for more tokens.", code="usage")
    import mlx.core as mx

    say(Loading(at_ns=time.time_ns()))
    mx.random.seed(request.seed)
    began = time.perf_counter()
    loaded = load_checkpoint(Path(request.path))
    load_s = time.perf_counter() - began
    loaded.tokenizer.eos_token_ids = []  # the end-of-text token is a token like any other
    ids = fixed_prompt(loaded, request.prompt_tokens)
    say(Loaded(load_s=load_s, prompt_sha256=prompt_sha256(ids), prompt_tokens=len(ids)))
    try:
        _warm_up(request, loaded, ids, say)
        for index in range(request.repeats):
            if index and request.cooldown_s > 0:
                time.sleep(request.cooldown_s)
            say(RepeatStarted(index=index, of=request.repeats))
            say(RepeatDone(_repeat(request, loaded, ids, index, say)))
        if request.energy_min_s > 0:
            energy_pass(request, loaded, ids, say)
    except (RuntimeError, MemoryError) as error:
        raise _decode_failure(error) from error


def _warm_up(request: DecodeRequest, loaded: LoadedModel, ids: list[int], say: Say) -> None:
    """Throw tokens away: `warmup_tokens`, then whole passes until two agree where that is asked for."""
    tps = None
    if request.warmup_tokens > 0:
        tps = _timed(request, loaded, ids, request.warmup_tokens).rate
        say(Warmed(passes=1, tokens=request.warmup_tokens, tps=tps))
    if not request.warm_until_stable:
        return
    before: float | None = None
    for passes in range(2, _MOST_PASSES + 1):
        # Sized anew each time: the first pass compiles kernels, and its rate says nothing.
        tokens = min(max(_LEAST_TOKENS, round(_PASS_S * (tps or 0))), request.max_tokens)
        tps = _timed(request, loaded, ids, tokens).rate
        steady = before is not None and tps is not None and abs(tps - before) <= STABLE * before
        say(Warmed(passes=passes, tokens=tokens, tps=tps, steady=steady))
        if steady:
            return
        before = tps


class _Timed:
    """What one pass gave: start and token times in ns, mlx-lm's own two rates, and the text."""

    def __init__(self) -> None:
        self.start_ns = 0
        self.times_ns: list[int] = []
        self.prompt_tps = 0.0
        self.mlx_lm_tps = 0.0
        self.text: list[str] = []

    @property
    def rate(self) -> float | None:
        """Tok/s over the whole pass, None where there is none."""
        return rate(self.times_ns)


def _timed(
    request: DecodeRequest, loaded: LoadedModel, ids: list[int], tokens: int, live: Live | None = None
) -> _Timed:
    """Prefill and decode `tokens` greedy tokens with a fresh cache."""
    import mlx.core as mx
    from mlx_lm import stream_generate

    prompt = mx.array(ids)
    mx.eval(prompt)
    mx.synchronize()
    timed = _Timed()
    times, clock = timed.times_ns, time.perf_counter_ns
    timed.start_ns = clock()
    for response in stream_generate(
        loaded.model,
        loaded.tokenizer,
        prompt,
        max_tokens=tokens,
        prefill_step_size=request.prefill_step_size,
    ):
        times.append(clock())
        if live is not None:
            live.seen(times, response.text)
            if request.text:
                timed.text.append(response.text)
    # Of mlx-lm's own rates only the last response's count: the first one's is 10^5 tok/s.
    timed.prompt_tps, timed.mlx_lm_tps = response.prompt_tps, response.generation_tps
    return timed


def _repeat(request: DecodeRequest, loaded: LoadedModel, ids: list[int], index: int, say: Say) -> Repeat:
    import mlx.core as mx

    mx.reset_peak_memory()
    live = Live(say, index, request.progress_hz, text=request.text)
    timed = _timed(request, loaded, ids, request.max_tokens, live)
    if len(timed.times_ns) != request.max_tokens or timed.rate is None:
        raise WorkerError(
            f"mlx-lm stopped after {len(timed.times_ns)} of {request.max_tokens} tokens.",
            "Ask for fewer tokens; the model may be at the end of its context.",
            code="decode_short",
        )
    own = timed.mlx_lm_tps
    return Repeat(
        index=index,
        ttft_s=(timed.times_ns[0] - timed.start_ns) / 1e9,
        prompt_tps=timed.prompt_tps,
        token_times_ns=timed.times_ns,
        peak_memory_gb=mx.get_peak_memory() / 1e9,
        tps_mlx_lm=own if math.isfinite(own) and own > 0 else None,
        text="".join(timed.text),
    )


def _decode_failure(error: Exception) -> Exception:
    """Running out of memory in words; anything else as it is."""
    text = str(error).lower()
    if isinstance(error, MemoryError) or "memory" in text or "allocate" in text:
        return WorkerError(
            "The model was loaded, and then memory ran out while it decoded.",
            "Close other programs, or choose a smaller checkpoint.",
            code="out_of_memory",
        )
    return error
