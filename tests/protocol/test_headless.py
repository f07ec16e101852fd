"""The whole protocol in one call, and the signals that end it."""

import asyncio
import os
import signal

import pytest

from tests.protocol.stage import Hang, checkpoint, plan, repeat, story
from workbench.checkpoint.checkpoint import State
from workbench.errors import CheckpointError, PredictionMissingError
from workbench.ledger import store
from workbench.protocol.headless import exit_code_of, measured
from workbench.protocol.signals import ending_signals
from workbench.worker import messages as m


def on(stage, script=None):
    return lambda a_plan, **given: stage.make(a_plan, script, **given)


async def test_a_plan_and_a_number_become_a_record_and_exit_0(stage):
    outcome = await measured(plan(), [("", 120.0)], make=on(stage))
    assert outcome.exit_code == 0
    assert outcome.record.status == "measured"
    assert outcome.run.record == outcome.record


async def test_without_a_number_or_a_whole_checkpoint_nothing_is_started(stage):
    with pytest.raises(PredictionMissingError) as raised:
        await measured(plan(), [], make=on(stage))
    assert raised.value.exit_code == 2
    broken = plan(checkpoint=checkpoint(state=State.INCOMPLETE, reason="shard 2 is missing"))
    with pytest.raises(CheckpointError) as raised:
        await measured(broken, [("", 120.0)], make=on(stage))
    assert raised.value.exit_code == 3
    assert stage.events == []


async def test_a_counting_error_exits_1_and_a_failed_worker_4(stage):
    fast = [repeat(i, step_ms=1) for i in (0, 1)]
    slow_bus = plan(bandwidths=(plan().bandwidths[0].__class__(0.4, plan().bandwidths[0].kind, "x"),))
    assert (await measured(slow_bus, [("", 120.0)], make=on(stage, story(*fast)))).exit_code == 1
    failed = [m.Failed("load_failed", "no", "do")]
    assert (await measured(plan(), [("", 120.0)], make=on(stage, failed))).exit_code == 4
    assert exit_code_of(None) == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_run_keeps_its_record_and_exits_128_and_n(stage, number):
    running = asyncio.create_task(
        measured(plan(), [("", 120.0)], make=on(stage, [*story(repeat(0))[:-1], Hang()]))
    )
    while not stage.workers:
        await asyncio.sleep(0)
    await stage.workers[0].hanging.wait()
    os.kill(os.getpid(), number)
    outcome = await asyncio.wait_for(running, 60)
    assert outcome.exit_code == 128 + number
    (record,) = store.read(stage.ledger).records
    assert record.status == "cancelled"
    assert record.reason.startswith(f"Ended by {number.name}.")
    assert record.repeats_tps == pytest.approx([100.0])


async def test_a_signal_before_anything_is_locked_leaves_no_record(stage):
    slow = asyncio.Event()

    def make(a_plan, **given):
        measurement = stage.make(a_plan, **given)
        prepare = measurement.prepare

        async def prepare_slowly():
            slow.set()
            await asyncio.sleep(0.05)
            await prepare()

        measurement.prepare = prepare_slowly
        return measurement

    running = asyncio.create_task(measured(plan(), [("", 120.0)], make=make))
    await slow.wait()
    os.kill(os.getpid(), signal.SIGTERM)
    outcome = await running
    assert (outcome.record, outcome.exit_code) == (None, 143)
    assert not stage.ledger.exists()
    assert all(worker.stopped.is_set() for worker in stage.workers)


async def test_handlers_are_put_back_and_an_ignored_signal_stays_ignored():
    heard = []

    async def cancel(reason):
        heard.append(reason)

    before = signal.getsignal(signal.SIGTERM)
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending_signals(cancel) as caught:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0.01)
            assert caught.exit_code is None
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
            while not heard:
                await asyncio.sleep(0)
            assert caught.exit_code == 143
        await asyncio.gather(*caught.tasks)
    finally:
        signal.signal(signal.SIGHUP, old)
    assert heard == ["Ended by SIGTERM."]
    assert signal.getsignal(signal.SIGTERM) == before
