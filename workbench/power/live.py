"""What the power pane shows during a run: one summary a row, from the trace so far. Pure; paints nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from workbench.power.claim import SAMPLES_VALID, WINDOW_INDICATIVE_S, other_rate
from workbench.power.counting import COUNTING_ERROR, counting_errors
from workbench.power.energy import mwh_per_token
from workbench.power.meter import RowTrace, Trace
from workbench.power.source import Method, Row, Sample

HISTORY = 60
STALLED_AFTER_S = 3.0


class LiveState(StrEnum):
    """What a row is doing, in one word that is shown as such."""

    WAITING = "waiting"
    READING = "reading"
    INDICATIVE = "indicative"
    VALID = "valid"
    STALLED = "stalled"
    ERROR = COUNTING_ERROR
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Live:
    """One row of the pane. Watts, mWh/token and J/token are None until there is something to say.

    `samples`, `mean_w` and what follows from it count from the start of the decode, or from the first sample
    while nothing runs. `outlook` says in words whether a claim will hold; `history_w` feeds a sparkline.
    """

    key: str
    scope: str
    state: LiveState
    outlook: str
    watts_now: float | None = None
    mean_w: float | None = None
    mwh_per_token: float | None = None
    j_per_token: float | None = None
    samples: int = 0
    history_w: tuple[float, ...] = ()


def live(
    trace: Trace,
    now_ns: int,
    *,
    since_ns: int | None = None,
    tps: float | None = None,
    expected_s: float | None = None,
    repeats_tps: float | None = None,
) -> tuple[Live, ...]:
    """The pane's rows at `now_ns`.

    `since_ns` is when the decode began (first token, on the meter's clock), None while nothing runs; `tps`
    its rate so far; `expected_s` how long the decode will take altogether, if anybody knows; `repeats_tps`
    the rate of the repeats before it, which it must be near.
    """
    apart = other_rate(tps, repeats_tps)
    rows = [_near(_row(row, now_ns, since_ns, tps, expected_s), apart) for row in trace.rows]
    errors = counting_errors([row.row for row in trace.rows], [row.mean_w for row in rows])
    return tuple(
        replace(row, state=LiveState.ERROR, outlook=errors[index]) if index in errors else row
        for index, row in enumerate(rows)
    )


def _near(row: Live, apart: str | None) -> Live:
    """The row; a claim that would hold, were the rate that of the repeats, is indicative."""
    if apart is None or row.state is not LiveState.VALID:
        return row
    return replace(row, state=LiveState.INDICATIVE, outlook=f"indicative only: {apart}")


def _row(
    trace: RowTrace, now_ns: int, since_ns: int | None, tps: float | None, expected_s: float | None
) -> Live:
    row = trace.row
    counted = [
        s for s in trace.samples if since_ns is None or row.is_typed or s.at_ns - s.elapsed_ns >= since_ns
    ]
    mean_w = _mean_w(row, counted)
    now_w = _watts(row, trace.samples[-1]) if trace.samples else None
    runs_s = None if since_ns is None else max(0.0, (now_ns - since_ns) / 1e9)
    stalled = _stalled(row, counted) if runs_s is not None and runs_s >= STALLED_AFTER_S else []
    state, outlook = _state(trace, len(counted), stalled, runs_s, expected_s)
    rate = tps if tps and runs_s is not None and not stalled else None
    return Live(
        key=row.key,
        scope=row.scope([rail for rail in trace.rails if rail not in stalled]),
        state=state,
        outlook=outlook,
        watts_now=now_w,
        mean_w=mean_w,
        mwh_per_token=mwh_per_token(mean_w, rate) if mean_w is not None and rate else None,
        j_per_token=mean_w / rate if mean_w is not None and rate else None,
        samples=len(counted),
        history_w=tuple(_watts(row, sample) for sample in trace.samples[-HISTORY:]),
    )


def _state(
    trace: RowTrace, samples: int, stalled: list[str], runs_s: float | None, expected_s: float | None
) -> tuple[LiveState, str]:
    """The state, and the outlook of a claim in words."""
    needed_s = trace.row.window_needed_s
    if trace.ended is not None and (not trace.samples or not trace.row.is_typed):
        return LiveState.ENDED, f"no claim: {trace.ended}"
    if not trace.samples:
        return LiveState.WAITING, "waiting for the first sample"
    if stalled:
        names = " and ".join(stalled)
        return LiveState.STALLED, f"no claim: {names} at exactly 0 under load is stalled, not 0 W"
    if trace.row.is_typed:
        return LiveState.INDICATIVE, "one typed figure: indicative at most"
    if runs_s is None:
        return LiveState.READING, f"a claim needs {needed_s:.0f} s of decode"
    if runs_s >= needed_s and samples >= SAMPLES_VALID:
        return LiveState.VALID, f"a claim holds: {runs_s:.0f} s, {samples} samples"
    state = LiveState.INDICATIVE if runs_s >= WINDOW_INDICATIVE_S and samples > 1 else LiveState.READING
    if expected_s is not None and expected_s < needed_s:
        kind = "indicative only" if expected_s >= WINDOW_INDICATIVE_S else "no claim"
        return state, f"{kind}: about {expected_s:.0f} s expected, a claim needs {needed_s:.0f} s"
    return state, f"a claim in {max(1.0, needed_s - runs_s):.0f} s, if the decode lasts"


def _stalled(row: Row, samples: Sequence[Sample]) -> list[str]:
    """The watched rails that read exactly 0 in every sample, over more than their publishing interval."""
    if len(samples) < 2 or (samples[-1].at_ns - samples[0].at_ns) / 1e9 < max(row.cadence_s, 1.0):
        return []
    return [
        rail
        for rail in row.watched
        if all(rail in sample.rails_w and sample.rails_w[rail] == 0 for sample in samples)
    ]


def _mean_w(row: Row, samples: Sequence[Sample]) -> float | None:
    """Mean watts: counted energy over counted time, or the mean of the samples."""
    if not samples:
        return None
    if row.method is Method.COUNTER:
        elapsed_ns = sum(sample.elapsed_ns for sample in samples)
        return sum(_watts(row, sample) * sample.elapsed_ns for sample in samples) / elapsed_ns
    return sum(_watts(row, sample) for sample in samples) / len(samples)


def _watts(row: Row, sample: Sample) -> float:
    return sum(watts for rail, watts in sample.rails_w.items() if rail in row.parts)
