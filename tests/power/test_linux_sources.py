"""RAPL and the battery, from the files that Linux shows."""

import os
import time
from pathlib import Path

import pytest

from workbench.power.battery import Battery, ioreg_watts, linux_watts
from workbench.power.battery import look as look_battery
from workbench.power.meter import Meter
from workbench.power.rapl import Rapl, zones_below
from workbench.power.rapl import look as look_rapl
from workbench.power.surroundings import Surroundings

PATIENCE_S = 20.0


def zone(root: Path, name: str, kind: str, energy_uj: int = 0, wraps_at_uj: int = 262_143_328_850) -> Path:
    folder = root / "sys/class/powercap" / name
    folder.mkdir(parents=True)
    (folder / "name").write_text(kind + "\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    (folder / "max_energy_range_uj").write_text(f"{wraps_at_uj}\n")
    return folder / "energy_uj"


def count_on(counter: Path, energy_uj: int) -> None:
    """A new value that no reader ever sees half written."""
    new = counter.with_suffix(".new")
    new.write_text(f"{energy_uj}\n")
    new.replace(counter)


def linux(root: Path) -> Surroundings:
    return Surroundings(system="Linux", root=root)


def test_packages_and_dram_are_rails_and_what_lies_inside_a_package_is_left_out(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0")
    zone(tmp_path, "intel-rapl:0:0", "core")
    zone(tmp_path, "intel-rapl:0:1", "dram")
    zone(tmp_path, "intel-rapl:1", "package-1")
    zone(tmp_path, "intel-rapl:2", "psys")
    assert [(z.rail, z.counter.parent.name) for z in zones_below(tmp_path)] == [
        ("cpu", "intel-rapl:0"), ("dram", "intel-rapl:0:1"), ("cpu", "intel-rapl:1"),
    ]  # fmt: skip


def test_counters_are_differences_and_wrap(tmp_path):
    first = zone(tmp_path, "intel-rapl:0", "package-0", 1_000_000, wraps_at_uj=1_500_000)
    second = zone(tmp_path, "intel-rapl:1", "package-1", 0)
    source = look_rapl(linux(tmp_path))
    assert isinstance(source, Rapl)
    with Meter([Rapl(source.zones, interval_s=0.02)]) as meter:
        assert meter.wait_for(0, PATIENCE_S)
        still = meter.trace().rows[0].samples
        count_on(second, 7000)
        count_on(first, 200_000)  # 0.7 J on, past the end of the range
        deadline = time.monotonic() + PATIENCE_S
        while (
            sum(s.rails_mj["cpu"] for s in meter.trace().rows[0].samples) < 707
            and time.monotonic() < deadline
        ):
            meter.wait_for(time.perf_counter_ns(), 1)
        trace = meter.stop()
    assert still[0].rails_mj == {"cpu": 0.0}
    assert sum(s.rails_mj["cpu"] for s in trace.rows[0].samples) == pytest.approx(707)
    assert trace.rows[0].row.scope(trace.rows[0].rails) == "host CPU, RAPL counter, no DRAM or GPU"


def test_a_machine_without_rapl_says_so(tmp_path):
    assert "no RAPL counters" in look_rapl(linux(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_counters_that_only_root_may_read_are_a_reason(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0").chmod(0)
    assert "readable by root only" in look_rapl(linux(tmp_path))


def test_an_unreadable_counter_is_a_reason(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0").write_text("denied\n")
    assert "readable by root only" in look_rapl(linux(tmp_path))


def battery(root: Path, name: str = "BAT0", **files: str) -> None:
    folder = root / "sys/class/power_supply" / name
    folder.mkdir(parents=True)
    for file, text in files.items():
        (folder / file).write_text(text + "\n")


def test_a_discharging_battery_states_the_whole_machine_s_watts(tmp_path):
    battery(tmp_path, status="Discharging", power_now="12500000")
    battery(tmp_path, "BAT1", status="Discharging", voltage_now="11000000", current_now="-500000")
    assert linux_watts(tmp_path) == pytest.approx(18.0)
    found = look_battery(linux(tmp_path))
    assert isinstance(found, Battery) and found.rows[0].whole_machine


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"status": "Charging", "power_now": "1"}, "runs on its charger"),
        ({"status": "Discharging"}, "states neither power nor volts"),
        ({"status": "Discharging", "power_now": "?"}, "states neither power nor volts"),
    ],
)
def test_a_battery_that_cannot_tell_says_why(tmp_path, files, words):
    battery(tmp_path, **files)
    assert words in look_battery(linux(tmp_path))


def test_a_machine_without_a_battery_says_so(tmp_path):
    assert look_battery(linux(tmp_path)) == "this machine has no battery"


def test_plugging_the_charger_in_ends_the_row(tmp_path):
    battery(tmp_path, status="Discharging", power_now="12500000")
    with Meter([Battery(lambda: linux_watts(tmp_path), interval_s=0.005)]) as meter:
        assert meter.wait_for(0, PATIENCE_S)
        (tmp_path / "sys/class/power_supply/BAT0/status").write_text("Charging\n")
        assert meter.wait_for(2**62, PATIENCE_S)
        row = meter.stop().rows[0]
    assert row.samples[0].rails_w == {"system": 12.5} and row.ended is not None and "charger" in row.ended


def ioreg(**gauge: object) -> bytes:
    words = {bool: lambda v: f"<{str(v).lower()}/>", int: lambda v: f"<integer>{v}</integer>"}
    keys = "".join(f"<key>{key}</key>{words[type(value)](value)}" for key, value in gauge.items())
    return f'<plist version="1.0"><array><dict>{keys}</dict></array></plist>'.encode()


def test_a_mac_s_battery_wraps_its_negative_amperes():
    on_battery = ioreg(ExternalConnected=False, Voltage=12_000, InstantAmperage=2**64 - 1_500)
    assert ioreg_watts(on_battery) == pytest.approx(18.0)


@pytest.mark.parametrize(
    ("plist", "words"),
    [
        (b"", "no battery"),
        (b'<plist version="1.0"><array/></plist>', "no battery"),
        (ioreg(ExternalConnected=True, Voltage=12_000, InstantAmperage=2**64 - 5), "runs on its charger"),
        (ioreg(ExternalConnected=False, Voltage=12_000), "states no volts and amperes"),
        (ioreg(ExternalConnected=False, Voltage=12_000, InstantAmperage=500), "not discharging"),
        (b"<plist", "could not be read"),
    ],
)
def test_a_mac_s_battery_that_cannot_tell_says_why(plist, words):
    assert words in ioreg_watts(plist)


def test_on_a_mac_the_battery_is_asked_through_ioreg():
    answer = ioreg(ExternalConnected=False, Voltage=12_000, InstantAmperage=2**64 - 1_000).decode()
    found = look_battery(Surroundings(system="Darwin", run=lambda argv, timeout_s: (0, answer)))
    assert isinstance(found, Battery) and found.read() == pytest.approx(12.0)
    assert "exit status 1" in look_battery(Surroundings(system="Darwin", run=lambda argv, timeout_s: (1, "")))
