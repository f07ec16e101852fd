"""The meter around an energy pass: on from its idle window, off after it, read once."""

import asyncio
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.protocol.stage import NO_POWER, plan, repeat
from workbench.ledger.parts import PowerReading
from workbench.machine.nvidia import reason_names
from workbench.power.choice import Choice
from workbench.power.conditions import PowerConditions
from workbench.power.meter import RowTrace, Trace
from workbench.power.nvml import SLOWED
from workbench.power.source import Method, Row, Sample
from workbench.protocol.energy import EnergyPass, with_power_conditions
from workbench.protocol.run import Run, fold
from workbench.worker import messages as m

S = 1_000_000_000
ROW = Row(
    key="gpu", source="nvml", area="GPU board", kind="measured", parts=("gpu",), method=Method.TRAPEZOID,
    cadence_s=0.1, is_estimate=False,
)  # fmt: skip
ENERGETIC = replace(plan().settings, energy_min_s=20.0, idle_s=12.0)
SOURCE = SimpleNamespace(name="nvml", rows=(ROW,))
WORKER_AHEAD_NS = 5 * S
PATIENCE_S = 20.0


class FakeMeter:
    """50 W from second 0 to 30 (idle), 150 W from then on, a sample each tenth of a second."""

    def __init__(self, sources, limit_s):
        self.log = []
        self.limit_s = limit_s

    def start(self):
        self.log.append("start")

    def stop(self):
        self.log.append("stop")
        samples = [Sample(at_ns=i * S // 10, rails_w={"gpu": 50.0 if i < 300 else 150.0}) for i in range(700)]
        return Trace((RowTrace(ROW, tuple(samples)),), ((0, 1000 * S), (70 * S, 1070 * S)))


async def told(energy, run, *reports):
    for report in reports:
        run = fold(run, report)
        await energy.follow(run)
    return run


def whole_pass():
    """Idle from second 17 to 29, then 100 tok/s from second 32 to 58; the worker's clock is 5 s ahead."""
    times = [WORKER_AHEAD_NS + 32 * S + i * S // 100 for i in range(2601)]
    pairs = [(WORKER_AHEAD_NS + at * S, (1000 + at) * S) for at in (32, 58)]
    return (
        repeat(0),
        repeat(1),
        m.Idle(start_ns=WORKER_AHEAD_NS + 17 * S, end_ns=WORKER_AHEAD_NS + 29 * S, clock_pairs=pairs),
        m.Progress(index=2, tokens=9, elapsed_s=0.1, tps_now=100.0, tps_mean=100.0),
        m.EnergyWindow(token_times_ns=times, clock_pairs=pairs, run_in_tokens=300, run_out_tokens=300),
    )


async def test_energy_is_read_over_the_window_on_the_meters_clock():
    energy = EnergyPass(Choice((SOURCE,), ()), make=FakeMeter)
    run = await told(energy, Run(plan(settings=ENERGETIC)), *whole_pass())
    (reading,), reason = energy.readings(run)
    assert reason is None
    assert isinstance(reading, PowerReading)
    assert reading.window_s == pytest.approx(20.0)
    assert reading.window_tokens == 2000
    assert reading.mean_w == pytest.approx(150.0)
    assert reading.idle_w == pytest.approx(50.0)
    assert reading.j_per_token_gross == pytest.approx(1.5)
    assert reading.mwh_per_token_gross == pytest.approx(150 / 360)
    assert reading.claim == "valid"
    assert energy.meter.log == ["start", "stop"]


async def test_the_meter_is_off_during_the_speed_pass():
    energy = EnergyPass(Choice((SOURCE,), ()), make=FakeMeter)
    first, second, *rest = whole_pass()
    run = await told(energy, Run(plan(settings=ENERGETIC)), m.RepeatStarted(index=0, of=2), first)
    assert energy.meter is None
    run = await told(energy, run, second)
    assert energy.meter.log == ["start"]
    await told(energy, run, *rest)
    await energy.stop()
    assert energy.meter.log == ["start", "stop"]
    assert energy.meter.limit_s > ENERGETIC.energy_min_s + ENERGETIC.idle_s


async def test_a_run_that_ended_before_its_pass_says_so_and_leaves_no_meter_on():
    energy = EnergyPass(Choice((SOURCE,), ()), make=FakeMeter)
    run = await told(energy, Run(plan(settings=ENERGETIC)), *whole_pass()[:3])
    await energy.stop()
    assert energy.meter.log == ["start", "stop"]
    assert energy.readings(run) == ([], "The run ended before its energy pass did.")


async def test_a_pass_without_a_window_is_a_reason_and_no_number():
    energy = EnergyPass(Choice((SOURCE,), ()), make=FakeMeter)
    window = m.EnergyWindow(token_times_ns=[1, 2], clock_pairs=[(1, 2)], run_in_tokens=1, run_out_tokens=1)
    run = await told(energy, Run(plan(settings=ENERGETIC)), repeat(0), repeat(1), m.Idle(1, 2), window)
    readings, reason = energy.readings(run)
    assert readings == []
    assert "no window" in reason


async def test_a_pass_that_nobody_asked_for_looks_for_no_source(monkeypatch):
    monkeypatch.setattr("workbench.protocol.energy.look", lambda: pytest.fail("looked for a source"))
    energy = EnergyPass()
    run = await told(energy, Run(plan()), repeat(0), repeat(1))
    assert energy.readings(run) == ([], "No energy pass was asked for.")


def test_a_source_that_is_not_there_is_looked_for_once_and_said(monkeypatch):
    looks = []
    monkeypatch.setattr("workbench.protocol.energy.look", lambda: looks.append(1) or NO_POWER)
    energy = EnergyPass()
    assert not energy.possible
    reason = energy.readings(Run(plan(settings=ENERGETIC)))[1]
    assert reason.startswith("No power source on this machine")
    assert "battery: there is none" in reason
    assert looks == [1]


async def test_the_meter_is_on_while_the_machine_settles_before_its_idle_window():
    settings = replace(plan().settings, energy_min_s=20.0, idle_s=12.0)
    energy = EnergyPass(Choice((SOURCE,), ()), make=FakeMeter)
    first, second, idle, *_ = whole_pass()
    run = await told(energy, Run(plan(settings=settings)), first, second)
    assert energy.meter.log == ["start"]
    assert run.idle is None
    assert plan(settings=settings).decode_request.settle_s == 6.0
    assert (await told(energy, run, idle)).idle is not None


async def test_conditions_that_spoil_the_run_leave_no_valid_claim():
    energy = EnergyPass(Choice((SOURCE,), ()), make=FakeMeter)
    run = await told(energy, Run(plan(settings=ENERGETIC)), *whole_pass())
    (reading,), _ = energy.readings(run, ["Low power mode was on.", "Another process used 80 % of a core."])
    assert reading.claim == "indicative"
    assert reading.claim_reasons == ["low power mode was on", "another process used 80 % of a core"]
    assert reading.mean_w == pytest.approx(150.0)


@pytest.mark.parametrize("measured_tps", [None, 91.0, 100.0, 111.0])
async def test_a_window_as_fast_as_the_repeats_gives_their_energy(measured_tps):
    energy = EnergyPass(Choice((SOURCE,), ()), make=FakeMeter)
    run = await told(energy, Run(plan(settings=ENERGETIC)), *whole_pass())
    assert energy.readings(run, (), measured_tps)[0][0].claim == "valid"


@pytest.mark.parametrize(("measured_tps", "apart"), [(133.4, "25 %"), (80.0, "25 %")])
async def test_a_window_at_another_rate_than_the_repeats_claims_less_and_says_both(measured_tps, apart):
    """Seen on an H200: 137 tok/s in the window after 183 in the repeats, right joules of another decode."""
    energy = EnergyPass(Choice((SOURCE,), ()), make=FakeMeter)
    run = await told(energy, Run(plan(settings=ENERGETIC)), *whole_pass())
    (reading,), _ = energy.readings(run, (), measured_tps)
    assert reading.claim == "indicative"
    assert reading.claim_reasons == [
        f"the window ran at 100.0 tok/s, the repeats at {measured_tps}: {apart} apart (limit 10 %)"
    ]
    assert reading.mwh_per_token_gross == pytest.approx(150 / 360)


class SlowMeter(FakeMeter):
    """Starts and stops when the event loop lets it: one that waits for it on the loop waits in vain."""

    def __init__(self, sources, limit_s):
        super().__init__(sources, limit_s)
        self.may_start, self.may_stop = threading.Event(), threading.Event()

    def start(self):
        assert self.may_start.wait(PATIENCE_S), "the event loop stood still"
        super().start()

    def stop(self):
        assert self.may_stop.wait(PATIENCE_S), "the event loop stood still"
        return super().stop()


async def test_the_event_loop_goes_on_while_the_meter_starts_and_stops():
    energy = EnergyPass(Choice((SOURCE,), ()), make=SlowMeter)
    first, second, *rest = whole_pass()
    run = await told(energy, Run(plan(settings=ENERGETIC)), first)
    starting = asyncio.create_task(told(energy, run, second))
    await asyncio.sleep(0)
    assert energy.meter.log == [] and not starting.done()
    energy.meter.may_start.set()
    stopping = asyncio.create_task(told(energy, await starting, *rest))
    await asyncio.sleep(0)
    assert energy.meter.log == ["start"] and not stopping.done()
    energy.meter.may_stop.set()
    (reading,), _ = energy.readings(await stopping)
    assert energy.meter.log == ["start", "stop"]
    assert reading.claim == "valid"


async def test_a_run_cancelled_while_its_meter_starts_leaves_no_meter_on():
    energy = EnergyPass(Choice((SOURCE,), ()), make=SlowMeter)
    first, second, *_ = whole_pass()
    run = await told(energy, Run(plan(settings=ENERGETIC)), first)
    starting = asyncio.create_task(told(energy, run, second))
    await asyncio.sleep(0)
    energy.meter.may_stop.set()
    starting.cancel()
    stopping = asyncio.create_task(energy.stop())
    await asyncio.sleep(0)
    assert energy.meter.log == []
    energy.meter.may_start.set()
    await stopping
    assert energy.meter.log in (["start", "stop"], ["stop"])


class SlowedMeter(FakeMeter):
    """The same on a chip that is hot: 1,200 to 1,400 MHz."""

    def stop(self):
        trace = super().stop()
        (row,) = trace.rows
        samples = tuple(
            replace(s, gpu_mhz=1200.0 + 100 * (i % 3), thermal="Heavy", throttle=("hw thermal slowdown",))
            for i, s in enumerate(row.samples)
        )
        telling = replace(row.row, tells_throttle=True)
        return replace(trace, rows=(replace(row, row=telling, samples=samples),))


async def test_the_sources_tell_conditions_that_the_system_does_not():
    energy = EnergyPass(Choice((SOURCE,), ()), make=SlowedMeter)
    assert energy.conditions(Run(plan(settings=ENERGETIC))) == PowerConditions()
    run = await told(energy, Run(plan(settings=ENERGETIC)), *whole_pass())
    before = {
        "gpu_clock_mhz": None,
        "throttle_reasons": None,
        "thermal_start": None,
        "thermal_end": None,
        "thermal_worst": "moderate",
        "governor": None,
        "conditions_reasons": {"gpu_clock_mhz": "root only", "thermal_end": "unread", "governor": "none"},
    }
    found = with_power_conditions(before, energy.conditions(run))
    assert found["gpu_clock_mhz"] == {"median": 1300.0, "min": 1200.0}
    assert found["throttle_reasons"] == ["hw thermal slowdown"]
    assert (found["thermal_start"], found["thermal_end"], found["thermal_worst"]) == (None, "heavy", "heavy")
    assert found["conditions_reasons"] == {"governor": "none"}
    assert before["thermal_worst"] == "moderate"


def test_what_the_system_told_is_not_made_milder():
    told = {"thermal_worst": "trapping", "thermal_end": "heavy", "throttle_reasons": ["hw slowdown"]}
    seen = PowerConditions(thermal_end="Nominal", thermal_worst="Moderate", throttle_reasons=())
    found = with_power_conditions(told | {"conditions_reasons": {}}, seen)
    assert found == told | {"conditions_reasons": {}}


def test_power_and_machine_call_a_throttle_by_the_same_name():
    assert {bit: reason_names(bit) for bit in SLOWED} == {bit: (name,) for bit, name in SLOWED.items()}
