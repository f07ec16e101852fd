"""The protocol with the real worker on tiny synthetic checkpoints: runs, deaths, and what is left on disk."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace as changed

from tests.protocol.stage import NO_POWER
from tests.worker.conversation import gone_within, is_running
from workbench.accounting.engine import count
from workbench.analysis.verdict import judged
from workbench.checkpoint.checkpoint import State
from workbench.checkpoint.reading import open_checkpoint
from workbench.ledger import store
from workbench.ledger.record import digest
from workbench.locations import ledger_path, locks_dir
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.protocol import prepare
from workbench.protocol.accounts import figure_fields
from workbench.protocol.headless import measured
from workbench.protocol.ladder import Ladder
from workbench.protocol.plan import Plan, RunSettings
from workbench.protocol.recover import recover
from workbench.protocol.run import Phase
from workbench.protocol.steps import Measurement

SHORT = RunSettings(prompt_tokens=12, max_tokens=16, warmup_tokens=2, repeats=2)
ENDLESS = replace(SHORT, max_tokens=100_000, repeats=1)


def plan_of(path, **changes):
    checkpoint = open_checkpoint(path)
    figure = BandwidthFigure(20.0, BandwidthKind.STATED, "for a test")
    return Plan(checkpoint, count(checkpoint), **({"bandwidths": (figure,), "settings": SHORT} | changes))


def make(plan, **given):
    return Measurement(plan, power=NO_POWER, **given)


async def started(measurement, phase=Phase.DECODING):
    """Run the measurement in a task until it reaches `phase`; the task."""
    reached = asyncio.Event()
    measurement._on_change = lambda run: reached.set() if run.phase is phase else None
    await measurement.prepare()
    measurement.lock([("", 500.0)])
    running = asyncio.create_task(measurement.measure())
    await asyncio.wait_for(reached.wait(), 30)
    return running


async def test_a_whole_run_leaves_a_record_that_any_tool_can_check(tiny):
    command = ("/usr/bin/workbench", "measure", str(Path.home() / "tiny-mixture"), "--predict", "500")
    outcome = await measured(plan_of(tiny["tiny-mixture"], command=command), [("", 500.0)], make=make)
    (record,) = store.read(ledger_path()).records
    assert outcome.exit_code == 0
    assert record == outcome.record
    assert record.sha256 == digest(record)
    assert (record.status, record.synthetic_weights, record.prompt_tokens) == ("measured", True, 12)
    assert record.predicted_at < record.loaded_at
    assert [len(steps) for steps in record.token_times_ns] == [15, 15]
    rates = [15e9 / sum(steps) for steps in record.token_times_ns]
    assert record.repeats_tps == pytest.approx(rates)
    assert record.generation_tps == pytest.approx(sum(rates) / 2)
    assert record.generation_tps_mlx_lm == pytest.approx(record.generation_tps * 16 / 15, rel=0.05)
    assert record.weight_bytes_per_token == record.seed_rule_bytes_per_token == 607_856
    assert (record.weight_bytes_vision, record.experts, record.experts_per_token) == (225_152, 8, 2)
    assert any("synthetic" in reason for reason in record.verdict_reasons)
    assert list(locks_dir().iterdir()) == []
    text = ledger_path().read_text()
    assert "NaN" not in text
    assert str(Path.home()) + "/" not in text
    assert record.command[2] == "~/tiny-mixture"
    if len(socket.gethostname()) > 3:
        assert socket.gethostname() not in text


async def test_a_worker_that_is_killed_leaves_a_failed_record_and_the_next_run_works(tiny):
    async with make(plan_of(tiny["tiny-1"], settings=ENDLESS)) as measurement:
        running = await started(measurement)
        os.kill(measurement.run.worker_pid, signal.SIGKILL)
        record = await asyncio.wait_for(running, 10)
    assert record.status == "failed"
    assert "SIGKILL" in record.reason
    assert record.generation_tps is None
    again = await measured(plan_of(tiny["tiny-1"]), [("", 500.0)], make=make)
    assert again.record.status == "measured"
    assert again.record.earlier_runs_seen == 1
    assert again.record.seconds_since_last_run is not None


async def test_a_worker_that_dies_while_a_number_is_thought_of_is_replaced_before_the_run(tiny):
    async with make(plan_of(tiny["tiny-1"])) as measurement:
        await measurement.prepare()
        first = measurement._worker._process
        os.kill(first.pid, signal.SIGKILL)
        await first._process.wait()
        measurement.lock([("", 500.0)])
        record = await measurement.measure()
    assert record.status == "measured"
    assert measurement.run.worker_pid != first.pid
    assert len(ledger_path().read_text().splitlines()) == 1


async def test_the_stop_key_ends_a_real_worker_within_a_second(tiny):
    async with make(plan_of(tiny["tiny-1"], settings=ENDLESS)) as measurement:
        running = await started(measurement)
        began = time.monotonic()
        await measurement.cancel()
        took = time.monotonic() - began
        record = await running
    assert took < 1.0
    assert record.status == "cancelled"
    assert "Repeat 1 of 1 had reached" in record.reason
    assert not is_running(measurement.run.worker_pid)


async def test_a_checkpoint_that_does_not_load_is_a_failed_record_in_words(tiny, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(tiny["tiny-1"], broken)
    (broken / "tokenizer.json").unlink()
    plan = plan_of(broken)
    plan = replace(plan, checkpoint=replace(plan.checkpoint, state=State.COMPLETE))
    outcome = await measured(plan, [("", 500.0)], make=make)
    assert outcome.exit_code == 4
    assert outcome.record.status == "failed"
    assert "tokenizer" in outcome.record.reason
    assert "Traceback" not in outcome.record.reason


async def test_all_bytes_on_purpose_is_flagged_with_the_right_count_beside_it(tiny):
    plan = plan_of(tiny["tiny-mixture"], rule="all-bytes")
    record = (await measured(plan, [("", 500.0)], make=make)).record
    assert record.weight_bytes_per_token_without_overrides == 607_856
    # Judged by a bus that carries half as much again as the right count needed at this very rate.
    gbps = 1.5 * record.generation_tps * 607_856 / 1e9
    bus = replace(plan, bandwidths=(BandwidthFigure(gbps, BandwidthKind.SPEC, "for a test"),))
    flagged = judged(changed(record, **figure_fields(bus)))
    assert (flagged.verdict, flagged.rule) == ("counting error", "all-bytes")
    assert any("experts" in words for words in flagged.excess_explained_by)
    values = {fraction.of.rsplit(", ", 1)[1]: fraction.value for fraction in flagged.fractions}
    assert values["all-bytes"] == pytest.approx(1_553_904 / 607_856 / 1.5)
    assert values["count"] == pytest.approx(1 / 1.5)


async def test_a_ladder_of_real_checkpoints_leaves_a_record_each(tiny):
    plans = [plan_of(tiny[name], experiment="ladder") for name in ("tiny-1", "tiny-2")]
    async with Ladder(plans, make=make) as ladder:
        await ladder.prepare()
        ladder.lock(0, [("", 500.0)])
        ladder.lock(1, [("", 400.0)])
        records = await ladder.measure()
    assert [(r.model, r.status) for r in records] == [("tiny-1", "measured"), ("tiny-2", "measured")]
    assert max(r.predicted_at for r in records) < min(r.loaded_at for r in records)


RUN = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from tests.protocol.test_end_to_end import ENDLESS, make, plan_of
from workbench.protocol.run import Phase

def say(run):
    if run.phase is Phase.DECODING:
        print(run.worker_pid, flush=True)

async def main():
    async with make(plan_of(Path(sys.argv[1]), settings=ENDLESS), on_change=say) as measurement:
        await measurement.prepare()
        measurement.lock([("ana", 123.0)])
        await measurement.measure()

asyncio.run(main())
"""


def test_a_workbench_killed_with_9_leaves_no_worker_and_an_interrupted_record(tiny):
    workbench = subprocess.Popen(
        [sys.executable, "-c", RUN, str(tiny["tiny-1"])],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    worker_pid = int(workbench.stdout.readline())
    assert recover().records == ()  # it runs: its lock is its own
    workbench.send_signal(signal.SIGKILL)
    workbench.wait()
    workbench.stdout.close()
    assert gone_within(worker_pid, 2.0)
    (record,) = recover().records
    assert record.status == "interrupted"
    assert (record.predicted_by, record.predicted_tps_human) == ("ana", 123.0)
    assert record.predicted_at < record.loaded_at
    assert record.mlx_lm
    assert recover().records == ()
    assert len(store.read(ledger_path()).records) == 1


async def test_missing_synthetic_checkpoints_are_built_once(tmp_path):
    built = []
    paths = await prepare.ensure_built(["synthetic/tiny-1"], built.append)
    assert [one.name for one in built] == ["tiny-1"]
    assert (paths["tiny-1"] / "model.safetensors").exists()

    async def no_worker(job):
        raise AssertionError("nothing is missing")

    assert await prepare.ensure_built(["tiny-1"], spawn=no_worker) == paths


async def test_a_real_probe_is_recorded_and_offered_by_name():
    figure, record = await prepare.probe(size_bytes=4 * 2**20, repeats=2, alias="office")
    assert figure.kind is BandwidthKind.ACHIEVED
    assert figure.gbps == pytest.approx(record.achieved_gbps, abs=0.01)
    assert "uint32" in figure.source
    stamp = await prepare.machine_stamp("office")
    assert prepare.stored_figures(stamp) == [figure]
    assert (record.experiment, record.alias, record.status) == ("bandwidth", "office", "measured")
    assert msgspec.json.decode(ledger_path().read_bytes())["kernels"]
