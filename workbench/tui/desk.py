"""What lies on the user's desk: the chosen checkpoint, its count, the bandwidth figure, the run. Pure.

The screens hold one frozen Desk and paint it. Whether a run may start, and what may be seen before a
prediction is locked, is decided here and nowhere else in the screens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench.accounting.count import Count
from workbench.accounting.ruling import weight_bytes_by_rule
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.errors import CheckpointError, WorkbenchError
from workbench.ledger.record import Record
from workbench.ledger.status import COMPLETE
from workbench.prediction.ceiling import BandwidthFigure
from workbench.protocol.plan import Plan, RunSettings, require_runnable
from workbench.protocol.run import Phase, Run, Step
from workbench.tui.options import Options
from workbench.tui.seal import Looked

if TYPE_CHECKING:
    from workbench.analysis.reference import Beside
    from workbench.tui.energy_wish import EnergyWish

StepState = Literal["done", "now", "todo", "failed"]
RUNNING = frozenset(
    {
        Phase.LOADING,
        Phase.WARMING,
        Phase.PREFILL,
        Phase.DECODING,
        Phase.COOLING,
        Phase.IDLE,
        Phase.ENERGY,
    }
)


@dataclass(frozen=True, slots=True)
class Desk:
    """One checkpoint being worked on. `busy` says in words what is being waited for, if anything is.

    `looked` is what the decode graph said, None until it has; `said` a prediction that waits for it: a number
    is locked for bytes that no longer change. `probing` says how far a probe is, if one goes on.
    `energy` is the energy pass that was asked for; `beside` are other runs' rows, there once this one has its
    record.
    """

    name: str = ""
    path: Path | None = None
    busy: str = ""
    checkpoint: Checkpoint | None = None
    count: Count | None = None
    problem: WorkbenchError | None = None
    looked: Looked | None = None
    said: str = ""
    probing: str = ""
    energy: EnergyWish | None = None
    figures: tuple[BandwidthFigure, ...] = ()
    rule: str = "count"
    plan: Plan | None = None
    run: Run | None = None
    beside: tuple[Beside, ...] = ()
    measuring: bool = False
    show_text: bool = False

    @property
    def locked(self) -> bool:
        """Whether a prediction is locked: only then do ceilings and fractions exist for the screens."""
        return self.run is not None and self.run.locked

    @property
    def looking(self) -> bool:
        """Whether the decode graph is still being looked at."""
        return self.count is not None and self.looked is None

    @property
    def running(self) -> bool:
        """Whether a measurement is going on."""
        return self.measuring or (self.run is not None and self.run.phase in RUNNING)

    @property
    def record(self) -> Record | None:
        """The record that the run left, None before its end."""
        return self.run.record if self.run is not None else None

    @property
    def synthetic(self) -> bool:
        """Whether the checkpoint's weights are synthetic: said wherever its figures are shown."""
        return self.checkpoint is not None and bool(self.checkpoint.config.get("synthetic_weights"))

    @property
    def weight_bytes(self) -> int | None:
        """Weight bytes per token by the rule in force; None where no honest figure exists."""
        if self.plan is not None:
            return self.plan.weight_bytes
        if self.checkpoint is None or self.count is None or self.count.refusal is not None:
            return None
        return weight_bytes_by_rule(self.rule, self.checkpoint, self.count)


def cannot_run(desk: Desk) -> str:
    """Why this checkpoint can never be run as it is; empty when it can."""
    if desk.problem is not None:
        return desk.problem.message
    if desk.checkpoint is None or desk.count is None:
        return ""
    try:
        require_runnable(desk.plan or Plan(desk.checkpoint, desk.count, rule=desk.rule))
    except CheckpointError as error:
        return error.words
    return ""


def plan_of(desk: Desk, options: Options) -> Plan | None:
    """The plan of what is on the desk; None where there is nothing that could be run."""
    if desk.checkpoint is None or desk.count is None or cannot_run(replace(desk, plan=None)):
        return None
    wishes, energy = options.settings, desk.energy
    settings = RunSettings(
        prompt_tokens=wishes.prompt_tokens,
        max_tokens=wishes.tokens,
        repeats=wishes.repeats,
        cooldown_s=wishes.cooldown_s,
        text=desk.show_text,
        ui_hz=options.paint_hz,
        blind=options.blind,
        idle_s=energy.idle_s if energy is not None else 0.0,
        energy_min_s=energy.window_s if energy is not None else 0.0,
    )
    return Plan(
        desk.checkpoint,
        desk.count,
        bandwidths=desk.figures,
        rule=desk.rule,
        settings=settings,
        experiment="demo" if options.demo else "energy" if energy is not None else "single",
        alias=wishes.alias,
        command=options.command,
        **_witness(desk.looked),
    )


def _witness(looked: Looked | None) -> dict[str, Any]:
    if looked is None:
        return {}
    from workbench.protocol.witnessing import as_recorded  # the first screen does not owe it

    return {
        "graph_bytes": looked.agreement.bytes_in_force,
        "witness": as_recorded(looked.agreement),
    }


def run_is_off(desk: Desk) -> str:
    """Why the run key does nothing now, in words that say what to do; empty when it starts a run."""
    if desk.checkpoint is None and desk.problem is None:
        return f"{desk.busy}" if desk.busy else "choose a checkpoint first (1, then enter)"
    off = cannot_run(desk)
    if off:
        return off
    if desk.count is None:
        return "the bytes are being counted"
    if desk.running:
        return "a run is going (s stops it)"
    if desk.probing:
        return "the memory bandwidth is being probed (s stops it)"
    if desk.record is not None:
        return "this prediction is spent: start over (a)"
    if not desk.figures:
        return "no bandwidth figure: say one (b) or probe this machine (p)"
    if desk.said:
        return f"{desk.said} waits for the decode graph (s: do without it)"
    if not desk.locked:
        return "no prediction is locked: say your number (n), enter locks it"
    return ""


def step_states(desk: Desk) -> list[StepState]:
    """How far the protocol is: one state for each of the six steps, in their order."""
    order = list(Step)
    at, failed = _step(desk), _failed(desk)
    states: list[StepState] = []
    for step in order:
        if order.index(step) < order.index(at):
            states.append("done")
        elif step is at:
            states.append("failed" if failed else "now")
        else:
            states.append("todo")
    if desk.record is not None and not failed:
        return ["done"] * len(order)
    return states


def _step(desk: Desk) -> Step:
    if desk.run is not None and desk.run.phase is not Phase.STARTING:
        step = desk.run.step
        if step is Step.RECORD and _failed(desk):
            return Step.WARM_UP if desk.run.loaded is None else Step.MEASURE
        return step
    return Step.STAMP if desk.checkpoint is None else Step.COUNT if desk.count is None else Step.PREDICT


def _failed(desk: Desk) -> bool:
    if desk.problem is not None:
        return True
    record = desk.record
    return record is not None and record.status not in COMPLETE
