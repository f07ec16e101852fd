"""A recorded run as the messages its worker would have said, with the times at which to say them.

Pure: from a record to a plan, a stamp and cues. Token times are the record's own; where it kept none they are
spaced evenly at its rate, and that is said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.analysis.rates import plausible_tps
from workbench.analysis.token_times import even, times
from workbench.errors import UsageError
from workbench.ledger.record import Record
from workbench.protocol.plan import Plan
from workbench.protocol.restored import plan_of
from workbench.worker import messages as m
from workbench.worker.jobs.live import Live

LONGEST_WAIT_S = 3.0
"""Loading and prefill are shown no longer than this: only tokens keep their own time."""
WARM_UP_S = 0.5
PAUSE_S = 0.5
HZ = 10.0
FEWEST_TOKENS = 16
"""Fewer tokens cannot tell whether they were spaced by a machine."""
EVEN_WITHIN_NS = 2
MOST_TOKENS = 20_000
"""As many are made up at most."""


@dataclass(frozen=True, slots=True)
class Cue:
    """What the worker says, and when: seconds since the replay's first message."""

    at_s: float
    report: m.Report


@dataclass(frozen=True, slots=True)
class Replay:
    """One recorded run, ready to be played. `is_even`: its token times were synthesized from its rate."""

    record: Record
    plan: Plan
    stamp: m.Stamp
    cues: tuple[Cue, ...]
    is_even: bool

    @property
    def seconds(self) -> float:
        """How long it plays at speed 1."""
        return self.cues[-1].at_s


def replay_of(record: Record) -> Replay:
    """The replay of a record that holds a rate and bytes per token.

    Raises UsageError for one that does not: a bandwidth probe, a run that was cancelled before its first
    repeat ended, a row without its bandwidth figure.
    """
    missing = why_not(record)
    if missing:
        raise UsageError(
            f"The record {record.record_id[:8]} cannot be replayed: it holds {missing}.",
            "`workbench ledger` lists the records; one with a rate can be replayed.",
            code="not_replayable",
        )
    repeats, is_even = _repeats(record)
    plan = plan_of(record)
    if plan.weight_bytes != record.weight_bytes_per_token:
        raise UsageError(
            f"The record {record.record_id[:8]} cannot be replayed: its bytes do not add up by its rule.",
            "`workbench ledger verify` checks the ledger.",
            code="not_replayable",
        )
    stamp = m.Stamp(
        device=record.device,
        memory_bytes=record.memory_bytes,
        mlx=record.mlx,
        mlx_lm=record.mlx_lm,
        transformers=record.transformers,
    )
    return Replay(record, plan, stamp, tuple(_cues(record, repeats)), is_even)


def why_not(record: Record) -> str:
    """What a record lacks for a replay; empty when it can be played."""
    if record.experiment == "bandwidth" or record.status == "discarding":
        return "no run"
    if plausible_tps(record.generation_tps) is None:
        return "no rate"
    if (record.weight_bytes_per_token or 0) <= 0:
        return "no bytes per token"
    figures = (record.bandwidth_gbps or 0.0, *(ceiling.gbps for ceiling in record.ceilings))
    if max(figures) <= 0:
        return "no bandwidth figure, and so no ceiling to play it against"
    return ""


def _repeats(record: Record) -> tuple[list[list[int]], bool]:
    """Each repeat's token times in ns, and whether they were synthesized."""
    kept = [steps for steps in record.token_times_ns or [] if steps and min(steps) >= 0 and sum(steps) > 0]
    if kept:
        long = [steps for steps in kept if len(steps) >= FEWEST_TOKENS]
        is_even = bool(long) and all(max(steps) - min(steps) <= EVEN_WITHIN_NS for steps in long)
        return [times(steps) for steps in kept], is_even
    tokens = min(MOST_TOKENS, max(2, record.generation_tokens or record.max_tokens or 200))
    rates = [tps for tps in record.repeats_tps if plausible_tps(tps)] or [record.generation_tps or 1.0]
    return [even(tps, tokens) for tps in rates], True


def _cues(record: Record, repeats: Sequence[Sequence[int]]) -> Iterator[Cue]:
    load_s, ttft_s = max(0.0, record.load_s or 1.0), max(0.0, record.ttft_s or PAUSE_S)
    yield Cue(0.0, m.Loading(at_ns=0))
    at_s = min(load_s, LONGEST_WAIT_S)
    yield Cue(at_s, m.Loaded(load_s, record.prompt_sha256 or "", record.prompt_tokens or 0))
    at_s += WARM_UP_S
    yield Cue(at_s, _warmed(record))
    for index, token_times in enumerate(repeats):
        at_s += PAUSE_S if index else 0.0
        yield Cue(at_s, m.RepeatStarted(index=index, of=len(repeats)))
        at_s += min(ttft_s, LONGEST_WAIT_S)
        for point in _progress(index, token_times):
            yield Cue(at_s + point.elapsed_s, point)
        at_s += (token_times[-1] - token_times[0]) / 1e9
        yield Cue(at_s, m.RepeatDone(_repeat(record, index, token_times)))
    yield Cue(at_s, m.Finished())


def _warmed(record: Record) -> m.Warmed:
    """The whole warm-up as one message."""
    thrown = record.warmup_tokens if record.warmup_tokens_actual is None else record.warmup_tokens_actual
    return m.Warmed(passes=record.warmup_passes or 1, tokens=thrown or 0)


def _progress(index: int, token_times: Sequence[int]) -> list[m.Progress]:
    """The live points that the worker would have said."""
    said: list[m.Progress] = []

    def say(report: m.Report) -> None:
        assert isinstance(report, m.Progress)
        said.append(report)

    live, seen = Live(say, index, HZ), list[int]()
    for token_time in token_times:
        seen.append(token_time)
        live.seen(seen, "")
    return said


def _repeat(record: Record, index: int, token_times: Sequence[int]) -> m.Repeat:
    return m.Repeat(
        index=index,
        ttft_s=record.ttft_s or 0.0,
        prompt_tps=record.prompt_tps or 0.0,
        token_times_ns=list(token_times),
        peak_memory_gb=record.peak_memory_gb or 0.0,
    )
