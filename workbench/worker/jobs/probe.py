"""The probe job: the memory bandwidth that kernels reach here. The highest best is the achieved figure.

Operations are batched into one evaluation, because a launch and a synchronize per operation cost up to a
quarter; each operation of a batch reads an array of its own, so that none finds its bytes in a cache.
"""

import gc
import time
from statistics import median

from workbench.errors import WorkerError
from workbench.worker.jobs.kernels import Kernel, full_kernels, quick_kernels
from workbench.worker.jobs.probe_size import free_bytes, probe_bytes, usable_cores
from workbench.worker.jobs.stamp import backend
from workbench.worker.messages import KernelBandwidth, Probed, ProbeRequest, Probing
from workbench.worker.outlet import Say

STABLE = 0.05
_MOST_WARM_UPS = 8
_LIMIT_S = 1.5  # per kernel: a kernel far below the memory's limit need not be repeated for minutes
_LEAST_REPEATS = 2


def run(request: ProbeRequest, say: Say) -> None:
    """Measure the quick or all kernels, say each and `Probed`. Raises WorkerError where memory is short."""
    import mlx.core as mx

    total = request.bytes or probe_bytes()
    makers = quick_kernels() if request.quick else full_kernels()
    if request.repeats < 1 or total < 2**16:
        raise WorkerError("The probe needs 64 kB and one repeat at least.", "Ask for more.", code="usage")
    if total > (most := free_bytes() // 2):  # a system that lends more than it has kills some program for it
        raise WorkerError(
            f"The bandwidth probe would fill {total / 1e6:,.0f} MB; the most is {most / 1e6:,.0f} MB, "
            "half of what is free.",
            "Ask for less, or leave the size to the probe.",
            code="out_of_memory",
        )
    results: list[KernelBandwidth] = []
    try:
        for index, make in enumerate(makers):
            kernel = make(total)
            say(Probing(kernel=kernel.name, dtype=kernel.dtype, index=index, of=len(makers)))
            results.append(measure(kernel, request.repeats))
            del kernel
            gc.collect()
            mx.clear_cache()
    except (RuntimeError, MemoryError) as error:
        raise WorkerError(
            f"The bandwidth probe ran out of memory with {total / 1e6:.0f} MB of arrays.",
            "Close other programs and try again.",
            code="out_of_memory",
        ) from error
    say(Probed(kernels=results, threads=usable_cores() if backend() == "cpu" else None))


def measure(kernel: Kernel, repeats: int) -> KernelBandwidth:
    """Warm the kernel up until two batches agree within 5 %, then time `repeats` batches."""
    began = time.perf_counter()
    before = _batch_s(kernel)
    for _ in range(_MOST_WARM_UPS - 1):
        now = _batch_s(kernel)
        stable = abs(now - before) <= STABLE * before
        before = now
        if stable or time.perf_counter() - began > _LIMIT_S:
            break
    times: list[float] = []
    began = time.perf_counter()
    while len(times) < repeats and (len(times) < _LEAST_REPEATS or time.perf_counter() - began < _LIMIT_S):
        times.append(_batch_s(kernel))
    moved_gb = kernel.bytes * kernel.batched / 1e9
    return KernelBandwidth(
        kernel=kernel.name,
        dtype=kernel.dtype,
        bytes=kernel.bytes,
        batched=kernel.batched,
        repeats=len(times),
        best_gbps=moved_gb / min(times),
        median_gbps=moved_gb / median(times),
    )


def _batch_s(kernel: Kernel) -> float:
    import mlx.core as mx

    began = time.perf_counter()
    mx.eval(kernel.batch())
    mx.synchronize()
    return time.perf_counter() - began
