"""A terminal that vanishes takes the program with it, whatever Textual's threads still wait for."""

import os
import pty
import sys
import threading

SCRIPT = """
import os, threading
from workbench.tui import app
from workbench.tui.options import Options

def run(self, mouse):
    os.write(1, b"ready")
    while os.isatty(0):
        os.sched_yield()
    threading.Thread(target=threading.Event().wait).start()  # as Textual's input thread does

app.WorkbenchApp.run = run
app.run(Options())
"""


def test_a_thread_that_waits_for_a_lost_terminal_does_not_keep_the_process(tmp_path):
    pid, terminal = pty.fork()
    if pid == 0:
        environment = os.environ | {"WORKBENCH_HOME": str(tmp_path)}
        os.execve(
            sys.executable,
            [sys.executable, "-c", "import signal; signal.signal(1, 1)\n" + SCRIPT],
            environment,
        )
    watchdog = threading.Timer(20, os.kill, (pid, 9))
    watchdog.start()
    assert os.read(terminal, 5) == b"ready"
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    watchdog.cancel()
    assert os.waitstatus_to_exitcode(status) == 129
