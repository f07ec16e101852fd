"""Power for the screens' tests: rows of a live pane in each state, and a run with an energy pass."""

import time

from tests.power.made import T0, S, every, row, steady, trace
from tests.protocol.stage import Hang, repeat, story
from workbench.power.live import live
from workbench.power.meter import RowTrace, Trace
from workbench.power.source import Method
from workbench.worker import messages as m

SOC = {"cpu": 4.0, "gpu": 96.0, "ane": 0.0}
TPS = 32.6


def soc(samples, **changes):
    """The SoC's rails as powermetrics gives them."""
    return row(key="powermetrics", **changes), samples


def wave(count, watts=100.0, start_ns=T0):
    """A quarter of a second each, a little up and down."""
    samples = []
    for i in range(count):
        swing = 1 + ((i * 7) % 11 - 5) / 60
        rails = {"cpu": 0.04 * watts * swing, "gpu": 0.96 * watts * swing, "ane": 0.0}
        samples += every(S // 4, 1, rails, start_ns + i * S // 4)
    return samples


def state(name):
    """The live rows in this state."""
    whole = row(Method.TRAPEZOID, key="macmon", parts=("system",), watched=("system",), whole_machine=True)
    idle = wave(20, 10.0)
    busy = idle + wave(60, start_ns=T0 + 5 * S)
    match name:
        case "waiting":
            return live(trace(soc([])), T0 + S)
        case "indicative":
            return live(trace(soc(busy[:34])), T0 + 8 * S, since_ns=T0 + 5 * S, tps=TPS, expected_s=6.0)
        case "valid":
            beside = whole, steady(S // 2, 40, {"system": 131.0}, T0)
            return live(trace(soc(busy), beside), T0 + 20 * S, since_ns=T0 + 5 * S, tps=TPS)
        case "stalled":
            dead = every(S // 4, 40, {"cpu": 4.0, "gpu": 0.0, "ane": 0.0}, T0)
            return live(trace(soc(dead)), T0 + 10 * S, since_ns=T0 + S, tps=TPS)
        case "error":
            beside = whole, steady(S // 2, 40, {"system": 52.0}, T0)
            return live(trace(soc(busy), beside), T0 + 20 * S, since_ns=T0 + 5 * S, tps=TPS)
        case "ended":
            why = "powermetrics ended with exit status 1: it must be invoked as the superuser"
            return live(Trace((RowTrace(row(key="powermetrics"), (), why),)), T0 + S)
    raise KeyError(name)


STATES = ("waiting", "indicative", "valid", "stalled", "error", "ended")


def energetic_run(*, tps=100.0, seconds=30, halts=False):
    """A run of two repeats with an energy pass; with `halts` it stands still in the pass."""
    begun = time.perf_counter_ns()
    pairs = [(begun, time.time_ns())]
    times = [begun + round(i * 1e9 / tps) for i in range(round(tps * seconds))]
    done = story(repeat(0), repeat(1))[:-1]
    for tokens in (20, 400):
        done.append(m.Progress(index=2, tokens=tokens, elapsed_s=tokens / tps, tps_now=tps, tps_mean=tps))
    if halts:
        return [*done, Hang()]
    window = m.EnergyWindow(times, pairs, run_in_tokens=300, run_out_tokens=300)
    return [*done, window, m.Finished()]
