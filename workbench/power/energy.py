"""Energy per token: the formula, one row's reading over a window, and the rows checked against each other.

mWh/token = watts / (3.6 x tok/s), with tok/s from the same window; J/token = joules / tokens. The two ways
are independent (the mean of the samples inside; the integral with its edges) and are compared. Net of idle is
an attribution, not a measurement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from workbench.power.claim import WINDOW_INDICATIVE_S, Claim, judge
from workbench.power.clocks import Alignment
from workbench.power.counting import counting_errors
from workbench.power.meter import RowTrace, Trace
from workbench.power.source import Row
from workbench.power.window import Integral, integrate

TWO_WAYS_LIMIT = 0.03
METHODS_LIMIT = 0.05
HARMLESS_THROTTLE = {"sw power cap"}


@dataclass(frozen=True, slots=True)
class Window:
    """Steady decode from `start_ns` to `end_ns` on the meter's clock, and the tokens that fell into it."""

    start_ns: int
    end_ns: int
    tokens: int | None = None

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end_ns - self.start_ns) / 1e9


@dataclass(frozen=True, slots=True)
class EnergyReading:
    """Energy by one source over one window, with what the source covers and what the claim is worth.

    Field for field what the ledger's record keeps. `source` is the row's key, for a source may have several
    rows. `mean_w` and `mwh_per_token_*` come from the samples inside the window, `energy_*_j` and
    `j_per_token_gross` from the integral. `rails_j` may hold a rail that includes others (`package`): add
    none up, the energy is that of the scope. None = not measured.
    """

    source: str
    scope: str
    source_version: str | None = None
    is_estimate: bool = True
    rails_j: dict[str, float] = field(default_factory=dict)
    rails_missing: list[str] = field(default_factory=list)
    window_s: float | None = None
    window_tokens: int | None = None
    samples: int | None = None
    interval_s_actual: float | None = None
    edge_uncertainty: float | None = None
    mean_w: float | None = None
    idle_w: float | None = None
    energy_gross_j: float | None = None
    energy_net_j: float | None = None
    mwh_per_token_gross: float | None = None
    mwh_per_token_net: float | None = None
    j_per_token_gross: float | None = None
    tps_in_window: float | None = None
    method: str | None = None
    claim: str = "none"
    claim_reasons: list[str] = field(default_factory=list)


def mwh_per_token(power_w: float, tps: float) -> float:
    """Milliwatt-hours per token: W / (3.6 x tok/s). 100 W at 32.6 tok/s are 0.852 mWh, 3.07 J."""
    return power_w / (3.6 * tps)


def window_of(
    token_times_ns: Sequence[int], run_in: int, run_out: int, alignment: Alignment | None = None
) -> Window:
    """The window from token `run_in` to `run_out` before the last; ValueError when nothing is left.

    Its tokens are those that came after its start, up to and with its end.
    """
    alignment = alignment or Alignment()
    first, last = run_in, len(token_times_ns) - 1 - run_out
    if run_in < 0 or run_out < 0 or last <= first:
        raise ValueError(f"{len(token_times_ns)} tokens leave no window between {run_in} and {run_out}")
    start_ns, end_ns = alignment.ours(token_times_ns[first]), alignment.ours(token_times_ns[last])
    return Window(start_ns, end_ns, last - first)


def read_energy(
    trace: Trace,
    window: Window,
    idle: Window | None = None,
    alignment: Alignment | None = None,
    *,
    under_load: bool = True,
    doubts: Sequence[str] = (),
) -> tuple[EnergyReading, ...]:
    """Every row's reading over `window`, in the trace's order, checked against each other.

    `idle` is a window with the model loaded and nothing running; `alignment` how the window's clock was put
    on the meter's. `under_load` says that something ran: then a rail at exactly 0 is stalled. `doubts` are
    conditions that spoil every row: none of them can claim more than an indication. A row that cannot say
    anything says why.
    """
    uncertainty_s = (alignment or Alignment()).uncertainty_ns / 1e9
    readings = [
        _reading(row, window, idle, uncertainty_s=uncertainty_s, under_load=under_load, spoiled=doubts)
        for row in trace.rows
    ]
    return _checked([row.row for row in trace.rows], readings)


def _reading(
    trace: RowTrace,
    window: Window,
    idle: Window | None,
    *,
    uncertainty_s: float,
    under_load: bool,
    spoiled: Sequence[str],
) -> EnergyReading:
    row = trace.row
    integral = _over(trace, window)
    parts = [rail for rail in row.parts if rail in integral.rails_j]
    zero = [rail for rail in parts if rail in row.watched and integral.rails_j[rail] == 0]
    stalled = zero if under_load else []
    kept = {rail: joules for rail, joules in integral.rails_j.items() if rail not in stalled}
    blank = EnergyReading(
        source=row.key,
        scope=row.scope([rail for rail in trace.rails if rail not in stalled]),
        source_version=row.version,
        is_estimate=row.is_estimate,
        rails_missing=_missing(row, kept, stalled, integral.partial),
        window_s=window.seconds,
        window_tokens=window.tokens,
        samples=integral.inside,
        method=None if row.is_typed else str(row.method),
    )
    counted = [rail for rail in parts if rail not in stalled]
    refused = integral.refused or (None if counted else _nothing(stalled))
    if refused is not None:
        reasons = [refused] + ([trace.ended] if trace.ended else [])
        return replace(blank, claim_reasons=reasons)
    gross_j = sum(kept[rail] for rail in counted)
    edge_uncertainty = (integral.edge_s + uncertainty_s) / window.seconds
    idle_w = _idle_w(trace, idle, counted)
    reading = replace(
        blank,
        rails_j=kept,
        interval_s_actual=integral.interval_s,
        edge_uncertainty=edge_uncertainty,
        mean_w=integral.mean_w,
        idle_w=idle_w,
        energy_gross_j=gross_j,
        energy_net_j=None if idle_w is None else gross_j - idle_w * window.seconds,
    )
    reading = _per_token(reading)
    doubts = [*spoiled, *_slowed(trace, window)]
    if row.is_typed:
        return replace(reading, claim=str(Claim.INDICATIVE), claim_reasons=["one typed figure", *doubts])
    faults = [f"the {rail} rail reads exactly 0 under load: stalled, not 0 W" for rail in stalled]
    doubts += [f"the {rail} rail reads exactly 0: idle, or stalled" for rail in zero if rail not in stalled]
    doubts += [f"the {rail} rail is missing from some samples" for rail in integral.partial]
    doubts += _two_ways(reading)
    claim, reasons = judge(window.seconds, integral.inside, edge_uncertainty, faults, doubts)
    return replace(reading, claim=str(claim), claim_reasons=reasons)


def _over(trace: RowTrace, window: Window) -> Integral:
    if trace.row.is_typed and trace.samples and window.end_ns > window.start_ns:
        watts = trace.samples[-1].rails_w
        return Integral(
            rails_j={rail: w * window.seconds for rail, w in watts.items()},
            mean_w=sum(watts.values()),
            inside=1,
        )
    return integrate(trace.row, trace.samples, window.start_ns, window.end_ns)


def _per_token(reading: EnergyReading) -> EnergyReading:
    tokens, seconds = reading.window_tokens, reading.window_s
    if not tokens or not seconds or reading.mean_w is None or reading.energy_gross_j is None:
        return reading
    tps = tokens / seconds
    net_w = None if reading.idle_w is None else reading.mean_w - reading.idle_w
    return replace(
        reading,
        tps_in_window=tps,
        mwh_per_token_gross=mwh_per_token(reading.mean_w, tps),
        mwh_per_token_net=None if net_w is None else mwh_per_token(net_w, tps),
        j_per_token_gross=reading.energy_gross_j / tokens,
    )


def _idle_w(trace: RowTrace, idle: Window | None, parts: list[str]) -> float | None:
    """Mean watts of the idle window over the same rails; None when that was not measured.

    Idling is steady: a source that took a moment to start is judged by the rest, two seconds at least.
    """
    if idle is None or trace.row.is_typed or not trace.samples:
        return None
    idle = replace(idle, start_ns=max(idle.start_ns, trace.samples[0].at_ns))
    if idle.seconds < WINDOW_INDICATIVE_S:
        return None
    integral = integrate(trace.row, trace.samples, idle.start_ns, idle.end_ns)
    if integral.refused is not None or any(rail not in integral.rails_j for rail in parts):
        return None
    return sum(integral.rails_j[rail] for rail in parts) / idle.seconds


def _two_ways(reading: EnergyReading) -> list[str]:
    if reading.mean_w is None or not reading.energy_gross_j or not reading.window_s:
        return []
    apart = reading.mean_w * reading.window_s / reading.energy_gross_j - 1
    if abs(apart) <= TWO_WAYS_LIMIT:
        return []
    return [f"watts / (3.6 x tok/s) and joules / tokens differ by {abs(apart) * 100:.0f} % (limit 3 %)"]


def _slowed(trace: RowTrace, window: Window) -> list[str]:
    inside = [sample for sample in trace.samples if window.start_ns <= sample.at_ns <= window.end_ns]
    thermal = {sample.thermal for sample in inside if sample.thermal not in {None, "Nominal"}}
    throttle = {reason for sample in inside for reason in sample.throttle} - HARMLESS_THROTTLE
    reasons = [f"thermal pressure {level}" for level in sorted(str(level) for level in thermal)]
    return reasons + [f"throttled: {reason}" for reason in sorted(throttle)]


def _missing(row: Row, kept: dict[str, float], stalled: list[str], partial: tuple[str, ...]) -> list[str]:
    words = {rail: f"{rail} (stalled at 0)" for rail in stalled}
    words |= {rail: f"{rail} (in some samples only)" for rail in partial}
    return [words.get(rail, rail) for rail in row.missing(kept)]


def _nothing(stalled: list[str]) -> str:
    return (
        f"every rail reads exactly 0 under load: {', '.join(stalled)} stalled"
        if stalled
        else "no rail has figures"
    )


def _checked(rows: list[Row], readings: list[EnergyReading]) -> tuple[EnergyReading, ...]:
    """Rails above the whole machine are a counting error; two methods of one source must agree."""
    checked = list(readings)
    watts = [None if r.energy_gross_j is None else _watts(r) for r in readings]
    for index, reason in counting_errors(rows, watts).items():
        checked[index] = _lowered(checked[index], Claim.NONE, reason)
    known = [i for i, reading in enumerate(readings) if reading.energy_gross_j is not None]
    for one in known:
        for other in known:
            same = rows[one].source == rows[other].source and rows[one].area == rows[other].area
            if one < other and same and rows[one].method is not rows[other].method:
                apart = _watts(readings[other]) / _watts(readings[one]) - 1 if _watts(readings[one]) else 0.0
                if abs(apart) > METHODS_LIMIT:
                    both = f"{rows[one].key} and {rows[other].key}"
                    reason = f"{both} differ by {abs(apart) * 100:.0f} % (limit 5 %)"
                    for index in (one, other):
                        checked[index] = _lowered(checked[index], Claim.INDICATIVE, reason)
    return tuple(checked)


def _lowered(reading: EnergyReading, most: Claim, reason: str) -> EnergyReading:
    """The reading with a claim of at most `most`, the reason first."""
    claim = str(most) if most is Claim.NONE or reading.claim == Claim.VALID else reading.claim
    return replace(reading, claim=claim, claim_reasons=[reason, *reading.claim_reasons])


def _watts(reading: EnergyReading) -> float:
    return (reading.energy_gross_j or 0.0) / (reading.window_s or 1.0)
