"""How large the probe's arrays must be: beyond every cache, and within the memory that is free."""

import os
from pathlib import Path

import psutil

from workbench.worker.jobs.stamp import backend

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_LEAST = {"cpu": 512 * 10**6, "metal": 2 * 10**9, "cuda": 8 * 10**9}
_MOST_CPU = 4 * 10**9


def probe_bytes() -> int:
    """Bytes of a kernel's arrays together: twice the last cache, and never over a quarter of what is free.

    On a GPU more, so that an operation lasts far longer than its launch.
    """
    kind = backend()
    wanted = _LEAST[kind]
    if kind == "cpu":
        wanted = min(max(wanted, 2 * last_cache_bytes()), _MOST_CPU)
    return min(wanted, free_bytes() // 4)


def last_cache_bytes(caches: Path = _CACHES) -> int:
    """The largest cache that this CPU reports; 0 where it reports none."""
    sizes = [0]
    for entry in caches.glob("index*/size"):
        text = entry.read_text().strip()
        scale = {"K": 2**10, "M": 2**20, "G": 2**30}.get(text[-1:], 1)
        digits = text.rstrip("KMG")
        if digits.isdigit():
            sizes.append(int(digits) * scale)
    return max(sizes)


def free_bytes() -> int:
    """Memory that is free for arrays of the default device."""
    import mlx.core as mx

    on_device = dict(mx.device_info()).get("free_memory")
    return int(on_device) if on_device else int(psutil.virtual_memory().available)


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
