"""The observer effect: a plain mlx-lm script against the worker with its client, run in turns.

    python tests/bench/observer.py CHECKPOINT [--rounds 5] [--tokens 200]

Every turn is a fresh process: load, 8 warm-up tokens, one timed decode. Each round runs all modes, in another
order every time, and is compared with its own plain run. `rate` is (n - 1) / (t_n - t_1), `cpu` the process's
CPU time over the decode with its prefill, `stalls` the tokens that took more than three times the median.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from os import environ
from pathlib import Path
from statistics import median

import psutil

from workbench.worker.client import Worker
from workbench.worker.jobs.prose import PROSE
from workbench.worker.messages import DecodeRequest, Ready, RepeatDone, RepeatStarted

PLAIN = """
import json, sys, time
import mlx.core as mx
from mlx_lm import load, stream_generate

path, tokens = sys.argv[1], int(sys.argv[2])
model, tokenizer = load(path)
tokenizer.eos_token_ids = []
prompt = mx.array(tokenizer.encode(sys.stdin.read())[:209])
for _ in stream_generate(model, tokenizer, prompt, max_tokens=8):
    pass
times, cpu = [], time.process_time()
for _ in stream_generate(model, tokenizer, prompt, max_tokens=tokens):
    times.append(time.perf_counter_ns())
print(json.dumps({"times": times, "cpu_s": time.process_time() - cpu}))
"""


def plain(path: str, tokens: int) -> dict:
    """One decode by the plain script."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PLAIN, path, str(tokens)],
        input=PROSE,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environ | {"HF_HUB_OFFLINE": "1"},
    )
    return json.loads(done.stdout.splitlines()[-1]) | {"client_cpu_s": 0.0}


def worker(path: str, tokens: int, hz: float) -> dict:
    """One decode by the worker, `hz` live views a second read by its client."""
    return asyncio.run(
        _worker(DecodeRequest(path, max_tokens=tokens, repeats=1, text=hz > 0, progress_hz=hz))
    )


async def _worker(request: DecodeRequest) -> dict:
    process = await Worker.start("decode")
    result: dict = {}
    begun = client = 0.0
    try:
        async for report in process.reports():
            if isinstance(report, Ready):
                await process.send(request)
            elif isinstance(report, RepeatStarted):
                begun, client = sum(psutil.Process(process.pid).cpu_times()[:2]), time.process_time()
            elif isinstance(report, RepeatDone):
                ended = sum(psutil.Process(process.pid).cpu_times()[:2])
                result = {"times": report.repeat.token_times_ns, "cpu_s": ended - begun}
                result["client_cpu_s"] = time.process_time() - client
    finally:
        await process.stop()
    return result


def figures(result: dict) -> dict[str, float]:
    """Rate, CPU seconds, and stalls of one decode."""
    gaps = [b - a for a, b in pairwise(result["times"])]
    return {
        "rate": len(gaps) * 1e9 / sum(gaps),
        "cpu": result["cpu_s"],
        "stalls": sum(gap > 3 * median(gaps) for gap in gaps),
        "client": result["client_cpu_s"],
    }


def main() -> None:
    """Run the rounds and print the ratios with their spread."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=200)
    arguments = parser.parse_args()
    path, tokens = str(Path(arguments.checkpoint).resolve()), arguments.tokens
    modes = {
        "plain": lambda: plain(path, tokens),
        "worker, blind": lambda: worker(path, tokens, 0),
        "worker, 10 Hz": lambda: worker(path, tokens, 10),
    }
    rounds: list[dict[str, dict[str, float]]] = []
    with tempfile.TemporaryDirectory() as home:
        environ["WORKBENCH_HOME"] = home
        for turn in range(arguments.rounds):
            order = [list(modes)[(turn + i) % len(modes)] for i in range(len(modes))]
            rounds.append({mode: figures(modes[mode]()) for mode in order})
    columns = ("tok/s", "of plain (range)", "CPU of plain (range)", "stalls", "client CPU ms")
    print(f"{'mode':15}{columns[0]:>9}{columns[1]:>26}{columns[2]:>26}{columns[3]:>8}{columns[4]:>15}")
    for mode in modes:
        rates = [turn[mode]["rate"] / turn["plain"]["rate"] for turn in rounds]
        cpus = [turn[mode]["cpu"] / turn["plain"]["cpu"] for turn in rounds]
        print(
            f"{mode:15}{median(turn[mode]['rate'] for turn in rounds):9.1f}"
            f"{spread(rates):>26}{spread(cpus):>26}"
            f"{sum(int(turn[mode]['stalls']) for turn in rounds):8}"
            f"{1000 * median(turn[mode]['client'] for turn in rounds):15.1f}"
        )
    alone = [turn["plain"]["rate"] for turn in rounds]
    print(f"the plain script alone, of its median: {spread([rate / median(alone) for rate in alone])}")


def spread(values: list[float]) -> str:
    """Median with the smallest and the largest."""
    return f"{median(values):.3f} ({min(values):.3f}..{max(values):.3f})"


if __name__ == "__main__":
    main()
