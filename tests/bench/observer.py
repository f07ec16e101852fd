"""The observer effect: the same checkpoint by a plain mlx-lm script, by `measure`, and under the screens.

    python tests/bench/observer.py CHECKPOINT [--rounds 5] [--tokens 200] [--modes plain,measure,screens]

Every turn is a fresh process: load, warm up, one timed decode. Each round runs all modes, in another order
every time, and is compared with its own plain run. `tok/s` is (n - 1) / (t_n - t_1), `stalls` the tokens that
took more than three times the median, `observer` the CPU time of the process that watches, in per cent of one
core over the run. The screens stand in a pty of 120x40 with plot and power on; `measure` and the screens end
with an energy pass over a made-up meter that is asked every second (`energy tok/s`, compared with
`measure`'s). The modes `worker-blind` and `worker-10hz` drive a worker without either.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from os import environ
from pathlib import Path
from statistics import median

import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.terminal.driven import Driven
from workbench.ledger import store
from workbench.ledger.record import Record
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
times = []
for _ in stream_generate(model, tokenizer, prompt, max_tokens=tokens):
    times.append(time.perf_counter_ns())
print(json.dumps(times))
"""
PROGRAM = (sys.executable, "-P", "-c", "from workbench.cli import main; import sys; sys.exit(main())")
METER = "echo 40"
SETTINGS = 'tokens = {tokens}\nrepeats = 1\n[[bandwidth]]\ngbps = 1000\nsource = "made up"\n'
Result = dict[str, float]


def plain(path: Path, tokens: int, _: float) -> Result:
    """One decode by the plain script."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PLAIN, str(path), str(tokens)],
        input=PROSE,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environ | {"HF_HUB_OFFLINE": "1"},
    )
    return figures(json.loads(done.stdout.splitlines()[-1]))


def worker(hz: float) -> Callable[[Path, int, float], Result]:
    """One decode by the worker, `hz` live views a second read by its client."""

    def run(path: Path, tokens: int, _: float) -> Result:
        request = DecodeRequest(str(path), max_tokens=tokens, repeats=1, text=hz > 0, progress_hz=hz)
        return asyncio.run(_worker(request))

    return run


async def _worker(request: DecodeRequest) -> Result:
    process = await Worker.start("decode")
    result: Result = {}
    began = began_cpu = 0.0
    try:
        async for report in process.reports():
            if isinstance(report, Ready):
                await process.send(request)
            elif isinstance(report, RepeatStarted):
                began, began_cpu = time.monotonic(), time.process_time()
            elif isinstance(report, RepeatDone):
                busy = (time.process_time() - began_cpu) / (time.monotonic() - began)
                result = figures(report.repeat.token_times_ns) | {"observer": busy}
    finally:
        await process.stop()
    return result


def measure(path: Path, tokens: int, energy_s: float) -> Result:
    """One decode by `workbench measure`."""
    with tempfile.TemporaryDirectory() as home:
        options = [
            "--predict",
            "100",
            "--bandwidth",
            "1000",
            "--tokens",
            tokens,
            "--repeats",
            1,
            "--no-witness",
        ]
        if energy_s > 0:
            options += ["--energy", "--idle", 0, "--energy-seconds", energy_s]
            options += ["--watts-command", METER, "--meter", "made up"]
        began = time.monotonic()
        process = psutil.Popen(
            [*PROGRAM, "measure", str(path), *map(str, options)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environ | {"WORKBENCH_HOME": home, "HF_HUB_OFFLINE": "1"},
        )
        used = 0.0
        while process.poll() is None:
            try:
                used = sum(process.cpu_times()[:2])
            except psutil.Error:
                break
            time.sleep(0.05)
        process.wait()
        [record] = store.read(Path(home) / "ledger.jsonl").records
        return recorded(record) | {"observer": used / (time.monotonic() - began)}


def screens(path: Path, tokens: int, energy_s: float) -> Result:
    """One decode under the real screens, by their keys."""
    with tempfile.TemporaryDirectory() as folder:
        home, models = Path(folder) / "home", Path(folder) / "models"
        home.mkdir()
        models.mkdir()
        (models / path.name).symlink_to(path)
        (home / "settings.toml").write_text(SETTINGS.format(tokens=tokens))
        env = {"WORKBENCH_HOME": str(home), "HF_HOME": str(Path(folder) / "hf"), "HF_HUB_OFFLINE": "1"}
        with Driven([*PROGRAM, "--models", models], (120, 40), **env) as program:
            program.wait_for(path.name[:12])
            program.press("\r")
            program.wait_for("graph")
            if energy_s > 0:
                program.press("E")
                program.wait_for("seconds of steady decode")
                for keys in (f"{energy_s:g}", "\t", "0", "\t", METER, "\t", "made up", "\r"):
                    program.press(keys)
                    program.settle()
                program.wait_for("(E")
            program.press("n")
            program.settle()
            program.press("100\r")
            program.wait_for("locked 100")
            watcher = psutil.Process(program.pid)
            used, sent, began = sum(watcher.cpu_times()[:2]), program.sent, time.monotonic()
            program.press("r")
            program.wait_for("tok/s measured", 600)
            seconds = time.monotonic() - began
            result = {
                "observer": (sum(watcher.cpu_times()[:2]) - used) / seconds,
                "sent": (program.sent - sent) / seconds,
            }
            program.press("q")
            program.read_until(lambda: program.exit_code is not None, "the end")
        [record] = store.read(home / "ledger.jsonl").records
        return recorded(record) | result


def recorded(record: Record) -> Result:
    """What a record says of its one repeat, and of its energy pass."""
    assert record.status == "measured", record.reason
    steps = record.token_times_ns[0]
    found = figures(list(accumulate([0, *steps])))
    rate = next((reading.tps_in_window for reading in record.power if reading.tps_in_window), None)
    return found | ({"energy": rate} if rate else {})


def figures(times_ns: Sequence[int]) -> Result:
    """Rate and stalls of one decode."""
    gaps = [b - a for a, b in pairwise(times_ns)]
    stalls = sum(gap > 3 * median(gaps) for gap in gaps)
    return {"rate": len(gaps) * 1e9 / sum(gaps), "stalls": float(stalls)}


MODES = {
    "plain": plain,
    "measure": measure,
    "screens": screens,
    "worker-blind": worker(0.0),
    "worker-10hz": worker(10.0),
}


def main() -> None:
    """Run the rounds and print the ratios with their spread."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--energy-seconds", type=float, default=10.0, help="0: no energy pass")
    parser.add_argument("--modes", default="plain,measure,screens")
    arguments = parser.parse_args()
    path, modes = Path(arguments.checkpoint).resolve(), arguments.modes.split(",")
    rounds: list[dict[str, Result]] = []
    with tempfile.TemporaryDirectory() as home:
        environ["WORKBENCH_HOME"] = home
        for turn in range(arguments.rounds):
            order = [modes[(turn + i) % len(modes)] for i in range(len(modes))]
            rounds.append(
                {mode: MODES[mode](path, arguments.tokens, arguments.energy_seconds) for mode in order}
            )
    report(modes, rounds)


def report(modes: Iterable[str], rounds: Sequence[dict[str, Result]]) -> None:
    """The table: medians, and every round's ratio to its own plain run with the spread."""
    print(
        f"{'mode':13}{'tok/s':>9}{'of plain (range)':>26}{'stalls':>8}{'energy tok/s':>14}"
        f"{'of measure (range)':>26}{'observer':>10}{'kB/s':>7}"
    )
    for mode in modes:
        turns = [turn[mode] for turn in rounds]
        watched = [turn["observer"] for turn in turns if "observer" in turn]
        plains = [turn["plain"]["rate"] for turn in rounds] if "plain" in rounds[0] else []
        ratios = [turn["rate"] / plain for turn, plain in zip(turns, plains, strict=False)]
        energies = [turn["energy"] for turn in turns if "energy" in turn]
        others = [turn["measure"]["energy"] for turn in rounds if "energy" in turn.get("measure", {})]
        energy_ratios = [a / b for a, b in zip(energies, others, strict=False)]
        print(
            f"{mode:13}{median(turn['rate'] for turn in turns):9.1f}{spread(ratios):>26}"
            f"{sum(turn['stalls'] for turn in turns):8.0f}{middle(energies, '.1f'):>14}"
            f"{spread(energy_ratios):>26}{middle(watched, '.1%'):>10}"
            f"{middle([turn['sent'] / 1000 for turn in turns if 'sent' in turn], '.1f'):>7}"
        )
    if "plain" in rounds[0]:
        alone = [turn["plain"]["rate"] for turn in rounds]
        print(f"the plain script alone, of its median: {spread([rate / median(alone) for rate in alone])}")


def middle(values: Sequence[float], form: str) -> str:
    """The median, or a dash."""
    return f"{median(values):{form}}" if values else "-"


def spread(values: Sequence[float]) -> str:
    """Median with the smallest and the largest."""
    return f"{median(values):.3f} ({min(values):.3f}..{max(values):.3f})" if values else "-"


if __name__ == "__main__":
    main()
