"""The run as it stands: one frozen state, folded from the worker's reports. Doors only paint it.

Pure: no clock, no process, no file. Nothing here is a measurement but the repeats that the worker sent whole.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from workbench.analysis.rates import plausible_tps
from workbench.ledger.parts import LockedPrediction, NamedPrediction
from workbench.ledger.record import Record
from workbench.protocol.plan import Plan, RunSettings
from workbench.worker import messages as m

PLOT_POINTS = 600
"""Live points kept for the plot; older ones fall out."""
TEXT_CHARS = 4000
"""Characters kept of the generated text."""


class Phase(StrEnum):
    """Where in the run we are."""

    STARTING = "starting"  # the worker imports its libraries
    PREDICTING = "predicting"  # stamped and counted; nobody has locked a number
    LOCKED = "locked"
    LOADING = "loading"
    WARMING = "warming up"
    PREFILL = "prefill"
    DECODING = "decoding"
    COOLING = "between repeats"
    IDLE = "idle"
    ENERGY = "energy pass"
    ENDED = "ended"


class Step(StrEnum):
    """The six steps of the protocol, as the source documents name them."""

    STAMP = "stamp"
    COUNT = "count"
    PREDICT = "predict"
    WARM_UP = "warm up"
    MEASURE = "measure"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Point:
    """One live point: tokens and seconds since the first token of repeat `index`, rates in tok/s."""

    index: int
    tokens: int
    elapsed_s: float
    tps_now: float | None
    tps_mean: float | None


@dataclass(frozen=True, slots=True)
class Run:
    """One run group's whole state. `now` is the running repeat's last live point, None in its prefill."""

    plan: Plan
    phase: Phase = Phase.STARTING
    stamp: m.Stamp | None = None
    worker_pid: int | None = None
    predictions: tuple[NamedPrediction, ...] = ()
    locks: tuple[LockedPrediction, ...] = ()
    loading_at_ns: int | None = None
    loaded: m.Loaded | None = None
    warmed: tuple[m.Warmed, ...] = ()
    repeat_index: int | None = None
    now: Point | None = None
    points: tuple[Point, ...] = ()
    text: str = ""
    repeats: tuple[m.Repeat, ...] = ()
    idle: m.Idle | None = None
    energy: m.EnergyWindow | None = None
    finished: bool = False
    failure: m.Failed | None = None
    notices: tuple[str, ...] = ()
    record: Record | None = None

    @property
    def step(self) -> Step:
        """The protocol's step that is going on. The count is done before a plan exists."""
        return _STEP_OF[self.phase]

    @property
    def locked(self) -> bool:
        """Whether a prediction is on disk."""
        return bool(self.locks)

    @property
    def load_begun(self) -> bool:
        """Whether the model has begun to load: from then on no lock may change."""
        return self.loading_at_ns is not None


def fold(run: Run, report: m.Report) -> Run:
    """The run after one report of its worker. Reports of other jobs change nothing."""
    match report:
        case m.Ready():
            phase = Phase.LOCKED if run.locks else Phase.PREDICTING
            return replace(run, phase=phase, stamp=report.stamp, worker_pid=report.pid)
        case m.Loading():
            return replace(run, phase=Phase.LOADING, loading_at_ns=report.at_ns)
        case m.Loaded():
            return replace(run, phase=Phase.WARMING, loaded=report)
        case m.Warmed():
            return replace(run, phase=Phase.WARMING, warmed=(*run.warmed, report))
        case m.RepeatStarted():
            return replace(run, phase=Phase.PREFILL, repeat_index=report.index, now=None, text="")
        case m.Progress():
            return _progressed(run, report)
        case m.RepeatDone():
            phase = _after_repeat(run.plan.settings, report.repeat.index)
            return replace(run, phase=phase, repeats=(*run.repeats, report.repeat), now=None)
        case m.Idle():
            return replace(run, phase=Phase.ENERGY, idle=report)
        case m.EnergyWindow():
            return replace(run, phase=Phase.COOLING, energy=report)
        case m.Finished():
            return replace(run, finished=True, now=None)
        case m.Failed():
            return replace(run, failure=report)
        case _:
            return run


def _progressed(run: Run, report: m.Progress) -> Run:
    point = Point(
        index=report.index,
        tokens=report.tokens,
        elapsed_s=report.elapsed_s,
        tps_now=plausible_tps(report.tps_now) if report.tokens > 1 else None,
        tps_mean=plausible_tps(report.tps_mean) if report.tokens > 1 else None,
    )
    points = run.points if point.tps_now is None else (*run.points, point)[-PLOT_POINTS:]
    text = (run.text + report.text)[-TEXT_CHARS:]
    # The energy pass counts as one repeat more than were asked for.
    in_energy_pass = report.index >= run.plan.settings.repeats
    phase = Phase.ENERGY if in_energy_pass else Phase.DECODING
    return replace(run, phase=phase, now=point, points=points, text=text)


def _after_repeat(settings: RunSettings, index: int) -> Phase:
    if settings.energy_min_s <= 0 or index + 1 < settings.repeats:
        return Phase.COOLING
    return Phase.IDLE if settings.idle_s > 0 else Phase.ENERGY


_STEP_OF = {
    Phase.STARTING: Step.STAMP,
    Phase.PREDICTING: Step.PREDICT,
    Phase.LOCKED: Step.PREDICT,
    Phase.LOADING: Step.WARM_UP,
    Phase.WARMING: Step.WARM_UP,
    Phase.PREFILL: Step.MEASURE,
    Phase.DECODING: Step.MEASURE,
    Phase.COOLING: Step.MEASURE,
    Phase.IDLE: Step.MEASURE,
    Phase.ENERGY: Step.MEASURE,
    Phase.ENDED: Step.RECORD,
}
