import pytest

from tests.worker.conversation import collect, only
from workbench.worker.jobs.probe_size import last_cache_bytes
from workbench.worker.messages import Failed, Probed, ProbeRequest, Probing, Ready


def test_every_kernel_of_the_full_probe_gives_a_sane_figure():
    reports = collect("probe", ProbeRequest(bytes=2**22, repeats=3, quick=False))
    (probed,) = only(reports, Probed)
    for kernel in probed.kernels:
        assert 0 < kernel.median_gbps <= kernel.best_gbps < 20_000, kernel
        assert 2 <= kernel.repeats <= 3 and kernel.batched >= 1
    names = {(kernel.kernel, kernel.dtype) for kernel in probed.kernels}
    assert {
        ("sum", "uint32"),
        ("sum", "float32"),
        ("copy", "float32"),
        ("matvec", "float32"),
        ("matvec", "bfloat16"),
        ("matvec", "4-bit"),
    } <= names
    sums = [kernel for kernel in probed.kernels if kernel.kernel == "sum"]
    assert all(kernel.bytes == 2**20 for kernel in sums)  # a quarter of the probe's size each
    if only(reports, Ready)[0].stamp.backend == "cpu":
        assert probed.threads >= 1
    told = only(reports, Probing)
    assert [(one.kernel, one.dtype) for one in told] == [(one.kernel, one.dtype) for one in probed.kernels]
    assert [(one.index, one.of) for one in told] == [(index, len(told)) for index in range(len(told))]


def test_the_quick_probe_runs_reductions_only():
    (probed,) = only(collect("probe", ProbeRequest(bytes=2**22, repeats=2)), Probed)
    assert {kernel.kernel.split(",")[0] for kernel in probed.kernels} == {"sum"}


@pytest.mark.parametrize("wrong", [{"bytes": 100}, {"repeats": 0}])
def test_a_probe_of_nothing_is_refused(wrong):
    (failed,) = only(collect("probe", ProbeRequest(**{"bytes": 2**22} | wrong)), Failed)
    assert failed.code == "usage"


def test_a_probe_beyond_the_memory_is_refused_before_anything_is_filled():
    (failed,) = only(collect("probe", ProbeRequest(bytes=2**50)), Failed)
    assert failed.code == "out_of_memory"
    assert "1,125,899,907 MB" in failed.message


def test_the_last_cache_is_the_largest_that_the_system_names(tmp_path):
    for index, size in enumerate(["48K", "2048K", "32M", "what"]):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(size + "\n")
    assert last_cache_bytes(tmp_path) == 32 * 2**20
    assert last_cache_bytes(tmp_path / "none") == 0
