"""CPU time until the first usable screen: the real program under a pty, until its last hint is painted.

    python tests/bench/first_screen.py [--runs 7]

User + system time of the process (children included) at the moment when the hint `quit` has reached the
terminal, median of the runs; beside it a bare Textual app that paints the same word. Linux only.
"""

import argparse
import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

BARE = """
from textual.app import App
from textual.widgets import Input, Static
class Bare(App):
    def compose(self):
        yield Input()
        yield Static("quit")
Bare().run()
"""


def cpu_ms_until(command: list[str], word: bytes, env: dict[str, str]) -> float:
    """CPU milliseconds that a program has used when `word` reaches its terminal; then it is ended."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    child = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
    )
    os.close(slave)
    shown, end = b"", time.monotonic() + 60
    while word not in shown:
        assert time.monotonic() < end, shown[-2000:]
        if select.select([master], [], [], 1.0)[0]:
            shown += os.read(master, 65536)
    fields = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    child.kill()
    child.wait()
    os.close(master)
    return 1000 * sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print one row a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        env = os.environ | {
            "TERM": "xterm-256color",
            "WORKBENCH_HOME": home,
            "HF_HOME": home,
            "LC_ALL": "C.UTF-8",
        }
        programs = {
            "a bare Textual app": [sys.executable, "-c", BARE],
            "workbench": [str(Path(sys.executable).parent / "workbench")],
        }
        for name, command in programs.items():
            times = [cpu_ms_until(command, b"quit", env) for _ in range(runs)]
            print(
                f"{name:<20} {statistics.median(times):>6.0f} ms CPU ({min(times):.0f} to {max(times):.0f})"
            )


if __name__ == "__main__":
    main()
