"""Tiny synthetic checkpoints for the tests, built by the same code as the shown ones (5 MB, 0.2 s)."""

import json
import subprocess
import sys
from pathlib import Path

TINY = ("tiny-1", "tiny-2", "tiny-3", "tiny-mixture")


def tiny_checkpoints(directory: Path) -> dict[str, Path]:
    """Build the ladder below `directory` in a process of its own (mlx stays out of this one)."""
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from workbench.shelf.synthetic import SPECS\n"
        "from workbench.worker.jobs.synthesize import build\n"
        "directory, names = Path(sys.argv[1]), json.loads(sys.argv[2])\n"
        "for name in names:\n"
        "    build(SPECS[name], directory)\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code, str(directory), json.dumps(TINY)], check=True)
    return {name: directory / name for name in TINY}
