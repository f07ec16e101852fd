"""What the fit expects: of the plan's own group only, in the record, and in a run only once it is locked."""

import pytest
from msgspec.structs import replace

from tests.protocol.stage import STAMP, Stage, plan
from workbench.analysis.verdict import judged
from workbench.ledger.store import append, read
from workbench.protocol.run import Phase

SIZES = {"a": 400_000, "b": 1_000_000, "c": 2_000_000, "d": 8_000_000, "e": 40_000_000}
OVERHEAD_S, GBPS = 0.002, 8.0


async def earlier_runs(stage):
    """Five models of the same machine, runtime, family and format, exactly on one line."""
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("ana", 100.0)])
        template = await measurement.measure()
    stage.ledger.unlink()
    for name, size in SIZES.items():
        seconds = OVERHEAD_S + size / (GBPS * 1e9)
        record = replace(
            template,
            record_id=f"00000000-0000-4000-8000-{size:012d}",
            model=name,
            config_sha256=None,
            files=None,
            last_level_cache_bytes=None,
            weight_bytes_per_token=size,
            generation_tps=1 / seconds,
            ceilings=[],
            predicted_decode_tps=None,
        )
        append(stage.ledger, judged(record))


async def test_a_run_learns_what_the_fit_expects_at_its_lock_and_not_before(tmp_path):
    stage = Stage(tmp_path)
    await earlier_runs(stage)
    seen = []
    async with stage.make(on_change=seen.append) as measurement:
        await measurement.prepare()
        assert measurement.run.phase is Phase.PREDICTING
        assert measurement.plan.fit_estimate is None
        measurement.lock([("ana", 100.0)])
        expected = measurement.plan.fit_estimate
        record = await measurement.measure()
    assert expected.tps == pytest.approx(1 / (OVERHEAD_S + 4_000_000 / (GBPS * 1e9)), rel=1e-6)
    assert expected.low <= expected.tps <= expected.high
    assert record.fit_estimate == expected
    assert read(stage.ledger).records[-1].fit_estimate == expected
    assert all(run.plan.fit_estimate is None for run in seen if not run.locked)


async def test_a_number_locked_before_the_worker_is_there_gets_its_estimate_too(tmp_path):
    stage = Stage(tmp_path)
    await earlier_runs(stage)
    async with stage.make() as measurement:
        measurement.lock([("ana", 100.0)])
        record = await measurement.measure()
    assert record.fit_estimate is not None


async def test_another_machines_runs_expect_nothing_of_this_one(tmp_path):
    stage = Stage(tmp_path)
    await earlier_runs(stage)
    records = [replace(one, device=f"not {STAMP.device}") for one in read(stage.ledger).records]
    stage.ledger.unlink()
    for record in records:
        append(stage.ledger, record)
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("ana", 100.0)])
        assert measurement.plan.fit_estimate is None


async def test_no_earlier_run_no_estimate(tmp_path):
    async with Stage(tmp_path).make(plan()) as measurement:
        await measurement.prepare()
        measurement.lock([("ana", 100.0)])
        assert (await measurement.measure()).fit_estimate is None
