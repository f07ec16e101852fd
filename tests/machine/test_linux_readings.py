"""A recorded tree of /sys and /proc, and what is read from it."""

from workbench.machine import linux

MEMINFO = "MemTotal:       24683656 kB\nSwapTotal:       2097148 kB\nSwapFree:        1048572 kB\n"
CPUINFO = "processor\t: 0\nmodel name\t: AMD EPYC 7763 64-Core Processor\nflags\t\t: fpu vme sse4_2\n"
SUPPLY = "sys/class/power_supply"
CPU = "sys/devices/system/cpu"


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + "\n")
    return root


def test_a_machine_without_a_battery_runs_on_ac(tmp_path):
    assert linux.power_source(tmp_path) == "ac"


def test_a_laptop_says_where_its_power_comes_from(tmp_path):
    laptop = {f"{SUPPLY}/AC/type": "Mains", f"{SUPPLY}/BAT0/type": "Battery"}
    unplugged = laptop | {f"{SUPPLY}/AC/online": "0", f"{SUPPLY}/BAT0/status": "Discharging"}
    assert linux.power_source(write(tmp_path / "off", unplugged)) == "battery"
    plugged = laptop | {f"{SUPPLY}/AC/online": "1", f"{SUPPLY}/BAT0/status": "Full"}
    assert linux.power_source(write(tmp_path / "on", plugged)) == "ac"


def test_the_battery_of_a_mouse_does_not_run_the_machine(tmp_path):
    mouse = {f"{SUPPLY}/hid/type": "Battery", f"{SUPPLY}/hid/scope": "Device"}
    mouse[f"{SUPPLY}/hid/status"] = "Discharging"
    assert linux.power_source(write(tmp_path, mouse)) == "ac"


def test_swap_in_use_is_total_less_free():
    assert linux.swap_used_bytes(MEMINFO) == 1048576 * 1024
    assert linux.swap_used_bytes("SwapTotal: 0 kB\nSwapFree: 0 kB\n") == 0
    assert linux.swap_used_bytes("MemTotal: 1 kB\n") is None


def test_governor_profile_and_throttling_are_read(tmp_path):
    root = write(
        tmp_path,
        {
            "proc/meminfo": MEMINFO,
            f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave",
            f"{CPU}/cpu0/thermal_throttle/package_throttle_count": "7",
            f"{CPU}/cpu1/thermal_throttle/package_throttle_count": "9",
            "sys/firmware/acpi/platform_profile": "low-power",
        },
    )
    found = linux.readings(root)
    assert found["governor"] == "powersave"
    assert found["cpu_throttles"] == 9
    assert found["low_power_mode"] is True
    assert found["throttle_reasons"] == ()
    assert "missing.governor" not in found


def test_what_a_bare_system_lacks_has_a_reason_and_no_value(tmp_path):
    found = linux.readings(tmp_path)
    for name in ("governor", "low_power_mode", "swap_used_bytes", "throttle_reasons", "thermal"):
        assert found.get(name) is None
        assert found[f"missing.{name}"]


def test_the_last_level_cache_is_believed_on_bare_metal_only(tmp_path):
    caches = {
        f"{CPU}/cpu0/cache/index0/level": "1",
        f"{CPU}/cpu0/cache/index0/size": "32K",
        f"{CPU}/cpu0/cache/index3/level": "3",
        f"{CPU}/cpu0/cache/index3/size": "32768K",
        "proc/cpuinfo": CPUINFO,
    }
    assert linux.last_level_cache_bytes(write(tmp_path / "metal", caches)) == 32 * 2**20
    guest = caches | {"proc/cpuinfo": CPUINFO.replace("sse4_2", "sse4_2 hypervisor")}
    assert linux.last_level_cache_bytes(write(tmp_path / "guest", guest)) is None
    assert linux.last_level_cache_bytes(tmp_path / "nothing") is None
    arm = caches | {"proc/cpuinfo": "processor : 0\nFeatures : fp asimd\n"}
    named = arm | {"sys/class/dmi/id/product_name": "Apple Virtualization Generic Platform"}
    assert linux.last_level_cache_bytes(write(tmp_path / "arm", arm)) == 32 * 2**20
    assert linux.last_level_cache_bytes(write(tmp_path / "arm guest", named)) is None


def test_chip_and_product_are_named(tmp_path):
    assert linux.chip(CPUINFO) == "AMD EPYC 7763 64-Core Processor"
    assert linux.chip("processor : 0\n") is None
    board = write(tmp_path / "dmi", {"sys/class/dmi/id/product_name": "PowerEdge R7525"})
    assert linux.hardware_model(board) == "PowerEdge R7525"
    pi = write(tmp_path / "dt", {"proc/device-tree/model": "Raspberry Pi 5 Model B\0"})
    assert linux.hardware_model(pi) == "Raspberry Pi 5 Model B"
    assert linux.hardware_model(tmp_path / "nothing") is None
