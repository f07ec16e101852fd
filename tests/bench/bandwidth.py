"""The bandwidth probe beside numpy and a STREAM-like C loop, taken in turns in one run.

    python tests/bench/bandwidth.py [--rounds 3] [--full] [--mb 1024]

GB/s of the bytes that each must move (a copy reads and writes). The C loops are compiled with `cc`, where
there is one, and run on one thread and on all.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from workbench.worker.client import Worker
from workbench.worker.messages import Failed, Probed, ProbeRequest, Ready

STREAM = r"""
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  size_t n = atoll(argv[1]) / 8;
  uint64_t *a = malloc(n * 8), *b = malloc(n * 8), sink = 0;
  double *x = (double *)a, *y = (double *)b;
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) a[i] = i * 2654435761u, b[i] = i;
  double best[3] = {1e9, 1e9, 1e9};
  for (int r = 0; r < 5; r++) {
    double t = omp_get_wtime();
    uint64_t s = 0;
#pragma omp parallel for simd reduction(+ : s)
    for (size_t i = 0; i < n; i++) s += a[i];
    sink += s;
    t = omp_get_wtime() - t;
    if (t < best[0]) best[0] = t;
    t = omp_get_wtime();
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) b[i] = a[i];
    t = omp_get_wtime() - t;
    if (t < best[1]) best[1] = t;
    t = omp_get_wtime();
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) y[i] = x[i] + 3.0 * y[i];
    t = omp_get_wtime() - t;
    if (t < best[2]) best[2] = t;
  }
  fprintf(stderr, "%lu", (unsigned long)sink);
  printf("%f %f %f\n", n * 8 / best[0] / 1e9, n * 16 / best[1] / 1e9, n * 24 / best[2] / 1e9);
}
"""

NUMPY = """
import sys, time
import numpy as np
nbytes = int(sys.argv[1])
random = np.random.default_rng(0)
words = np.tile(random.integers(0, 2**32, 2**20, dtype=np.uint32), nbytes // 2**22)
floats = words.astype(np.float32)
other = np.empty_like(words)
def best(f, moved):
    times = []
    for _ in range(5):
        t = time.perf_counter(); f(); times.append(time.perf_counter() - t)
    return moved / min(times) / 1e9
n = words.nbytes
print(best(words.sum, n), best(floats.sum, n), best(lambda: floats @ floats, n),
      best(lambda: np.copyto(other, words), 2 * n))
"""


def main() -> None:
    """Take every figure in turn, `--rounds` times, and print best and median."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mb", type=int, default=1024)
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    nbytes = arguments.mb * 2**20
    found: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_HOME"] = folder
        program = compiled(Path(folder))
        for _ in range(arguments.rounds):
            for kernel in asyncio.run(probed(nbytes, arguments.full)).kernels:
                found[f"probe: {kernel.kernel}, {kernel.dtype}"].append(kernel.best_gbps)
            names = ("sum, uint32", "sum, float32", "dot, float32", "copyto, uint32")
            for name, gbps in zip(names, numbers([sys.executable, "-c", NUMPY, str(nbytes)]), strict=True):
                found[f"numpy: {name}"].append(gbps)
            for threads in {1, os.cpu_count() or 1} if program else ():
                os.environ["OMP_NUM_THREADS"] = str(threads)
                gbps = numbers([str(program), str(nbytes)])
                for name, value in zip(("read", "copy", "triad"), gbps, strict=True):
                    found[f"C: {name}, {threads} thread(s)"].append(value)
    print(f"{'kernel':32}{'best GB/s':>12}{'median':>10}   ({arguments.rounds} rounds, {arguments.mb} MiB)")
    for name, values in sorted(found.items()):
        print(f"{name:32}{max(values):12.2f}{median(values):10.2f}")


async def probed(nbytes: int, full: bool) -> Probed:
    """The probe's report."""
    worker = await Worker.start("probe")
    answer = None
    async for report in worker.reports():
        if isinstance(report, Ready):
            await worker.send(ProbeRequest(bytes=nbytes, quick=not full))
        elif isinstance(report, Probed):
            answer = report
        assert not isinstance(report, Failed), report
    assert answer is not None
    return answer


def compiled(folder: Path) -> Path | None:
    """The C program, or None without a compiler that knows OpenMP."""
    if shutil.which("cc") is None:
        return None
    (folder / "stream.c").write_text(STREAM)
    command = [
        "cc",
        "-O3",
        "-march=native",
        "-fopenmp",
        str(folder / "stream.c"),
        "-o",
        str(folder / "stream"),
    ]
    return (
        folder / "stream"
        if subprocess.run(command, check=False, capture_output=True).returncode == 0
        else None
    )


def numbers(command: list[str]) -> list[float]:
    """The numbers that a command prints."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [float(word) for word in done.stdout.split()]


if __name__ == "__main__":
    main()
