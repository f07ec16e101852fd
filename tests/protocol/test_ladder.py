"""Several checkpoints, one prediction each before anything loads, one go, one record each."""

import asyncio

import pytest

from tests.protocol.stage import Die, Hang, checkpoint, plan, repeat, story
from workbench.checkpoint.checkpoint import State
from workbench.errors import CheckpointError, LedgerError, PredictionMissingError
from workbench.ledger import store
from workbench.protocol.ladder import Ladder


def rungs(*names, **changes):
    return [plan(name, experiment="ladder", **changes) for name in names]


def ladder_on(stage, plans, scripts, **changes):
    scripts = iter(scripts)
    return Ladder(plans, make=lambda p, **given: stage.make(p, next(scripts), **given), **changes)


def statuses(stage):
    return [(record.model, record.status) for record in store.read(stage.ledger).records]


async def test_every_rung_is_locked_before_the_first_one_loads(stage):
    async with ladder_on(stage, rungs("a", "b", "c"), [story(), story(), story()]) as ladder:
        await ladder.prepare()
        ladder.lock(0, [("", 100.0)])
        ladder.lock(1, [("", 200.0)])
        with pytest.raises(PredictionMissingError, match="Nobody has predicted c"):
            await ladder.measure()
        ladder.lock(2, [("", 300.0)])
        assert len(list(stage.locks.iterdir())) == 3
        assert "send" not in [what for what, _ in stage.events]
        records = await ladder.measure()
    assert [record.predicted_tps_human for record in records] == [100.0, 200.0, 300.0]
    assert {record.experiment for record in records} == {"ladder"}
    assert len({record.run_group_id for record in records}) == 3
    assert max(record.predicted_at for record in records) < min(record.loaded_at for record in records)
    assert statuses(stage) == [("a", "measured"), ("b", "measured"), ("c", "measured")]


async def test_one_worker_lives_at_a_time_and_a_waiting_lock_has_the_first_ones_stamp(stage):
    async with ladder_on(stage, rungs("a", "b"), [story(), story()]) as ladder:
        await ladder.prepare()
        assert [worker.stopped.is_set() for worker in stage.workers] == [False]
        ladder.lock(0, [("", 100.0)])
        ladder.lock(1, [("", 200.0)])
        held = [path.read_text() for path in stage.locks.iterdir()]
        assert all('"device":"Test Chip"' in text for text in held)
        await ladder.measure()
    spawns = [i for i, (what, _) in enumerate(stage.events) if what == "spawn"]
    stops = [i for i, (what, _) in enumerate(stage.events) if what == "stop"]
    assert len(spawns) == 2
    assert spawns[0] < stops[0] < spawns[1] < stops[1]


async def test_a_rung_that_fails_does_not_stop_the_others(stage):
    scripts = [story(), [*story()[:2], Die()], story()]
    async with ladder_on(stage, rungs("a", "b", "c"), scripts) as ladder:
        await ladder.prepare()
        for index in range(3):
            ladder.lock(index, [("", 100.0)])
        await ladder.measure()
    assert statuses(stage) == [("a", "measured"), ("b", "failed"), ("c", "measured")]


async def test_a_ledger_that_fails_once_is_an_outcome_of_that_rung(stage, monkeypatch):
    real = store.append

    def append(path, record):
        if record.model == "a":
            raise LedgerError("The ledger did not take the record.")
        return real(path, record)

    monkeypatch.setattr("workbench.protocol.dossier.store.append", append)
    async with ladder_on(stage, rungs("a", "b"), [story(), story()]) as ladder:
        await ladder.prepare()
        ladder.lock(0, [("", 100.0)])
        ladder.lock(1, [("", 100.0)])
        first, second = await ladder.measure()
    assert isinstance(first, LedgerError)
    assert second.status == "measured"


async def test_a_checkpoint_that_cannot_be_run_is_refused_before_anything_starts(stage):
    broken = plan("b", checkpoint=checkpoint("b", state=State.INCOMPLETE, reason="shard 2 is missing"))
    async with ladder_on(stage, [plan("a"), broken], [story(), story()]) as ladder:
        with pytest.raises(CheckpointError, match="shard 2"):
            await ladder.prepare()
    assert stage.events == []


async def test_the_stop_key_ends_the_running_rung_and_those_that_wait(stage):
    scripts = [story(), [*story(repeat(0))[:-1], Hang()], story()]
    async with ladder_on(stage, rungs("a", "b", "c"), scripts) as ladder:
        await ladder.prepare()
        for index in range(3):
            ladder.lock(index, [("", 100.0)])
        running = asyncio.create_task(ladder.measure())
        while len(stage.workers) < 2:
            await asyncio.sleep(0)
        await stage.workers[1].hanging.wait()
        await ladder.cancel()
        records = await running
    assert [record.status for record in records] == ["measured", "cancelled", "cancelled"]
    assert statuses(stage) == [("a", "measured"), ("b", "cancelled"), ("c", "cancelled")]
    assert "never loaded" in records[2].reason
    assert len(stage.workers) == 2
    assert list(stage.locks.iterdir()) == []


async def test_a_rest_between_rungs_can_be_cut_short(stage):
    from dataclasses import replace

    resting = replace(plan().settings, cooldown_s=3600.0)
    seen = []
    plans = rungs("a", "b", settings=resting)
    async with ladder_on(
        stage, plans, [story(), story()], on_change=lambda i, run: seen.append((i, run))
    ) as ladder:
        await ladder.prepare()
        ladder.lock(0, [("", 100.0)])
        ladder.lock(1, [("", 100.0)])
        running = asyncio.create_task(ladder.measure())
        while not any(i == 0 and run.record for i, run in seen):
            await asyncio.sleep(0)
        await ladder.cancel()
        await asyncio.wait_for(running, 60)
    assert statuses(stage) == [("a", "measured"), ("b", "cancelled")]


async def test_a_ladder_without_rungs_measures_nothing(stage):
    async with ladder_on(stage, [], []) as ladder:
        await ladder.prepare()
        assert await ladder.measure() == []
