"""The witness asked for: a real worker process, watched for time and memory, and what it must not touch."""

import asyncio
import os
from dataclasses import replace
from fractions import Fraction

import psutil
import pytest

from tests.checkpoints import in_memory, materialize
from tests.witness.looking import look
from workbench.accounting.engine import count
from workbench.accounting.overrides import Override
from workbench.checkpoint.reading import open_checkpoint
from workbench.errors import WorkerError
from workbench.locations import cache_dir
from workbench.protocol.witnessing import Limits, Witnessed, seals, witness
from workbench.witness.agreement import Status
from workbench.witness.reasons import NotWitnessed, Reason
from workbench.worker.client import Worker
from workbench.worker.jobs.trace import run
from workbench.worker.messages import TraceRequest

SMALL = "mlx-SmolLM2-135M-4bit"


class Started:
    """Starts real workers and remembers their process ids."""

    def __init__(self):
        self.pids = []

    async def __call__(self, job):
        worker = await Worker.start(job)
        self.pids.append(worker.pid)
        return worker

    def gone(self):
        return bool(self.pids) and not any(psutil.pid_exists(pid) for pid in self.pids)


def blocks(root):
    return {path.name: path.stat().st_blocks for path in root.glob("*.safetensors")}


async def test_377_gb_are_witnessed_and_no_block_of_them_is_touched(tmp_path):
    root = materialize("mlx-DeepSeek-R1-4bit", tmp_path)
    before = blocks(root)
    (reading,) = (await witness(open_checkpoint(root))).readings
    assert reading.weight_bytes == 20_756_402_176
    assert reading.resident_bytes == 377_606_852_608
    assert reading.peak_rss_bytes < 200e6
    assert blocks(root) == before


async def test_weight_files_that_are_gone_are_not_missed(tmp_path):
    root = materialize(SMALL, tmp_path)
    found = open_checkpoint(root)
    for path in root.glob("*.safetensors"):
        path.unlink()
    assert (await witness(found)).readings[0].weight_bytes == 75_715_200


def test_a_local_checkpoint_can_be_named_by_its_path(tmp_path):
    root = materialize(SMALL, tmp_path / "model")
    before = blocks(root)
    said = []
    (tmp_path / "private").mkdir()
    run(TraceRequest(str(tmp_path / "private"), [3], str(root)), said.append)
    assert said[0].reading.reads == look(in_memory(SMALL))[0].reads
    assert blocks(root) == before
    assert not (root / "headers.json").exists()


@pytest.mark.skipif("WORKBENCH_SLOW_TESTS" not in os.environ, reason="9 s of CPU; tests/bench shows it too")
async def test_92_000_tensors_stay_below_300_mb():
    found = in_memory("hf-DeepSeek-V3")
    (reading,) = (await witness(found)).readings
    assert reading.weight_bytes == 37_668_475_232
    assert reading.resident_bytes == count(found).resident_bytes
    assert reading.peak_rss_bytes < 300e6


async def test_the_second_time_no_worker_is_needed():
    started = Started()
    first = await witness(in_memory(SMALL), (3, 209), start=started)
    again = await witness(in_memory(SMALL), (209,), start=started)
    assert first.readings[1:] == again.readings
    assert len(started.pids) == 1
    assert started.gone()
    assert [path.parent for path in (cache_dir() / "witness").iterdir()] == [cache_dir() / "witness"]


async def test_what_fails_at_one_context_is_asked_again_at_another():
    started = Started()
    found = replace(in_memory(SMALL), config={"model_type": "not_yet"})
    for contexts in ((209,), (3,), (3, 209), (209,), (3,)):
        assert (await witness(found, contexts, start=started)).reason is Reason.UNSUPPORTED_TYPE
    assert len(started.pids) == 3


async def test_the_seal_of_a_checkpoint():
    found = in_memory(SMALL)
    (agreement,) = await seals(found, count(found))
    assert (agreement.status, agreement.graph_bytes) == (Status.AGREES, 75_715_200)


async def test_a_gguf_file_and_a_missing_configuration_need_no_worker():
    async def never(_job):
        raise AssertionError("no worker is needed")

    found = in_memory(SMALL)
    assert (await witness(replace(found, gguf={"a": 1}), start=never)).reason is Reason.GGUF
    assert (await witness(replace(found, config={}), start=never)).reason is Reason.NO_CONFIG


async def test_a_reason_comes_through_the_process_and_is_remembered():
    started = Started()
    found = replace(in_memory(SMALL), config={"model_type": "not_yet"})
    first = await witness(found, start=started)
    assert first == NotWitnessed(
        Reason.UNSUPPORTED_TYPE, "this mlx-lm does not know the model type (not_yet)"
    )
    assert await witness(found, start=started) == first
    assert len(started.pids) == 1


async def test_the_quantization_that_lies_beside_the_configuration_counts(tmp_path):
    root = materialize("hf-Llama-3.2-1B-Instruct", tmp_path)
    assert isinstance(await witness(open_checkpoint(root)), Witnessed)
    (root / "hf_quant_config.json").write_text(
        '{"quantization": {"quant_algo": "FP8"}, "quant_method": "modelopt"}'
    )
    found = await witness(open_checkpoint(root))
    assert found.reason is Reason.UNSUPPORTED_QUANTIZATION
    assert "FP8" in found.words


async def test_a_trace_that_takes_too_long_is_stopped_and_not_remembered():
    started = Started()
    late = await witness(in_memory(SMALL), limits=Limits(time_s=0.05), start=started)
    assert late.reason is Reason.OUT_OF_TIME
    assert started.gone()
    assert isinstance(await witness(in_memory(SMALL), start=started), Witnessed)


async def test_a_trace_that_grows_too_large_is_stopped():
    started = Started()
    limits = Limits(memory_bytes=20_000_000, poll_s=0.01)
    large = await witness(in_memory(SMALL), limits=limits, start=started)
    assert large.reason is Reason.OUT_OF_MEMORY
    assert started.gone()


async def test_cancelling_ends_the_worker():
    started = Started()
    task = asyncio.create_task(witness(in_memory(SMALL), start=started))
    while not started.pids:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert started.gone()


async def test_a_worker_that_dies_is_a_reason_in_words():
    async def doomed(job):
        worker = await Worker.start(job)
        psutil.Process(worker.pid).kill()
        return worker

    died = await witness(in_memory(SMALL), start=doomed)
    assert died.reason is Reason.CRASHED
    assert "SIGKILL" in died.words


async def test_a_worker_that_cannot_start_is_a_reason_in_words():
    async def impossible(_job):
        raise WorkerError("The worker process could not be started: no room.")

    assert "no room" in (await witness(in_memory(SMALL), start=impossible)).words


async def test_the_graph_is_held_against_the_rules_and_not_against_a_persons_word():
    found = in_memory(SMALL)
    overridden = count(found, [Override("model.norm.weight", "a test", share=Fraction(5))])
    assert overridden.weight_bytes > count(found).weight_bytes
    assert [seal.difference for seal in await seals(found, overridden, (3, 209))] == [0, 0]
