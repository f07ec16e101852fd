"""Whether a checkpoint fits: what it needs against what the machine can give. Warns, never blocks."""

from collections.abc import Collection

from workbench.escape import visible
from workbench.machine.processes import memory_holders


def available_bytes() -> int:
    """Memory that could be given to a new process now."""
    import psutil

    return int(psutil.virtual_memory().available)


def memory_warning(
    needed_bytes: int,
    *,
    available: int,
    recommended: int | None,
    holders: Collection[tuple[str, int]] = (),
) -> str | None:
    """A sentence when `needed_bytes` (resident weights and context) is more than the machine can give.

    `recommended` is the GPU's recommended working set, None where the backend names none; `available` is what
    is free now; `holders` are (name, bytes) of those who hold most of the rest.
    """
    if recommended is not None and needed_bytes > recommended:
        return (
            f"This run needs {_gb(needed_bytes)}, more than the {_gb(recommended)} that the GPU may use at "
            "once: it may fail or crawl. A smaller or more quantized checkpoint fits."
        )
    if needed_bytes <= available:
        return None
    who = ", ".join(f"{visible(name, 30)} ({_gb(held)})" for name, held in holders)
    return (
        f"This run needs {_gb(needed_bytes)}, but only {_gb(available)} are free: the system may swap. "
        + (
            f"Most is held by {who}. Close them, or choose a smaller checkpoint."
            if who
            else "Close programs."
        )
    )


def warning_now(
    needed_bytes: int,
    recommended: int | None,
    exclude: Collection[int] = (),
    *,
    device_bytes: int | None = None,
) -> str | None:
    """`memory_warning` for this machine as it is now; looks for the holders only when there is need.

    `device_bytes` is the memory of a GPU that has its own: what is free beside it does not matter then.
    """
    if device_bytes is not None:
        return memory_warning(needed_bytes, available=device_bytes, recommended=device_bytes)
    free = available_bytes()
    if needed_bytes <= free and (recommended is None or needed_bytes <= recommended):
        return None
    holders = memory_holders(3, exclude)
    return memory_warning(needed_bytes, available=free, recommended=recommended, holders=holders)


def _gb(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:.1f} GB"
