"""What may strike between any two steps of a run, and what is left on disk then."""

import asyncio
import errno
import os
import stat
import threading

import pytest

from tests.protocol.stage import STAMP, Die, Hang, ScriptedWorker, nobody, plan, repeat, still, story
from workbench.errors import LedgerError, WorkerError
from workbench.ledger import store
from workbench.protocol import lock
from workbench.protocol.recover import recover
from workbench.protocol.watch import Watch
from workbench.worker import messages as m


def statuses(stage):
    return [record.status for record in store.read(stage.ledger).records]


class Halting:
    """A machine whose sample number `at` (from 1) waits until it is let go."""

    def __init__(self, at):
        self.at = at
        self.taken = 0
        self.reached = asyncio.Event()
        self.go = asyncio.Event()

    async def sample(self, *, gpu, brief):
        self.taken += 1
        if self.taken == self.at:
            self.reached.set()
            await self.go.wait()
        return await still(gpu=gpu, brief=brief)


async def test_a_task_cancelled_while_its_record_is_made_has_the_record_all_the_same(stage):
    machine = Halting(at=3)  # before, at the start, and this one: at the end
    async with stage.make(watch=Watch(machine.sample, nobody)) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        running = asyncio.create_task(measurement.measure())
        await machine.reached.wait()
        running.cancel()
        await asyncio.sleep(0)
        assert not running.done()
        machine.go.set()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert statuses(stage) == ["measured"]
    assert list(stage.locks.iterdir()) == []


async def test_a_stop_between_the_start_sample_and_the_request_sends_nothing(stage):
    machine = Halting(at=2)
    async with stage.make(watch=Watch(machine.sample, nobody)) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        running = asyncio.create_task(measurement.measure())
        await machine.reached.wait()
        stopping = asyncio.create_task(measurement.cancel())
        await asyncio.sleep(0)
        machine.go.set()
        await stopping
        record = await running
    assert record.status == "cancelled"
    assert record.loaded_at is None
    assert "send" not in [what for what, _ in stage.events]


async def test_two_stops_at_once_leave_one_record(stage):
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        await asyncio.gather(measurement.cancel(), measurement.cancel("Ended by SIGTERM."))
    assert statuses(stage) == ["cancelled"]


async def test_a_run_key_faster_than_the_worker_starts_no_second_worker(stage):
    async with stage.make() as measurement:
        preparing = asyncio.create_task(measurement.prepare())
        measurement.lock([("", 120.0)])
        record = await measurement.measure()
        await preparing
        await measurement.prepare()
    assert record.status == "measured"
    assert record.mlx_lm == STAMP.mlx_lm
    assert len(stage.workers) == 1


async def test_a_worker_that_could_not_start_is_tried_again_by_the_run(stage):
    stage.scripts.append([])
    failed = m.Failed("backend_missing", "No working mlx.", "Install one.")
    async with stage.make(spawn=stage.spawn_that_says(failed)) as measurement:
        with pytest.raises(WorkerError, match="No working mlx"):
            await measurement.prepare()
        measurement.lock([("", 120.0)])
        record = await measurement.measure()
    assert record.status == "measured"
    assert [worker.stopped.is_set() for worker in stage.workers] == [True, True]


async def test_a_worker_that_dies_as_its_request_comes_is_a_failed_record(stage):
    class Dying(ScriptedWorker):
        async def reports(self):
            yield self.ready
            raise WorkerError("The decode worker was killed (SIGKILL).", "Try again.", code="worker_died")

        async def send(self, request):
            """As the client does: a broken pipe is told by the reports."""

    async def spawn(job):
        return Dying([])

    async with stage.make(spawn=spawn) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        record = await asyncio.wait_for(measurement.measure(), 60)
    assert record.status == "failed"
    assert record.reason == "The decode worker was killed (SIGKILL). Try again."
    assert record.loaded_at is None


async def test_a_machine_that_cannot_be_sampled_costs_conditions_and_not_the_run(stage):
    async def broken(*, gpu, brief):
        raise OSError(errno.EIO, "Input/output error")

    async with stage.make(watch=Watch(broken, nobody, every_s=0.0)) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        record = await measurement.measure()
    assert record.status == "measured"
    assert record.load1_start is None
    assert record.conditions_reasons["conditions"]


async def test_a_fault_while_the_record_is_made_costs_its_figures_and_not_the_record(stage, monkeypatch):
    monkeypatch.setattr("workbench.protocol.recording.judged", lambda *_: 1 / 0)
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        record = await measurement.measure()
    assert record.status == "failed"
    assert record.reason == "A fault of the workbench: ZeroDivisionError: division by zero"
    assert record.predicted_tps_human == 120.0
    assert statuses(stage) == ["failed"]


class FullDisk:
    """Writes fail from write number `at` (counted from 1) on, `times` of them."""

    def __init__(self, monkeypatch, at, times=1):
        self.written = 0
        self.failing = range(at, at + times)
        self.real = os.write
        monkeypatch.setattr(lock.os, "write", self.write)

    def write(self, descriptor, data):
        self.written += 1
        if self.written in self.failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.real(descriptor, data)


async def test_a_disk_that_is_full_when_the_run_begins_lets_nothing_load(stage, monkeypatch):
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        FullDisk(monkeypatch, at=1)
        record = await measurement.measure()
    assert record.status == "failed"
    assert "no space left on device" in record.reason
    assert "send" not in [what for what, _ in stage.events]


async def test_a_disk_that_is_full_while_the_model_loads_does_not_stop_the_run(stage, monkeypatch):
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        FullDisk(monkeypatch, at=2)
        record = await measurement.measure()
    assert record.status == "measured"
    assert record.loaded_at
    assert list(stage.locks.iterdir()) == []


async def test_a_disk_that_stays_full_leaves_the_lock_for_the_next_start(stage, monkeypatch):
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        full = FullDisk(monkeypatch, at=2, times=1000)
        with pytest.raises(LedgerError, match="the disk is full"):
            await measurement.measure()
        assert measurement.run.record.generation_tps == pytest.approx(100.0)
    assert full.written > 2
    monkeypatch.undo()
    (record,) = recover(stage.ledger, stage.locks).records
    assert (record.status, record.predicted_tps_human) == ("interrupted", 120.0)
    assert list(stage.locks.iterdir()) == []


async def test_a_file_system_that_cannot_sync_folders_can_hold_a_lock(stage, monkeypatch):
    real = os.fsync

    def no_folders(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", no_folders)
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        assert len(list(stage.locks.iterdir())) == 1
        assert (await measurement.measure()).status == "measured"


async def test_the_ledger_is_not_read_in_the_thread_that_paints(stage, monkeypatch):
    readers = []
    real = store.records

    def records(*arguments, **named):
        readers.append(threading.current_thread())
        return real(*arguments, **named)

    monkeypatch.setattr("workbench.protocol.dossier.store.records", records)
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
    assert len(readers) == 1
    assert readers[0] is not threading.main_thread()


async def test_a_ledger_that_becomes_unreadable_does_not_keep_a_number_from_being_locked(stage):
    stage.ledger.mkdir()
    async with stage.make(plan("first")) as measurement:
        await measurement.prepare()
        assert "not a regular file" in measurement.run.notices[0]
        measurement.replan(plan("second"))
        measurement.lock([("", 120.0)])
        assert measurement.run.locked
        stage.ledger.rmdir()


async def test_the_bytes_that_the_graph_changed_have_their_own_past(stage):
    async with stage.make(plan("first")) as measurement:
        await measurement.prepare()
        seen = []
        measurement._dossier.learn = lambda known, run: seen.append(run.plan.weight_bytes)
        measurement.lock([("", 120.0)])
        assert seen == []
    async with stage.make(plan("first")) as measurement:
        await measurement.prepare()
        measurement._dossier.learn = lambda known, run: seen.append(run.plan.weight_bytes)
        measurement.replan(plan("first", graph_bytes=3_000_000))
        measurement.lock([("", 120.0)])
        assert seen == [3_000_000]


async def test_a_signal_that_finds_the_ledger_full_ends_without_a_complaint_of_asyncios(stage, monkeypatch):
    from workbench.protocol.signals import _ended

    async def cancel(reason):
        raise LedgerError("The ledger did not take the record.")

    await _ended(cancel, "Ended by SIGTERM.")


async def test_the_worker_may_hang_and_the_terminal_may_go_and_the_record_is_kept(stage):
    script = [*story(repeat(0))[:-1], Hang()]
    async with stage.make(script=script) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        running = asyncio.create_task(measurement.measure())
        await stage.workers[0].hanging.wait()
        await asyncio.gather(measurement.cancel("Ended by SIGHUP."), measurement.close())
        record = await running
    assert record.status == "cancelled"
    assert record.reason.startswith("Ended by SIGHUP.")
    assert record.repeats_tps == pytest.approx([100.0])
    assert statuses(stage) == ["cancelled"]


async def test_a_worker_that_dies_in_its_last_word_keeps_its_repeats(stage):
    record = None
    async with stage.make(script=[*story()[:-1], Die()]) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        record = await measurement.measure()
    assert record.status == "failed"
    assert record.repeats_tps == pytest.approx([100.0, 100.0])
