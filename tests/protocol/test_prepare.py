"""Jobs before a run, with scripted workers: figures, their sources, and what the ledger keeps of them."""

from dataclasses import replace

import pytest

from tests.protocol.stage import STAMP, ScriptedWorker, nobody, still
from workbench.errors import CheckpointError, LedgerError, WorkerError
from workbench.ledger import store
from workbench.machine.stamp import Facts, compose
from workbench.prediction.ceiling import BandwidthKind
from workbench.protocol import prepare
from workbench.protocol.watch import Watch
from workbench.worker import messages as m

KERNELS = [
    m.KernelBandwidth("sum", "uint32", 268_000_000, 8, 8, 24.96, 23.1),
    m.KernelBandwidth("sum", "float32", 268_000_000, 8, 8, 4.81, 4.8),
]


class Jobs:
    def __init__(self, *script):
        self.script = script
        self.workers = []

    async def spawn(self, job):
        self.job = job
        self.workers.append(ScriptedWorker(self.script))
        return self.workers[-1]


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.jsonl"


async def probed(ledger, *, script=None, **given):
    jobs = Jobs(*(script or (m.Probed(KERNELS, threads=2), m.Finished())))
    watch = Watch(sample=still, processes=nobody)
    found = await prepare.probe(ledger=ledger, spawn=jobs.spawn, watch=watch, **given)
    assert jobs.workers[0].stopped.is_set()
    return *found, jobs


async def test_the_best_kernel_is_the_figure_and_all_are_evidence(ledger):
    figure, record, jobs = await probed(ledger, quick=False, repeats=5, size_bytes=77)
    assert (figure.gbps, figure.kind) == (24.96, BandwidthKind.ACHIEVED)
    assert figure.source.startswith("workbench probe: sum uint32, 268 MB x 8 batched, best of 8, 2 threads,")
    assert figure.source.endswith(record.date[:10])
    assert [k.kernel for k in record.kernels] == ["sum", "sum"]
    assert (record.experiment, record.threads, record.achieved_gbps) == ("bandwidth", 2, 24.96)
    assert (record.device, record.thermal_start) == ("Test Chip", "nominal")
    request = jobs.workers[0].request
    assert (request.quick, request.repeats, request.bytes) == (False, 5, 77)
    assert store.read(ledger).records == [record]


async def test_a_long_probe_says_which_kernel_it_is_at(ledger):
    begins = [m.Probing("sum", "uint32", 0, 2), m.Probing("matvec", "4-bit", 1, 2)]
    heard = []
    await probed(ledger, script=(*begins, m.Probed(KERNELS), m.Finished()), on_kernel=heard.append)
    assert heard == begins


async def test_figures_are_kept_per_machine_newest_first_and_a_discarded_one_is_not_offered(ledger):
    _, first, _ = await probed(ledger)
    older = replace_record(first, record_id="older", date="2020-01-01T00:00:00+00:00", achieved_gbps=20.0)
    other = replace_record(first, record_id="other", device="Another Chip")
    wrong = replace_record(first, record_id="wrong", date="2990-01-01T00:00:00+00:00", achieved_gbps=99.0)
    for record in (older, other, wrong):
        store.append(ledger, record)
    store.append(
        ledger,
        replace_record(first, record_id="d", status="discarding", discards="wrong", achieved_gbps=None),
    )
    here = compose(Facts(memory_bytes=first.memory_bytes), STAMP)
    assert [figure.gbps for figure in prepare.stored_figures(here, ledger)] == [24.96, 20.0]
    elsewhere = compose(Facts(memory_bytes=1), STAMP)
    assert prepare.stored_figures(elsewhere, ledger) == []


def replace_record(record, **changes):
    from msgspec.structs import replace as changed

    return changed(record, **changes)


async def test_a_probe_that_fails_is_an_error_in_words_and_no_record(ledger):
    with pytest.raises(WorkerError, match="ran out of memory"):
        await probed(ledger, script=(m.Failed("out_of_memory", "It ran out of memory.", "Close programs."),))
    with pytest.raises(WorkerError, match="gave no figure"):
        await probed(ledger, script=(m.Probed([]), m.Finished()))
    assert not ledger.exists()


async def test_a_probe_on_a_busy_machine_says_so(ledger):
    async def hot(*, gpu, brief):
        return replace(await still(gpu=gpu, brief=brief), low_power_mode=True)

    jobs = Jobs(m.Probed(KERNELS), m.Finished())
    watch = Watch(sample=hot, processes=nobody)
    _, record = await prepare.probe(ledger=ledger, spawn=jobs.spawn, watch=watch)
    assert record.verdict_reasons == ["Low power mode was on."]


async def test_a_probe_whose_record_is_not_taken_says_where_it_is(ledger):
    ledger.mkdir()
    with pytest.raises(LedgerError):
        await probed(ledger)


async def test_the_stamp_is_the_workers_first_word(ledger):
    jobs = Jobs(m.Finished())
    assert await prepare.worker_stamp(spawn=jobs.spawn) == STAMP
    assert jobs.job == "stamp"
    assert jobs.workers[0].stopped.is_set()


async def test_an_unknown_synthetic_checkpoint_starts_nothing():
    with pytest.raises(CheckpointError, match="no synthetic checkpoint 'dense-1gb'") as raised:
        await prepare.ensure_built(["dense-1gb"], spawn=None)
    assert "dense-20mb" in raised.value.hint
