"""A run told on stderr: a line for each phase, and on a terminal the live rate."""

import sys
from collections.abc import Sequence

from workbench.cli import console
from workbench.ledger.words import gb, gbps, rate
from workbench.prediction.ceiling import ceiling_tps
from workbench.protocol.plan import Plan, expected_seconds
from workbench.protocol.run import Phase, Run


class Narrator:
    """Called with every new state of a run, says what is new in it."""

    def __init__(self, plan: Plan, predictions: Sequence[tuple[str, float]]) -> None:
        self._plan = plan
        self._predictions = predictions
        self._phase: Phase | None = None
        self._notices = 0
        self._live = sys.stderr.isatty()

    def __call__(self, run: Run) -> None:
        """Say what is new in `run`."""
        for notice in run.notices[self._notices :]:
            self._end_line()
            console.say(f"note: {notice}")
        self._notices = len(run.notices)
        if run.phase is not self._phase:
            self._phase = run.phase
            self._end_line()
            if run.phase is Phase.LOCKED:
                _say_lock(self._plan, self._predictions)
            elif run.phase is Phase.PREFILL:
                console.say(f"measure: repeat {(run.repeat_index or 0) + 1} of {self._plan.settings.repeats}")
            elif words := _WORDS.get(run.phase):
                console.say(words)
        if self._live and run.now is not None and run.now.tps_mean is not None:
            index = (run.repeat_index or 0) + 1
            sys.stderr.write(
                f"\r  repeat {index}: {run.now.tokens} tokens, {rate(run.now.tps_mean)} tok/s\x1b[K"
            )
            sys.stderr.flush()

    def _end_line(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")


_WORDS = {
    Phase.STARTING: "stamp: starting the worker",
    Phase.LOADING: "loading the model",
    Phase.WARMING: "warm up: these tokens are thrown away",
    Phase.IDLE: "energy: idle with the model loaded",
    Phase.ENERGY: "energy: decoding for the window",
}


def _say_lock(plan: Plan, predictions: Sequence[tuple[str, float]]) -> None:
    numbers = (f"{name} {rate(tps)} tok/s".strip() for name, tps in predictions)
    console.say(f"predict: {', '.join(numbers)}")
    console.say(f"  a token reads {gb(plan.weight_bytes)} by the rule {plan.rule}")
    for figure in plan.bandwidths:
        ceiling = ceiling_tps(figure.gbps, plan.weight_bytes)
        console.say(
            f"  ceiling {rate(ceiling)} tok/s at {gbps(figure.gbps)} ({figure.kind}: {figure.source})"
        )
    seconds = expected_seconds(plan, predictions[0][1])
    console.say(f"  expect about {seconds:.0f} s of decoding by your number")
