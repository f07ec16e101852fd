"""Counts what the scripted screens write to a pty of a given size."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

from tests.terminal.scripted import BEGIN, END

SCRIPT = Path(__file__).with_name("scripted.py")


def bytes_per_second(size, *, seconds=4.0, hz=4.0, drawing="auto", pane="run"):
    """Bytes a second that a decode of some seconds sends to a terminal of (columns, rows)."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    command = [sys.executable, str(SCRIPT), f"--seconds={seconds}", f"--hz={hz}"]
    command += [f"--drawing={drawing}", f"--pane={pane}"]
    env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
    child = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
    )
    os.close(slave)
    sent = b""
    try:
        while True:
            try:
                block = os.read(master, 65536)
            except OSError:  # the child has closed its end
                break
            if not block:
                break
            sent += block
    finally:
        child.wait(timeout=30)
        os.close(master)
    assert BEGIN in sent and END in sent, sent[-2000:].decode(errors="replace")
    begin, end = sent.index(BEGIN) + len(BEGIN), sent.index(END)
    return (end - begin) / seconds
