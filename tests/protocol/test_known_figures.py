"""Which bandwidth figures are known of a machine: published ones, and what an NVIDIA GPU's own bus gives."""

import pytest

from workbench.machine import nvidia
from workbench.machine.stamp import Facts, compose
from workbench.protocol.bandwidths import known_figures, published_figures
from workbench.worker.messages import Stamp


@pytest.fixture
def bus(monkeypatch):
    """The H200's bus as its driver tells it; the questions asked are counted."""
    asked = []

    def memory_bus():
        asked.append(1)
        return 6016, 3201.0

    monkeypatch.setattr(nvidia, "memory_bus", memory_bus)
    return asked


def test_an_nvidia_gpus_own_bus_gives_a_theoretical_figure_beside_the_data_sheets(bus, tmp_path):
    stamp = compose(Facts(), Stamp(device="NVIDIA H200", backend="cuda"))
    known = known_figures(stamp, ledger=tmp_path / "ledger.jsonl")
    assert [figure.name for figure in known.figures] == ["spec 4800 GB/s", "theoretical 4814.3 GB/s"]
    assert "6016 bit x 2 x 3201 MHz" in known.figures[1].source


def test_a_gpu_that_no_table_knows_has_its_buss_figure(bus):
    answer = published_figures("NVIDIA Unheard Of", None, None)
    assert [figure.name for figure in answer.figures] == ["theoretical 4814.3 GB/s"]
    assert answer.question == ""


def test_a_driver_that_does_not_answer_leaves_the_data_sheets_figure(monkeypatch):
    monkeypatch.setattr(nvidia, "memory_bus", lambda: None)
    assert [figure.name for figure in published_figures("NVIDIA H200", None, None).figures] == [
        "spec 4800 GB/s"
    ]
    assert "No figure of NVIDIA's" in published_figures("NVIDIA Unheard Of", None, None).question


@pytest.mark.parametrize("device", ["Apple M3 Ultra", "Intel(R) Xeon(R) Processor", None])
def test_no_driver_is_asked_about_another_vendors_device(bus, device):
    published_figures(device, 80, 512 * 2**30)
    assert not bus
