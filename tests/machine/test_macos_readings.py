"""Recorded text of macOS commands, and what is read from it."""

import pytest

from workbench.machine import macos

PMSET_OLD = """\
System-wide power settings:
 SleepDisabled          0
Currently in use:
 lidwake              1
 lowpowermode         1
 standbydelayhigh     86400
 sleep                1 (sleep prevented by bluetoothd, coreaudiod)
 disksleep            10
"""
PMSET_HIGH = """\
System-wide power settings:
Currently in use:
 standby              1
 powermode            2
 sleep                1 (sleep prevented by caffeinate)
"""
PMSET_DESKTOP = """\
System-wide power settings:
Currently in use:
 standby              0
 Sleep On Power Button 1
 powernap             1
 sleep                0
 ttyskeepawake        1
"""
BATT_AC = """\
Now drawing from 'AC Power'
 -InternalBattery-0 (id=22806627)\t100%; charged; 0:00 remaining present: true
"""
IOREG_M2 = """\
+-o AGXAcceleratorG14G  <class AGXAcceleratorG14G, id 0x100000217, registered, matched, active>
  {
    "gpu-core-count" = 10
    "model" = "Apple M2"
    "PerformanceStatistics" = {"Alloc system memory"=2594603008,"Device Utilization %"=16}
  }
"""
SW_VERS = "ProductName:\t\tmacOS\nProductVersion:\t\t14.2.1\nBuildVersion:\t\t23C71\n"
SYSCTL_CHIP = "hw.model: Mac15,14\nmachdep.cpu.brand_string: Apple M3 Ultra\n"
SYSCTL_MEMORY = (
    "vm.swapusage: total = 13312.00M  used = 11625.69M  free = 1686.31M  (encrypted)\n"
    "kern.memorystatus_vm_pressure_level: 2\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PMSET_OLD, True),
        (PMSET_OLD.replace("lowpowermode         1", "lowpowermode         0"), False),
        (PMSET_HIGH, False),
        (PMSET_HIGH.replace("powermode            2", "powermode            1"), True),
        (PMSET_HIGH.replace("powermode            2", "powermode            0"), False),
        (PMSET_DESKTOP, None),
        ("", None),
    ],
)
def test_low_power_mode_is_read_under_both_of_its_names(text, expected):
    assert macos.low_power_mode(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BATT_AC, "ac"),
        ("Now drawing from 'AC Power'\n", "ac"),
        ("Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t80%; discharging\n", "battery"),
        ("Now drawing from 'UPS Power'\n", "battery"),
        ("", None),
    ],
)
def test_the_power_source_is_the_first_line_of_pmset_batt(text, expected):
    assert macos.power_source(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("com.apple.system.thermalpressurelevel 0\n", "nominal"),
        ("com.apple.system.thermalpressurelevel 1\n", "moderate"),
        ("com.apple.system.thermalpressurelevel 2\n", "heavy"),
        ("com.apple.system.thermalpressurelevel 3\n", "trapping"),
        ("com.apple.system.thermalpressurelevel 4\n", "sleeping"),
        ("com.apple.system.thermalpressurelevel 9\n", None),
        ("com.apple.system.thermalpressurelevel failed\n", None),
        ("", None),
    ],
)
def test_the_thermal_pressure_level_is_a_word(text, expected):
    assert macos.thermal_pressure(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SYSCTL_MEMORY, int(11625.69 * 2**20)),
        ("vm.swapusage: total = 2.00G  used = 512,50M  free = 1.50G\n", int(512.5 * 2**20)),
        ("vm.swapusage: total = 0.00M  used = 0.00M  free = 0.00M  (encrypted)\n", 0),
        ("", None),
    ],
)
def test_swap_in_use_is_read_in_binary_units(text, expected):
    assert macos.swap_used_bytes(text) == expected


def test_memory_pressure_is_the_kernels_own_level():
    assert macos.memory_pressure(SYSCTL_MEMORY) == "warning"
    assert macos.memory_pressure("kern.memorystatus_vm_pressure_level: 1\n") == "normal"
    assert macos.memory_pressure("kern.memorystatus_vm_pressure_level: 4\n") == "critical"
    assert macos.memory_pressure("kern.memorystatus_vm_pressure_level: 3\n") is None


def test_the_chip_is_named_with_its_model_and_gpu_cores():
    assert macos.gpu_cores(IOREG_M2) == 10
    assert macos.gpu_cores("") is None
    assert macos.hardware_model(SYSCTL_CHIP) == "Mac15,14"
    assert macos.chip(SYSCTL_CHIP) == "Apple M3 Ultra"
    assert macos.build(SW_VERS) == "23C71"
    assert macos.build("") is None


async def test_a_mac_is_sampled_through_its_commands(monkeypatch):
    said = {
        ("notifyutil", "-g", "com.apple.system.thermalpressurelevel"): (
            "com.apple.system.thermalpressurelevel 2\n"
        ),
        ("sysctl", "vm.swapusage", "kern.memorystatus_vm_pressure_level"): SYSCTL_MEMORY,
        ("pmset", "-g"): PMSET_OLD,
        ("pmset", "-g", "batt"): BATT_AC,
    }
    asked = []

    async def text_of(*argv):
        asked.append(argv)
        return said[argv]

    monkeypatch.setattr(macos, "text_of", text_of)
    found = await macos.readings(brief=False)
    assert (found["thermal"], found["low_power_mode"], found["power_source"]) == ("heavy", True, "ac")
    assert found["memory_pressure"] == "warning"

    asked.clear()
    brief = await macos.readings(brief=True)
    assert len(asked) == 2
    assert "low_power_mode" not in brief


async def test_a_command_that_says_nothing_leaves_a_reason(monkeypatch):
    async def text_of(*argv):
        return None

    monkeypatch.setattr(macos, "text_of", text_of)
    found = await macos.readings(brief=False)
    assert found["thermal"] is None
    assert found["missing.thermal"] == "`notifyutil -g com.apple.system.thermalpressurelevel` did not say"
    assert "pmset" in found["missing.power_source"]
