"""A terminal that vanishes takes the program with it, whatever Textual's threads still wait for."""

import os
import pty
import sys
import threading

import pytest

SCRIPT = """
import os, signal, threading
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the worst case: nobody hears it
from workbench.tui import app, lost_terminal, replay_app
from workbench.tui.options import Options

lost_terminal.LOOK_S = lost_terminal.GRACE_S = 0.05

def run(self, mouse):
    os.write(1, b"ready")
    {stuck}

app.WorkbenchApp.run = run
{screens}
"""
SCREENS = {
    "the workbench": "app.run(Options())",
    "a replay": "replay_app.run(Options(), None)",
}
STUCK = {
    "in the event loop, as behind a dead writer": "threading.Event().wait()",
    "in a thread, as in Textual's reader": "threading.Thread(target=threading.Event().wait).start()",
}


@pytest.mark.parametrize("screens", SCREENS.values(), ids=SCREENS)
@pytest.mark.parametrize("stuck", STUCK.values(), ids=STUCK)
def test_nothing_that_waits_for_a_lost_terminal_keeps_the_process(stuck, screens, tmp_path):
    pid, terminal = pty.fork()
    if pid == 0:
        script = SCRIPT.format(stuck=stuck, screens=screens)
        environment = os.environ | {"WORKBENCH_HOME": str(tmp_path)}
        os.execve(sys.executable, [sys.executable, "-c", script], environment)
    watchdog = threading.Timer(30, os.kill, (pid, 9))
    watchdog.start()
    assert os.read(terminal, 5) == b"ready"
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    watchdog.cancel()
    assert os.waitstatus_to_exitcode(status) == 129
