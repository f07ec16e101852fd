"""What Linux tells without root: power supply, governor, load, swap, thermal throttling.

Files below `root` only, so that a recorded tree can stand for a machine.
"""

import os
import re
from pathlib import Path
from typing import Any

_SUPPLIES = "sys/class/power_supply"
_CPU = "sys/devices/system/cpu"
_PROFILE = "sys/firmware/acpi/platform_profile"
_UNITS = {"K": 2**10, "M": 2**20}


def readings(root: Path = Path("/")) -> dict[str, Any]:
    """Readings for a `Sample`, each with its reason where there is none."""
    found: dict[str, Any] = {
        "power_source": power_source(root),
        "low_power_mode": low_power_mode(root),
        "load1": os.getloadavg()[0],
        "swap_used_bytes": swap_used_bytes(_text(root / "proc/meminfo") or ""),
        "governor": _text(root / _CPU / "cpu0/cpufreq/scaling_governor"),
        "cpu_throttles": cpu_throttles(root),
        "missing.thermal": "Linux has no thermal pressure level",
        "missing.memory_pressure": "read on macOS only",
        "missing.gpu_clock_mhz": "no NVIDIA GPU in use",
        "missing.gpu_pids": "no NVIDIA GPU in use",
    }
    if found["cpu_throttles"] is not None:
        found["throttle_reasons"] = ()
    for name, why in _WHY.items():
        if found.get(name) is None:
            found[f"missing.{name}"] = why
    return found


_WHY = {
    "low_power_mode": "this system has no platform profile",
    "swap_used_bytes": "/proc/meminfo did not say",
    "governor": "this system shows no frequency governor",
    "throttle_reasons": "this system shows no throttling counters",
    "power_source": "the power supply does not say whether it is connected",
}


def power_source(root: Path) -> str | None:
    """Where the power comes from, ac or battery. A system without any battery runs on ac."""
    supplies = sorted((root / _SUPPLIES).glob("*"))
    kinds = {supply: _text(supply / "type") for supply in supplies}
    mains = [_text(supply / "online") for supply, kind in kinds.items() if kind in {"Mains", "USB"}]
    batteries = [supply for supply, kind in kinds.items() if kind == "Battery" and not _is_peripheral(supply)]
    if "1" in mains or not batteries:
        return "ac"
    if any(_text(battery / "status") == "Discharging" for battery in batteries) or "0" in mains:
        return "battery"
    return None


def low_power_mode(root: Path) -> bool | None:
    """Whether the ACPI platform profile is `low-power`."""
    profile = _text(root / _PROFILE)
    return None if profile is None else profile == "low-power"


def swap_used_bytes(meminfo: str) -> int | None:
    """SwapTotal - SwapFree of /proc/meminfo (its kB are 1,024 bytes)."""
    sizes = {}
    for line in meminfo.splitlines():
        name, _, rest = line.partition(":")
        if name in {"SwapTotal", "SwapFree"} and rest.split():
            sizes[name] = int(rest.split()[0]) * 1024
    return sizes["SwapTotal"] - sizes["SwapFree"] if len(sizes) == 2 else None


def cpu_throttles(root: Path) -> int | None:
    """How often the CPU packages throttled for heat since boot (Intel counts it; others say nothing)."""
    texts = [_text(path) for path in (root / _CPU).glob("cpu*/thermal_throttle/package_throttle_count")]
    counts = [int(text) for text in texts if text is not None and text.isdigit()]
    return max(counts) if counts else None


def last_level_cache_bytes(root: Path = Path("/")) -> int | None:
    """Size of the processor's largest cache level in bytes; None under a hypervisor, which makes it up."""
    if is_guest(root):
        return None
    sizes: dict[str, int] = {}
    for cache in (root / _CPU / "cpu0/cache").glob("index*"):
        level, size = _text(cache / "level"), _text(cache / "size")
        if level and size and (found := re.fullmatch(r"(\d+)([KM])", size)):
            sizes[level] = max(sizes.get(level, 0), int(found[1]) * _UNITS[found[2]])
    return sizes[max(sizes)] if sizes else None


def is_guest(root: Path = Path("/")) -> bool:
    """Whether a hypervisor runs this system: an x86 processor says so, elsewhere the firmware's names do."""
    if re.search(r"^flags\s*:.*\bhypervisor\b", _text(root / "proc/cpuinfo") or "", re.MULTILINE):
        return True
    names = " ".join(_text(root / "sys/class/dmi/id" / name) or "" for name in ("sys_vendor", "product_name"))
    return re.search(r"QEMU|KVM|Xen|VMware|Virtual|Parallels|Amazon EC2|Google", names) is not None


def chip(cpuinfo: str) -> str | None:
    """The first `model name` of /proc/cpuinfo."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip() or None
    return None


def hardware_model(root: Path = Path("/")) -> str | None:
    """The product's name as its firmware states it, or the device tree's model."""
    found = _text(root / "sys/class/dmi/id/product_name") or _text(root / "proc/device-tree/model")
    return found.rstrip("\0") if found else None


def _is_peripheral(supply: Path) -> bool:
    return _text(supply / "scope") == "Device"  # a mouse's battery does not run the machine


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
