"""One run from worker to record, with a scripted worker: the order, the ways to end, what is left behind."""

import asyncio
import json
import math
import time
from dataclasses import replace

import msgspec
import pytest

from tests.protocol.stage import STAMP, Die, Hang, checkpoint, count, plan, repeat, story
from workbench.checkpoint.checkpoint import Finding, State
from workbench.errors import (
    CheckpointError,
    LedgerError,
    PredictionMissingError,
    UsageError,
    WorkerError,
)
from workbench.ledger import store
from workbench.ledger.record import Record
from workbench.protocol import dossier
from workbench.protocol.lock import PredictionLock
from workbench.protocol.run import Phase
from workbench.worker import messages as m


async def run_of(measurement, predictions=(("", 120.0),), by=None):
    async with measurement:
        await measurement.prepare()
        measurement.lock(list(predictions), by)
        return await measurement.measure()


def ledger_of(stage):
    reading = store.read(stage.ledger)
    assert reading.damaged == []
    return reading.records


async def test_a_run_ends_in_one_sealed_record_of_what_was_predicted_and_measured(stage):
    record = await run_of(stage.make())
    assert record.status == "measured"
    assert record.predicted_tps_human == 120.0
    assert record.generation_tps == pytest.approx(100.0)
    assert record.prediction_error == pytest.approx(100 / 120 - 1)
    assert record.fractions[0].value == pytest.approx(100 / 2000)
    assert record.verdict == "ok"
    assert ledger_of(stage) == [record]
    assert record.sha256
    assert list(stage.locks.iterdir()) == []


async def test_nothing_reaches_the_worker_before_the_prediction_is_on_disk(stage, monkeypatch):
    written = PredictionLock.write

    def spy(self, record):
        written(self, record)
        assert json.loads(self.path.read_text())["predicted_tps_human"] == 120.0
        stage.events.append(("locked", ""))

    monkeypatch.setattr(PredictionLock, "write", spy)
    await run_of(stage.make())
    order = [what for what, _ in stage.events]
    assert order.index("spawn") < order.index("locked") < order.index("send")
    assert (
        order[: order.index("send")].count("locked") == 2
    )  # the prediction, then the conditions at the start
    assert ("said", "Loading") in stage.events[order.index("send") :]


async def test_the_lock_is_synced_to_disk_before_lock_returns(stage, monkeypatch):
    synced = []
    real = dossier.PredictionLock.create.__globals__["os"].fsync
    monkeypatch.setattr("workbench.protocol.lock.os.fsync", lambda fd: (synced.append(fd), real(fd)))
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        assert len(synced) == 2  # the file and its folder
        assert "send" not in [what for what, _ in stage.events]


async def test_the_prediction_is_older_than_the_load(stage):
    class Clocked(list):
        def __iter__(self):
            for said in story():
                yield m.Loading(at_ns=time.time_ns()) if isinstance(said, m.Loading) else said

    record = await run_of(stage.make(script=Clocked()))
    assert record.predicted_at < record.loaded_at
    assert record.locks[-1].at == record.predicted_at


async def test_without_a_prediction_nothing_is_measured(stage):
    async with stage.make() as measurement:
        await measurement.prepare()
        with pytest.raises(PredictionMissingError):
            await measurement.measure()
        with pytest.raises(PredictionMissingError):
            measurement.lock([])
    assert "send" not in [what for what, _ in stage.events]
    assert not stage.ledger.exists()


@pytest.mark.parametrize("tps", [0.0, -3.0, math.nan, math.inf])
async def test_a_number_that_predicts_nothing_locks_nothing(stage, tps):
    async with stage.make() as measurement:
        with pytest.raises(UsageError, match="predicts nothing"):
            measurement.lock([("ana", tps)])
    assert not stage.locks.exists()


@pytest.mark.parametrize(
    ("a_plan", "code"),
    [
        (plan(checkpoint=checkpoint(state=State.INCOMPLETE, reason="shard 2 of 3 is missing")), "incomplete"),
        (plan(checkpoint=checkpoint(state=State.NOT_LOADABLE, reason="no tokenizer")), "not_loadable"),
        (plan(checkpoint=checkpoint(state=State.UNREADABLE, reason="torn header")), "unreadable"),
        (plan(checkpoint=checkpoint(format="gguf")), "not_loadable"),
        (
            plan(count=count(refusal=Finding("no_experts_per_token", "k is not known"))),
            "no_experts_per_token",
        ),
        (plan(count=count(weight_bytes=0)), "nothing_counted"),
    ],
)
async def test_a_checkpoint_that_cannot_be_run_starts_no_worker(stage, a_plan, code):
    async with stage.make(a_plan) as measurement:
        with pytest.raises(CheckpointError) as raised:
            await measurement.prepare()
    assert code in raised.value.code
    assert raised.value.hint
    assert stage.events == []


async def test_a_corrected_prediction_keeps_the_first_one_beside_it(stage):
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        first = json.loads(next(stage.locks.iterdir()).read_text())
        measurement.lock([("", 90.0)])
        (path,) = stage.locks.iterdir()
        second = json.loads(path.read_text())
        record = await measurement.measure()
    assert [lock["tps"] for lock in first["locks"]] == [120.0]
    assert [lock["tps"] for lock in second["locks"]] == [120.0, 90.0]
    assert (second["record_id"], second["lock_id"]) == (first["record_id"], first["lock_id"])
    assert [lock.tps for lock in record.locks] == [120.0, 90.0]
    assert record.predicted_tps_human == 90.0
    assert record.predicted_at == record.locks[1].at > record.locks[0].at


async def test_a_lock_is_good_for_one_run_group(stage):
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        await measurement.measure()
        with pytest.raises(UsageError, match="has begun"):
            measurement.lock([("", 90.0)])
        with pytest.raises(UsageError, match="one run group"):
            await measurement.measure()
    assert len(ledger_of(stage)) == 1


async def test_no_prediction_is_taken_once_the_run_has_begun(stage):
    async with stage.make(script=[*story()[:1], Hang()]) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        running = asyncio.create_task(measurement.measure())
        await stage.workers[0].hanging.wait()
        with pytest.raises(UsageError, match="has begun"):
            measurement.lock([("", 90.0)])
        await measurement.cancel()
        assert (await running).predicted_tps_human == 120.0


async def test_a_class_round_keeps_every_name_and_its_error(stage):
    record = await run_of(stage.make(), [("ana", 80.0), ("bo", 200.0)], by="the class")
    assert [(p.name, p.tps) for p in record.predictions] == [("ana", 80.0), ("bo", 200.0)]
    assert [p.error for p in record.predictions] == pytest.approx([0.25, -0.5])
    assert (record.predicted_by, record.predicted_tps_human) == ("the class", 80.0)


async def test_the_stop_key_leaves_a_cancelled_record_with_the_repeats_that_completed(stage):
    script = [*story(repeat(0))[:-1], m.RepeatStarted(index=1, of=2)]
    script += [m.Progress(index=1, tokens=4, elapsed_s=0.03, tps_now=99.0, tps_mean=98.0), Hang()]
    async with stage.make(script=script) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        running = asyncio.create_task(measurement.measure())
        await stage.workers[0].hanging.wait()
        began = time.monotonic()
        await measurement.cancel()
        assert time.monotonic() - began < 1
        record = await running
    assert record.status == "cancelled"
    assert record.repeats_tps == pytest.approx([100.0])
    assert record.reason == "Cancelled by the user. Repeat 2 of 2 had reached 4 tokens at 98.0 tok/s."
    assert ledger_of(stage) == [record]
    assert list(stage.locks.iterdir()) == []


async def test_a_run_cancelled_before_its_first_repeat_has_no_rate(stage):
    async with stage.make(script=[*story()[:3], Hang()]) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        running = asyncio.create_task(measurement.measure())
        await stage.workers[0].hanging.wait()
        await measurement.cancel()
        record = await running
    assert (record.status, record.generation_tps, record.verdict) == ("cancelled", None, "none")
    assert record.load_s == 0.2


async def test_closing_with_a_lock_leaves_a_cancelled_record_and_without_one_nothing(stage):
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
    (record,) = ledger_of(stage)
    assert record.status == "cancelled"
    assert "never loaded" in record.reason
    async with stage.make() as measurement:
        await measurement.prepare()
    assert len(ledger_of(stage)) == 1
    assert all(worker.stopped.is_set() for worker in stage.workers)


async def test_a_task_that_is_cancelled_still_leaves_its_record(stage):
    async with stage.make(script=[*story()[:3], Hang()]) as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        running = asyncio.create_task(measurement.measure())
        await stage.workers[0].hanging.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert [record.status for record in ledger_of(stage)] == ["cancelled"]
    assert stage.workers[0].stopped.is_set()


async def test_a_worker_that_dies_leaves_a_failed_record_and_another_run_can_start(stage):
    record = await run_of(stage.make(script=[*story(repeat(0))[:-1], Die()]))
    assert record.status == "failed"
    assert "killed (SIGKILL)" in record.reason
    assert record.repeats_tps == pytest.approx([100.0])
    again = await run_of(stage.make())
    assert again.status == "measured"
    assert again.earlier_runs_seen == 1
    assert [r.status for r in ledger_of(stage)] == ["failed", "measured"]


async def test_a_worker_that_says_why_it_failed_is_quoted(stage):
    failed = m.Failed("load_failed", "Missing 3 parameters.", "Download the checkpoint again.")
    measurement = stage.make(script=[*story()[:1], failed])
    record = await run_of(measurement)
    assert (record.status, record.verdict) == ("failed", "none")
    assert record.reason == "Missing 3 parameters. Download the checkpoint again."
    assert measurement.run.failure == failed
    assert record.loaded_at


async def test_a_worker_without_a_backend_is_an_error_before_anything_is_locked(stage):
    ready = m.Failed("backend_missing", "No working mlx.", "Install one.")
    async with stage.make(spawn=stage.spawn_that_says(ready)) as measurement:
        with pytest.raises(WorkerError, match="No working mlx") as raised:
            await measurement.prepare()
    assert raised.value.code == "backend_missing"
    assert not stage.ledger.exists()
    assert stage.workers[0].stopped.is_set()


@pytest.mark.parametrize(
    "times",
    [
        [0, 0, 0],  # no time passed
        [10, 5, 1],  # the clock ran backwards
        [0, 1000, 2000],  # 10^6 tok/s: a first token's spike
        [5],
        [],
    ],
)
async def test_a_rate_that_no_machine_has_never_reaches_a_record(stage, times):
    broken = repeat(0, token_times_ns=times)
    record = await run_of(stage.make(script=story(broken)))
    assert record.status == "failed"
    assert record.generation_tps is None
    assert record.repeats_tps == []
    assert "rate that a machine can have" in record.reason
    sound_too = await run_of(stage.make(script=story(broken, repeat(1))))
    assert sound_too.repeats_tps == pytest.approx([100.0])
    assert "NaN" not in stage.ledger.read_text()


async def test_everything_a_record_must_say_is_there(stage):
    record = await run_of(stage.make(plan(alias="office", command=("/usr/bin/workbench", "measure", "tiny"))))
    may_be_null = {
        *("discards", "reason", "runtime_commit", "hw_model", "gpu_cores", "recommended_working_set_gb"),
        *("macos", "os_build", "power_source", "low_power_mode", "governor", "gpu_clock_mhz"),
        *("throttle_reasons", "seconds_since_last_run", "clock_drift", "top_other_process_cpu_pct"),
        *("memory_pressure_worst", "gpu_other_processes", "last_level_cache_bytes"),
        *("revision", "config_sha256", "quantization", "bus_bytes_per_token", "overrides", "fit_estimate"),
        *("kv_bits", "kv_group_size", "max_kv_size", "draft_model", "ui_hz", "warmup_steady"),
        *("achieved_gbps", "kernels", "threads", "method", "measured_by"),
    }
    null = {name for name in Record.__struct_fields__ if getattr(record, name) is None}
    assert null <= may_be_null
    assert record.command == ["workbench", "measure", "tiny"]
    assert (record.alias, record.device) == ("office", "Test Chip")
    assert record.scope.startswith("Decode phase only: batch 1, greedy, 11 tokens after a prompt of 5 tokens")
    assert record.energy_unavailable_reason == "No energy pass was asked for."
    assert record.token_times_ns == [[10_000_000] * 10] * 2
    assert record.decode_rule == "(N-1)/(t_N - t_1)"
    conditions = set(Record.__struct_fields__[_at("power_source") : _at("conditions_reasons")])
    assert null & (conditions | {"last_level_cache_bytes"}) == set(record.conditions_reasons)
    assert all(record.conditions_reasons.values())


def _at(name):
    return Record.__struct_fields__.index(name)


async def test_a_rule_chosen_on_purpose_is_stamped_beside_the_right_count(stage):
    record = await run_of(stage.make(plan(rule="all-bytes")))
    assert (record.rule, record.in_force) == ("all-bytes", "count")
    assert record.weight_bytes_per_token == 5_000_000
    assert record.weight_bytes_per_token_without_overrides == 4_000_000
    names = {ceiling.name: ceiling.tps for ceiling in record.ceilings}
    assert names["spec 8 GB/s, all-bytes"] == pytest.approx(1600)
    assert names["spec 8 GB/s, count"] == pytest.approx(2000)
    assert record.predicted_decode_tps == pytest.approx(1600)


async def test_all_bytes_counted_on_purpose_are_flagged_when_they_exceed_the_bus(stage):
    quick = [repeat(i, step_ms=10) for i in (0, 1)]
    slow_bus = plan(rule="all-bytes", bandwidths=(replace(plan().bandwidths[0], gbps=0.45),))
    record = await run_of(stage.make(slow_bus, script=story(*quick)))
    assert record.fractions[0].value == pytest.approx(100 / 90)
    assert record.verdict == "counting error"
    assert "vision tower counted" in record.excess_explained_by
    by_count = next(f.value for f in record.fractions if f.of == "spec 0.45 GB/s, count")
    assert by_count == pytest.approx(100 / 112.5)


async def test_the_graph_in_force_decides_the_bytes(stage):
    record = await run_of(stage.make(plan(graph_bytes=3_000_000)))
    assert (record.rule, record.in_force, record.weight_bytes_per_token) == ("count", "graph", 3_000_000)
    assert record.predicted_decode_tps == pytest.approx(8e9 / 3e6)


async def test_conditions_that_spoil_a_run_are_in_its_verdict(stage):
    async def hot(*, gpu, brief):
        from tests.protocol.stage import still

        return replace(await still(gpu=gpu, brief=brief), thermal="heavy")

    from tests.protocol.stage import nobody
    from workbench.protocol.watch import Watch

    record = await run_of(stage.make(watch=Watch(sample=hot, processes=nobody)))
    assert record.verdict == "spoiled"
    assert any("thermal pressure reached heavy" in reason for reason in record.verdict_reasons)


async def test_every_change_is_told_and_nothing_absurd_is_ever_shown(stage):
    seen = []
    measurement = stage.make(on_change=seen.append)
    await run_of(measurement)
    phases = list(dict.fromkeys(run.phase for run in seen))
    assert phases[:4] == [Phase.PREDICTING, Phase.LOCKED, Phase.LOADING, Phase.WARMING]
    assert phases[-1] is Phase.ENDED
    shown = [run.now.tps_now for run in seen if run.now and run.now.tps_now is not None]
    assert shown
    assert max(shown) <= 100.0
    assert seen[-1].record.sha256


async def test_a_ledger_that_takes_nothing_loses_no_record(stage, monkeypatch):
    stage.ledger.mkdir(parents=True)
    measurement = stage.make()
    with pytest.raises(LedgerError, match="did not take the record") as raised:
        await run_of(measurement)
    assert measurement.run.record.generation_tps == pytest.approx(100.0)
    assert raised.value.rescued_to.read_text().count("\n") == 1
    assert list(stage.locks.iterdir()) == []


async def test_a_lock_that_cannot_be_written_stops_the_run_before_it_begins(stage, tmp_path):
    stage.locks.parent.mkdir(exist_ok=True)
    stage.locks.write_text("a file where the folder should be")
    async with stage.make() as measurement:
        await measurement.prepare()
        with pytest.raises(LedgerError, match="could not be locked"):
            measurement.lock([("", 120.0)])
        assert not measurement.run.locked
        with pytest.raises(PredictionMissingError):
            await measurement.measure()
    assert "send" not in [what for what, _ in stage.events]


async def test_a_fault_of_our_own_still_leaves_a_record(stage, monkeypatch):
    monkeypatch.setattr("workbench.protocol.steps.fold", lambda run, report: 1 / 0)
    async with stage.make() as measurement:
        measurement.lock([("", 120.0)])
        with pytest.raises(ZeroDivisionError):
            await measurement.measure()
    (record,) = ledger_of(stage)
    assert record.status == "failed"
    assert "ZeroDivisionError" in record.reason


@pytest.mark.parametrize(("passes", "expected"), [(1, "cold"), (3, "warm")])
async def test_on_cuda_the_warm_up_lasts_until_it_is_stable(stage, passes, expected):
    said = [m.Warmed(passes=passes, tokens=2) if isinstance(one, m.Warmed) else one for one in story()]
    cuda = msgspec.structs.replace(STAMP, backend="cuda", device="NVIDIA H200")
    record = await run_of(stage.make(script=said, spawn=stage.spawn_that_says(m.Ready(stamp=cuda, pid=1))))
    assert stage.workers[0].request.warm_until_stable
    assert record.kernel_cache == expected
    await run_of(stage.make())
    assert not stage.workers[1].request.warm_until_stable


async def test_on_cuda_the_gpus_own_memory_decides_whether_a_checkpoint_fits(stage, monkeypatch):
    monkeypatch.setattr("workbench.machine.memory.available_bytes", lambda: 0)
    for gpu_bytes, warned in ((10**12, False), (10**3, True)):
        cuda = msgspec.structs.replace(STAMP, backend="cuda", memory_bytes=gpu_bytes)
        async with stage.make(spawn=stage.spawn_that_says(m.Ready(stamp=cuda, pid=1))) as measurement:
            await measurement.prepare()
        assert any("the GPU may use" in notice for notice in measurement.run.notices) is warned
        assert not any("swap" in notice for notice in measurement.run.notices)


async def test_an_energy_pass_without_a_source_is_not_waited_for(stage):
    settings = replace(plan().settings, energy_min_s=30.0, idle_s=20.0)
    record = await run_of(stage.make(plan(settings=settings)))
    assert (stage.workers[0].request.energy_min_s, stage.workers[0].request.idle_s) == (0.0, 0.0)
    assert record.power == []
    assert "No power source on this machine" in record.energy_unavailable_reason


async def test_another_plan_may_take_this_ones_place_until_a_number_is_locked(stage):
    await run_of(stage.make(plan("second")))
    async with stage.make(plan("first")) as measurement:
        await measurement.prepare()
        measurement.replan(plan("second"))
        measurement.lock([("", 120.0)])
        with pytest.raises(UsageError, match="locked for another plan"):
            measurement.replan(plan("third"))
        record = await measurement.measure()
    assert (record.model, record.earlier_runs_seen) == ("second", 1)
    assert stage.workers[1].request.path == "/nowhere/second"
    assert len(stage.workers) == 2
