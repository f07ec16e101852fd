"""Commands in a process of their own, for what only a process has: signals, pipes, encodings, terminals."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAIN = "import sys; from workbench.cli import main; sys.exit(main())"
SIGNALS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""


def command(*words):
    """The argument list of `workbench WORDS`."""
    return [sys.executable, "-c", MAIN, *map(str, words)]


def environment(**changes):
    """This environment without what a terminal says of itself; None takes a variable away."""
    plain = {name: value for name, value in os.environ.items() if name not in {"TERM", "COLORTERM"}}
    return {name: value for name, value in {**plain, **changes}.items() if value is not None}


def finished(*words, encoding="utf-8", **changes):
    """Run to the end without a terminal and give the CompletedProcess."""
    return subprocess.run(
        command(*words),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding=encoding,
        timeout=60,
        cwd=ROOT,
        env=environment(**changes),
        check=False,
    )


def begun(*words, **changes):
    """Start it with signals as an interactive shell leaves them; stderr can be read line by line."""
    return subprocess.Popen(
        [sys.executable, "-c", SIGNALS + MAIN, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
        env=environment(**changes),
    )
