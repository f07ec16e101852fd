"""What macOS tells without root: power, thermal pressure, memory, and facts of the chip.

One thin parse function per command, so that recorded text can stand for a Mac.
"""

import asyncio
import os
import re
from typing import Any

from workbench.machine.commands import text_of

THERMAL_LEVELS = ("nominal", "moderate", "heavy", "trapping", "sleeping")
"""macOS's thermal pressure levels 0 to 4, mildest first (libkern/OSThermalNotification.h)."""


_THERMAL_KEY = "com.apple.system.thermalpressurelevel"
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PRESSURES = {1: "normal", 2: "warning", 4: "critical"}  # sys/kern_memorystatus.h


async def readings(*, brief: bool) -> dict[str, Any]:
    """Readings for a `Sample`. A brief one asks only what changes within a run."""
    thermal, memory = await asyncio.gather(
        text_of("notifyutil", "-g", _THERMAL_KEY),
        text_of("sysctl", "vm.swapusage", "kern.memorystatus_vm_pressure_level"),
    )
    found: dict[str, Any] = {
        "thermal": thermal_pressure(thermal or ""),
        "swap_used_bytes": swap_used_bytes(memory or ""),
        "memory_pressure": memory_pressure(memory or ""),
        "load1": os.getloadavg()[0],
        "missing.governor": "macOS has no frequency governor",
        "missing.gpu_clock_mhz": "macOS tells the GPU clock to root only",
        "missing.gpu_pids": "macOS does not tell who else computes on the GPU",
        "missing.throttle_reasons": "macOS names no throttle reasons; see the thermal level",
    }
    if not brief:
        modes, source = await asyncio.gather(text_of("pmset", "-g"), text_of("pmset", "-g", "batt"))
        found["low_power_mode"] = low_power_mode(modes or "")
        found["power_source"] = power_source(source or "")
    for name, command in _COMMANDS.items():
        if name in found and found[name] is None:
            found[f"missing.{name}"] = f"`{command}` did not say"
    return found


_COMMANDS = {
    "thermal": f"notifyutil -g {_THERMAL_KEY}",
    "swap_used_bytes": "sysctl vm.swapusage",
    "memory_pressure": "sysctl kern.memorystatus_vm_pressure_level",
    "low_power_mode": "pmset -g",
    "power_source": "pmset -g batt",
}


def low_power_mode(pmset: str) -> bool | None:
    """From `pmset -g`: `lowpowermode` 1 or, on newer systems, `powermode` 1 (0 automatic, 2 high)."""
    values = dict(re.findall(r"^\s*(lowpowermode|powermode)\s+(\d+)", pmset, re.MULTILINE))
    if not values:
        return None
    return values.get("lowpowermode") == "1" or values.get("powermode") == "1"


def power_source(pmset_batt: str) -> str | None:
    """From `pmset -g batt`: ac or battery; a UPS counts as a battery."""
    found = re.search(r"Now drawing from '(\w+) Power'", pmset_batt)
    if found is None:
        return None
    return "ac" if found[1] == "AC" else "battery"


def thermal_pressure(notifyutil: str) -> str | None:
    """From `notifyutil -g com.apple.system.thermalpressurelevel`, which prints the key and its level."""
    found = re.search(rf"{re.escape(_THERMAL_KEY)}\s+(\d+)\s*$", notifyutil.strip())
    level = int(found[1]) if found else -1
    return THERMAL_LEVELS[level] if 0 <= level < len(THERMAL_LEVELS) else None


def swap_used_bytes(sysctl: str) -> int | None:
    """From `sysctl vm.swapusage`: `used = 605.88M` (binary units; some locales write a comma)."""
    found = re.search(r"vm\.swapusage:.*?\bused = (\d+(?:[.,]\d+)?)([KMGT])", sysctl)
    return None if found is None else int(float(found[1].replace(",", ".")) * _UNITS[found[2]])


def memory_pressure(sysctl: str) -> str | None:
    """From `sysctl kern.memorystatus_vm_pressure_level`: 1 normal, 2 warning, 4 critical."""
    found = re.search(r"memorystatus_vm_pressure_level: (\d+)", sysctl)
    return None if found is None else _PRESSURES.get(int(found[1]))


def gpu_cores(ioreg: str) -> int | None:
    """From `ioreg -r -d 1 -c AGXAccelerator`: the property `gpu-core-count`."""
    found = re.search(r'"gpu-core-count"\s*=\s*(\d+)', ioreg)
    return None if found is None else int(found[1])


def build(sw_vers: str) -> str | None:
    """From `sw_vers`: the line `BuildVersion:`."""
    found = re.search(r"^BuildVersion:\s*(\S+)", sw_vers, re.MULTILINE)
    return None if found is None else found[1]


def hardware_model(sysctl: str) -> str | None:
    """From `sysctl hw.model machdep.cpu.brand_string`: for example `Mac15,14`."""
    found = re.search(r"^hw\.model: (\S+)", sysctl, re.MULTILINE)
    return None if found is None else found[1]


def chip(sysctl: str) -> str | None:
    """From `sysctl hw.model machdep.cpu.brand_string`: for example `Apple M3 Ultra`."""
    found = re.search(r"^machdep\.cpu\.brand_string: (.+)$", sysctl, re.MULTILINE)
    return None if found is None else found[1].strip()
