"""CPU time of `workbench --help`, of `bytes` on a 35B mixture's headers, and of an import of the screens.

    python tests/bench/startup.py [--runs 7]

Each figure is user + system time of a fresh process with its bytecode compiled, as an installed program has
it: the median of the runs. Wall time is not shown.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.checkpoints import materialize


def cpu_ms(command: list[str]) -> float:
    """User + system milliseconds of one run of `command`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Print one row a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ.update({"WORKBENCH_HOME": folder, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"})
        mixture = materialize("mlx-Qwen3.5-35B-A3B-4bit", Path(folder) / "mixture")
        python = [sys.executable, "-c"]
        rows = {
            "bare interpreter": [*python, "pass"],
            "workbench --help": [*python, "from workbench.cli import main; main(['--help'])"],
            "workbench bytes, 35B mixture": [
                *python,
                f"from workbench.cli import main; main(['bytes', {str(mixture)!r}])",
            ],
            "workbench bytes --json, the same": [
                *python,
                f"from workbench.cli import main; main(['bytes', {str(mixture)!r}, '--json'])",
            ],
            "import of the screens": [*python, "import workbench.tui.app"],
        }
        for name, command in rows.items():
            cpu_ms(command)
            figures = [cpu_ms(command) for _ in range(runs)]
            print(
                f"{name:32} {statistics.median(figures):7.0f} ms CPU  ({min(figures):.0f}-{max(figures):.0f})"
            )


if __name__ == "__main__":
    main()
