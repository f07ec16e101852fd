"""CPU time and peak memory of a long ledger, each step in a fresh process.

    python tests/bench/long_ledger.py [--records 100000] [--runs 3] [--like LEDGER] [--json]

Two ledgers: without token times (3.6 kB a line), and with those of three repeats of 200 tokens (8.9 kB); with
--like two of copies of that ledger's last record. Steps: first load of the table, load again (kept rows),
every record without its token times, verify. Figures are user + system seconds of the step, medians of the
runs, and the largest resident set of the process.
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

from msgspec.structs import replace

from tests.analysis.office import BYTES, office_record
from workbench.analysis.verdict import judged
from workbench.ledger.store import append_lines, read

STEP = """
import sys, time
from pathlib import Path
ledger, step = Path(sys.argv[1]), sys.argv[2]
if step == "verify":
    from workbench.ledger.verify import verify
    work = lambda: verify(ledger).records
elif step == "every record":
    from workbench.ledger.store import read
    work = lambda: len(read(ledger, token_times=False).records)
else:
    from workbench.ledger.table import load
    work = lambda: len(load(ledger).rows)
began = time.process_time()
count = work()
took = time.process_time() - began
status = Path("/proc/self/status")
if status.exists():  # ru_maxrss starts with what the parent process had
    peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
else:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(count, took, peak / 1000)
"""
STEPS = ("first load", "load again", "every record", "verify")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--like", type=Path, metavar="LEDGER")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_HOME"] = folder
        found = [
            {"ledger": name, "bytes": ledger.stat().st_size, "step": step, **measured(ledger, step, args)}
            for name, ledger in ledgers(Path(folder), args.records, args.like)
            for step in STEPS
        ]
    if args.json:
        print(json.dumps(found))
        return
    for row in found:
        print(
            f"{row['ledger']:<20} {row['bytes'] / 1e6:6.0f} MB  {row['step']:<13}"
            f" {row['cpu_s']:6.2f} s CPU  {row['peak_mb']:6.0f} MB"
        )


def ledgers(folder: Path, count: int, like: Path | None):
    """Both ledgers, written by the room's own append."""
    models = read(like).records[-1:] if like else [judged(office_record(model)) for model in BYTES]
    steps = [[10_000_000 + 7_919 * token % 2_000_000 for token in range(199)] for _ in range(3)]
    for name, times in (("without token times", None), ("with token times", steps)):
        ledger = folder / f"{name}.jsonl"
        for start in range(0, count, 5_000):
            append_lines(
                ledger,
                [
                    line(replace(models[n % len(models)], record_id=f"{n:036d}", token_times_ns=times))
                    for n in range(start, min(start + 5_000, count))
                ],
            )
        yield name, ledger
        ledger.unlink()


def line(record) -> bytes:
    import msgspec

    from workbench.ledger.record import sealed

    return msgspec.json.encode(sealed(record))


def measured(ledger: Path, step: str, args: argparse.Namespace) -> dict[str, float]:
    """One step, `runs` times; a first load begins without kept rows."""
    figures = []
    for _ in range(args.runs):
        if step == "first load":
            for kept in ledger.parent.rglob("rows-*.msgpack"):
                kept.unlink()
        done = subprocess.run(
            [sys.executable, "-c", STEP, str(ledger), step], check=True, capture_output=True, text=True
        )
        count, cpu_s, peak_mb = done.stdout.split()
        assert int(count) == args.records
        figures.append((float(cpu_s), float(peak_mb)))
    return {
        "cpu_s": round(statistics.median(cpu for cpu, _ in figures), 3),
        "peak_mb": round(max(peak for _, peak in figures), 1),
    }


if __name__ == "__main__":
    main()
