"""A run told on stderr: a line for each phase, and on a terminal the live rate."""

from workbench.cli import console
from workbench.ledger.words import gb, rate
from workbench.prediction.ceiling import ceiling_tps
from workbench.protocol.plan import Plan, expected_seconds
from workbench.protocol.run import Phase, Run


class Narrator:
    """Called with every new state of a run, says what is new in it."""

    def __init__(self) -> None:
        self._phase: Phase | None = None
        self._notices: tuple[str, ...] = ()
        self._lock_count = 0
        self._is_over = False

    def __call__(self, run: Run) -> None:
        """Say what is new in `run`."""
        for notice in run.notices[len(self._notices) :]:
            self._say(*console.wrapped(notice, "note: ", "  "))
        self._notices = run.notices
        if len(run.locks) > self._lock_count:
            self._lock_count = len(run.locks)
            self._say(*_locked(run))
        if run.phase is not self._phase:
            self._phase = run.phase
            self._say(*_phase(run))
        if run.now is not None and run.now.tps_mean is not None and not run.plan.settings.blind:
            self._is_over = True
            console.say_over(f"  {run.now.tokens} tokens, {rate(run.now.tps_mean)} tok/s")

    def _say(self, *lines: str) -> None:
        if lines and self._is_over:
            console.say_over()
            self._is_over = False
        for line in lines:
            console.say(line)


def _phase(run: Run) -> list[str]:
    if run.phase is Phase.PREDICTING and run.stamp is not None:
        stamp = run.stamp
        return [f"stamp: {stamp.device}, mlx {stamp.mlx} ({stamp.backend}), mlx-lm {stamp.mlx_lm}"]
    if run.phase is Phase.PREFILL:
        return [f"measure: repeat {(run.repeat_index or 0) + 1} of {run.plan.settings.repeats}"]
    if run.phase is Phase.LOADING:
        return [f"load: {run.plan.checkpoint.name}"]
    return [_WORDS[run.phase]] if run.phase in _WORDS else []


_WORDS = {
    Phase.WARMING: "warm up: these tokens are thrown away",
    Phase.IDLE: "energy: idle, with the model loaded",
    Phase.ENERGY: "energy: decoding for the window",
}


def _locked(run: Run) -> list[str]:
    plan = run.plan
    alone = len(run.predictions) == 1
    numbers = (f"{'' if alone else f'{said.name} '}{rate(said.tps)} tok/s" for said in run.predictions)
    lines = console.wrapped(f"predict: {plan.checkpoint.name}, {', '.join(numbers)}; locked", later="  ")
    lines.append(f"  a token reads {gb(plan.weight_bytes)} by the rule {_rule(plan)}")
    for figure in plan.bandwidths:
        ceiling = rate(ceiling_tps(figure.gbps, plan.weight_bytes))
        lines += console.wrapped(f"ceiling {ceiling} tok/s at {figure.name}: {figure.source}", "  ", "    ")
    seconds = expected_seconds(plan, run.predictions[0].tps)
    lines.append(f"  by your number it decodes for {_duration(seconds)}")
    return lines


def _rule(plan: Plan) -> str:
    """The rule, and what is in force under it where that is not the count itself."""
    if plan.rule != "count":
        return f"{plan.rule}, on purpose"
    return plan.rule if plan.in_force == "count" else f"{plan.rule}, {plan.in_force} in force"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 120 else f"about {seconds / 60:.0f} min"
