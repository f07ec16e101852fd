"""What the power sources here read over some seconds: the content of `workbench power`, without a screen."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from workbench.power.choice import Choice, LookedFor, look
from workbench.power.energy import EnergyReading, Window, read_energy
from workbench.power.meter import Meter, RowTrace, Trace
from workbench.power.source import Row

FIRST_SAMPLE_TIMEOUT_S = 5.0
LAST_SAMPLE_MARGIN_S = 0.5
LAST_SAMPLE_TIMEOUT_S = 4.0


@dataclass(frozen=True, slots=True)
class RowReport:
    """One row: what it covers, what it read (watts; None where it read nothing), and what it could claim.

    `reading.claim` judges the mean power of these seconds as it would an energy window; `window_needed_s` is
    None for typed watts, which no window makes a valid claim.
    """

    key: str
    source: str
    scope: str
    method: str
    is_estimate: bool
    needs_root: bool
    whole_machine: bool
    version: str | None
    published_every_s: float | None
    window_needed_s: float | None
    samples: int
    mean_w: float | None
    min_w: float | None
    max_w: float | None
    rails_w: dict[str, float]
    rails_missing: list[str]
    trouble: str | None
    notes: tuple[str, ...]
    reading: EnergyReading


@dataclass(frozen=True, slots=True)
class PowerReport:
    """What can be measured here, what it read, and for everything that cannot: why."""

    seconds: float
    rows: tuple[RowReport, ...]
    looked_for: tuple[LookedFor, ...]
    unavailable_reason: str | None


def measure_for(
    seconds: float,
    choice: Choice | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,
    on_trace: Callable[[Trace], None] | None = None,
) -> PowerReport:
    """Read every source for `seconds` and report. No source at all is a report too, not an error.

    `sleep` is called in steps of at most half a second, `on_trace` after each with what there is so far.
    """
    choice = look() if choice is None else choice
    if not choice.sources:
        return PowerReport(seconds, (), choice.looked_for, choice.unavailable_reason)
    meter = Meter(choice.sources, limit_s=seconds + 60)
    with meter:
        meter.wait_for(time.perf_counter_ns(), FIRST_SAMPLE_TIMEOUT_S)
        start_ns = time.perf_counter_ns()
        end_ns = start_ns + round(seconds * 1e9)
        while (left_s := (end_ns - time.perf_counter_ns()) / 1e9) > 0:
            sleep(min(0.5, left_s))
            if on_trace is not None:
                on_trace(meter.trace())
        meter.wait_for(end_ns + round(LAST_SAMPLE_MARGIN_S * 1e9), LAST_SAMPLE_TIMEOUT_S)
        trace = meter.stop()
    return report_of(trace, Window(start_ns, end_ns), choice)


def report_of(trace: Trace, window: Window, choice: Choice) -> PowerReport:
    """The report of what `trace` holds over `window`. Nothing need have run: a rail at 0 may be idle."""
    readings = read_energy(trace, window, under_load=False)
    rows = tuple(_row(row, window, reading) for row, reading in zip(trace.rows, readings, strict=True))
    return PowerReport(window.seconds, rows, choice.looked_for, choice.unavailable_reason)


def _row(trace: RowTrace, window: Window, reading: EnergyReading) -> RowReport:
    row = trace.row
    inside = [s for s in trace.samples if row.is_typed or window.start_ns <= s.at_ns <= window.end_ns]
    watts = [sum(w for rail, w in sample.rails_w.items() if rail in row.parts) for sample in inside]
    return RowReport(
        key=row.key,
        source=row.source,
        scope=reading.scope,
        method="typed" if row.is_typed else str(row.method),
        is_estimate=row.is_estimate,
        needs_root=row.needs_root,
        whole_machine=row.whole_machine,
        version=row.version,
        published_every_s=None if row.is_typed else row.cadence_s,
        window_needed_s=_finite(row),
        samples=len(inside),
        mean_w=reading.mean_w,
        min_w=min(watts, default=None),
        max_w=max(watts, default=None),
        rails_w={rail: joules / window.seconds for rail, joules in reading.rails_j.items()},
        rails_missing=reading.rails_missing,
        trouble=trace.ended,
        notes=row.notes,
        reading=reading,
    )


def _finite(row: Row) -> float | None:
    return None if row.is_typed else row.window_needed_s
