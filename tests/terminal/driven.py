"""A program in a pty of its own, driven by keys, its screen read as a terminal would show it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

import pyte


class Driven:
    """Use it as a context. `sent` counts the bytes that the program has written to its terminal."""

    def __init__(self, command, size=(80, 24), **env):
        self.columns, self.rows = size
        self._screen = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
        terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        self._process = subprocess.Popen(
            [str(word) for word in command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | terminal | env,
            start_new_session=True,
        )
        os.close(slave)
        self.sent = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.terminate()
            self.read_until(lambda: self._process.poll() is not None, "it to end", 10)
        os.close(self._master)

    @property
    def pid(self):
        """The program's process id."""
        return self._process.pid

    @property
    def exit_code(self):
        """Its exit code, None while it runs."""
        return self._process.poll()

    @property
    def screen(self):
        """The rows as text."""
        return "\n".join(self._screen.display)

    def press(self, keys):
        """Type these characters."""
        os.write(self._master, keys.encode())

    def wait_for(self, text, seconds=120.0):
        """Read until the screen shows a text."""
        self.read_until(lambda: text in self.screen, repr(text), seconds)

    def read_until(self, condition, what, seconds=120.0):
        """Read what the program writes until a condition holds; AssertionError with the screen otherwise."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited {seconds} s for {what} on\n{self.screen}"
            self._read(0.05)

    def settle(self, seconds=0.3):
        """Read for a while: keys that follow one another faster than a person's may overtake a focus."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read(0.05)

    def _read(self, timeout):
        if not select.select([self._master], [], [], timeout)[0]:
            return
        try:
            block = os.read(self._master, 65536)
        except OSError:  # the program has closed its end
            time.sleep(timeout)
            return
        self.sent += len(block)
        self._stream.feed(block)
