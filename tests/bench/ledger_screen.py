"""CPU time and memory of the ledger's screen over a long ledger, in a fresh process each.

    python tests/bench/ledger_screen.py [--records 100000] [--json]

Two ledgers as in `long_ledger`; each is opened twice: the first time its rows are read from the file, then
from the kept ones. Figures: user + system seconds from the key to the laid-out screen, to the rows, of a
filter that matches one row, and the largest resident set in MB, before the ledger was opened and at the end.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.long_ledger import ledgers

STEP = """
import asyncio, json, resource, sys, time
from pathlib import Path
import workbench.shelf.entries as entries
entries.scan = lambda *_: iter(())
from workbench.tui.app import WorkbenchApp
from workbench.tui.options import Options

async def wait(condition):
    while not condition():
        await asyncio.sleep(0.005)

def resident(field):
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    [line] = [line for line in status.read_text().splitlines() if line.startswith(field)]
    return int(line.split()[1]) / 1000

def rows(app):
    return app.screen.query("#records") and app.screen.query_one("#records").line_count

async def main():
    app = WorkbenchApp(Options(ledger=Path(sys.argv[1])))
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause(0.5)
        before = resident("VmRSS")
        began = time.process_time()
        app.action_ledger()
        await wait(lambda: app.screen.query("#ledger-note") and app.screen.query_one("#records").size.height)
        painted = time.process_time() - began
        await wait(lambda: rows(app))
        shown = time.process_time() - began
        count, began = rows(app), time.process_time()
        app.screen.query_one("#query").value = "0" * 8 + f"{count - 1:028d}"
        await wait(lambda: rows(app) == 1)
        found = time.process_time() - began
    print(json.dumps([count, painted, shown, found, before, resident("VmHWM")]))

asyncio.run(main())
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_HOME"] = folder
        for name, ledger in ledgers(Path(folder), args.records, None):
            for step in ("first", "again"):
                done = subprocess.run(
                    [sys.executable, "-c", STEP, str(ledger)], check=True, capture_output=True, text=True
                )
                count, painted, shown, filtered, before_mb, peak_mb = json.loads(done.stdout)
                assert count == args.records
                found.append(
                    {
                        "ledger": name,
                        "bytes": ledger.stat().st_size,
                        "step": step,
                        "painted_cpu_s": round(painted, 3),
                        "rows_cpu_s": round(shown, 3),
                        "filter_cpu_s": round(filtered, 3),
                        "before_mb": round(before_mb, 1),
                        "peak_mb": round(peak_mb, 1),
                    }
                )
    if args.json:
        print(json.dumps(found))
        return
    for row in found:
        print(
            f"{row['ledger']:<20} {row['bytes'] / 1e6:6.0f} MB  {row['step']:<6}"
            f" painted {row['painted_cpu_s']:5.2f}  rows {row['rows_cpu_s']:5.2f}"
            f"  filter {row['filter_cpu_s']:5.2f} s CPU"
            f"  {row['before_mb']:4.0f} to {row['peak_mb']:4.0f} MB"
        )


if __name__ == "__main__":
    main()
