"""IOReport and macmon: what they state, what they leave out, and where a figure is known to be wrong."""

import time
from types import SimpleNamespace

import pytest

from workbench.power.ioreport import IOReport, rails_of
from workbench.power.ioreport import look as look_ioreport
from workbench.power.macmon import JsonLines, read_line
from workbench.power.macmon import look as look_macmon
from workbench.power.meter import Meter
from workbench.power.surroundings import Surroundings

PATIENCE_S = 20.0


def metrics(**mj):
    """The package's metrics object: what the chip does not give is None."""
    names = (
        "cpu_total_mj", "efficiency_cluster_mj", "performance_cluster_mj", "gpu_mj", "ane_mj", "dram_mj",
    )  # fmt: skip
    return SimpleNamespace(**{name: mj.get(name) for name in names})


def mac(chip="Apple M4 Max", module=None, programs=()):
    return Surroundings(
        system="Darwin",
        which=lambda name: f"/opt/{name}" if name in programs else None,
        has_module=lambda _: module is not None,
        load_module=lambda _: module,
        run=lambda argv, timeout_s: (0, chip) if "sysctl" in argv[0] else (127, "no such file"),
    )


def test_the_rails_are_those_that_the_chip_gives():
    assert rails_of(metrics(cpu_total_mj=900, gpu_mj=4000, dram_mj=300), is_ultra=False) == {
        "cpu": 900, "gpu": 4000, "dram": 300,
    }  # fmt: skip


def test_on_two_dies_the_cpu_is_the_sum_of_the_clusters():
    both = metrics(
        cpu_total_mj=500, efficiency_cluster_mj=[40, 60], performance_cluster_mj=[450, 430, 10, 10], gpu_mj=9
    )
    assert rails_of(both, is_ultra=True)["cpu"] == 1000
    assert rails_of(both, is_ultra=False)["cpu"] == 500


@pytest.mark.parametrize(
    "clusters", [{}, {"efficiency_cluster_mj": [40]}, {"performance_cluster_mj": [1, 2, 3]}]
)
def test_on_two_dies_without_their_clusters_the_cpu_rail_stays_out(clusters):
    assert rails_of(metrics(cpu_total_mj=500, gpu_mj=9, **clusters), is_ultra=True) == {"gpu": 9}


def test_cumulative_millijoules_become_intervals_and_the_gpu_a_row_of_its_own():
    class Monitor:
        def __init__(self):
            self.reads = 0

        def get_cumulative_energy(self):
            self.reads += 1
            return metrics(cpu_total_mj=100 * self.reads, gpu_mj=700 * self.reads, ane_mj=0, dram_mj=5)

    place = mac(module=SimpleNamespace(AppleEnergyMonitor=Monitor))
    source = look_ioreport(place)
    assert isinstance(source, IOReport) and not source.is_ultra
    with Meter([IOReport(place, interval_s=0.005)]) as meter:
        for _ in range(4):
            assert meter.wait_for(time.perf_counter_ns(), PATIENCE_S)
        trace = meter.stop()
    rails, gpu = trace.rows
    assert rails.samples[0].rails_mj == {"cpu": 100, "gpu": 700, "ane": 0, "dram": 0}
    assert gpu.samples[0].rails_mj == {"gpu": 700}
    assert rails.samples[1].elapsed_ns == rails.samples[1].at_ns - rails.samples[0].at_ns
    assert rails.row.window_needed_s == 44 and gpu.row.window_needed_s == 10
    assert rails.row.scope() == "SoC CPU+GPU+ANE+DRAM, Apple estimate without root"
    assert gpu.row.scope() == "SoC GPU only, Apple estimate without root, no CPU or ANE or DRAM"


def test_a_counter_that_goes_back_leaves_the_rail_out_of_that_interval():
    readings = iter([metrics(cpu_total_mj=900, gpu_mj=10), metrics(cpu_total_mj=3, gpu_mj=20)])
    monitor = SimpleNamespace(get_cumulative_energy=lambda: next(readings))
    place = mac(module=SimpleNamespace(AppleEnergyMonitor=lambda: monitor))
    meter = Meter([IOReport(place, interval_s=0.001)])
    meter.start()
    assert meter.wait_for(2**62, PATIENCE_S)  # the third reading raises StopIteration
    trace = meter.stop()
    assert [s.rails_mj for s in trace.rows[0].samples] == [{"gpu": 10}]
    assert trace.rows[0].ended is not None


def test_the_binding_s_own_failure_is_a_reason():
    def refuses():
        raise RuntimeError("Failed to create IOReport subscription.")

    meter = Meter([IOReport(mac(module=SimpleNamespace(AppleEnergyMonitor=refuses)))])
    meter.start()
    assert meter.wait_for(2**62, PATIENCE_S)
    assert meter.stop().rows[0].ended == "RuntimeError: Failed to create IOReport subscription."


def test_an_ultra_is_known_by_its_chip_s_name():
    source = look_ioreport(mac(chip="Apple M3 Ultra\n", module=SimpleNamespace()))
    assert isinstance(source, IOReport) and source.is_ultra
    assert source.rows[0].notes == ("two dies: the CPU rail is the sum of the clusters, or missing",)


def test_what_is_not_installed_says_how_it_would_be():
    assert "pip install zeus-apple-silicon" in look_ioreport(mac())
    assert "brew install macmon" in look_macmon(mac())


FLAT = {
    "cpu_power": 0.2,
    "gpu_power": 0.01,
    "ane_power": 0.0,
    "all_power": 0.21,
    "sys_power": 5.9,
    "ram_power": 0.1,
}


def test_macmon_s_line_gives_the_whole_machine_and_the_rails_apart():
    (system_key, system), (rails_key, rails) = read_line(FLAT, 7)
    assert (system_key, system.rails_w, system.at_ns) == ("macmon-system", {"system": 5.9}, 7)
    assert (rails_key, rails.rails_w) == ("macmon", {"cpu": 0.2, "gpu": 0.01, "ane": 0.0, "dram": 0.1})


def test_macmon_s_newer_grouping_is_read_too():
    line = {"power": {"package": 34, "cpu": 4, "gpu": 30, "ane": 0, "ram": 3, "board": 51, "battery": 0}}
    (_, system), (_, rails) = read_line(line, 7)
    assert system.rails_w == {"system": 51} and rails.rails_w == {"cpu": 4, "gpu": 30, "ane": 0, "dram": 3}


@pytest.mark.parametrize("system", [0.0, None, "12", float("nan"), True, -1])
def test_a_whole_machine_figure_of_0_is_missing_and_not_0_w(system):
    assert [key for key, _ in read_line({**FLAT, "sys_power": system}, 7)] == ["macmon"]


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_lines_of_json_may_arrive_in_any_chunks_and_other_lines_are_skipped(chunk):
    data = b'macmon starts\n{"cpu_power": 1}\n[1]\n\xff\n{"cpu_power": 2}\n{"cpu_po'
    lines = JsonLines()
    found = [line for at in range(0, len(data), chunk) for line in lines.feed(data[at : at + chunk])]
    assert found == [{"cpu_power": 1}, {"cpu_power": 2}] and lines.read == 2
