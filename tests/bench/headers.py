"""CPU time and peak memory of reading headers, each in a fresh process, up to the Checkpoint and the count.

    python tests/bench/headers.py [--runs 5] [--json]

200 shards with 100,000 tensors, the 35B mixture, a GGUF file with a vocabulary of 151,936 words. Figures
are user + system time of the whole process (the interpreter's start included), medians of the runs, and the
largest resident set of any run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.checkpoints import invent, materialize

READ = """
import resource, sys
from pathlib import Path
from workbench.checkpoint.reading import open_checkpoint
found = open_checkpoint(Path(sys.argv[1]))
assert found.tensors and found.state in ("complete", "not loadable"), found.reason
if sys.argv[2] == "count":
    from workbench.accounting.engine import count
    assert count(found).weight_bytes
used = resource.getrusage(resource.RUSAGE_SELF)
peak = used.ru_maxrss
if sys.platform == "linux":  # there ru_maxrss starts with what the parent process had
    status = Path("/proc/self/status").read_text()
    peak = 1024 * int(status.split("VmHWM:")[1].split()[0])
print(len(found.tensors), used.ru_utime + used.ru_stime, peak)
"""


def main() -> None:
    """Print one row a case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        cases = {
            "200 shards, 100,000 tensors": many_shards(root / "many"),
            "Qwen3.5-35B-A3B 4-bit": materialize("mlx-Qwen3.5-35B-A3B-4bit", root),
            "DeepSeek-V3, 162 shards": materialize("hf-DeepSeek-V3", root),
            "GGUF, 151,936 words": materialize("gguf-Bonsai-8B-Q1_0", root),
        }
        rows = [
            measured(name, path, upto, arguments.runs)
            for name, path in cases.items()
            for upto in ("checkpoint", "count")
        ]
    if arguments.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"{row['case']:30} up to the {row['upto']:10} {row['tensors']:8,} tensors "
            f"{row['cpu_ms']:6.0f} ms CPU {row['peak_mb']:6.1f} MB"
        )


def many_shards(directory: Path) -> Path:
    """A mixture of 100 layers with 333 experts saved one by one, dealt over 200 shards with an index."""
    tensors: dict[str, tuple[str, list[int]]] = {}
    for layer in range(100):
        for expert in range(333):
            for part in ("gate", "up", "down"):
                shape = [7168, 2048] if part == "down" else [2048, 7168]
                name = f"model.layers.{layer}.mlp.experts.{expert}.{part}_proj.weight"
                tensors[name] = ("BF16", shape)
        tensors[f"model.layers.{layer}.input_layernorm.weight"] = ("BF16", [7168])
    config = {
        "model_type": "qwen3_moe",
        "num_hidden_layers": 100,
        "num_experts": 333,
        "num_experts_per_tok": 8,
    }
    return invent(directory, tensors, config, shards=200, layout="hf")


def measured(name: str, path: Path, upto: str, runs: int) -> dict[str, object]:
    """One case: median CPU time and largest resident set of `runs` fresh processes."""
    seconds, peaks, tensors = [], [], 0
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, "-c", READ, str(path), upto],
            env={**os.environ, "PYTHONPATH": sys.path[0]},
            capture_output=True,
            text=True,
            check=True,
        )
        count, cpu, peak = done.stdout.split()
        tensors = int(count)
        seconds.append(float(cpu))
        peaks.append(int(peak))
    return {
        "case": name,
        "upto": upto,
        "tensors": tensors,
        "cpu_ms": 1000 * statistics.median(seconds),
        "peak_mb": max(peaks) / 1e6,
    }


if __name__ == "__main__":
    main()
