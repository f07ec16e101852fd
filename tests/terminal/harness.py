"""A real terminal: a tmux server of its own, driven by keys and read as text."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
WORKBENCH = Path(sys.executable).parent / "workbench"


class Terminal:
    """One tmux pane with a shell in it. Use it as a context: its server ends with it."""

    def __init__(self, folder: Path, width: int = 80, height: int = 24, **env: str) -> None:
        self.folder = folder
        self._server = ["tmux", "-L", f"wb-{os.getpid()}-{folder.name[-20:]}", "-f", "/dev/null"]
        self._env = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PS1": "$ ", **env}
        self._size = (width, height)

    def __enter__(self) -> "Terminal":
        settings = [f"-e{name}={value}" for name, value in self._env.items()]
        width, height = self._size
        self._tmux("new-session", "-d", f"-x{width}", f"-y{height}", *settings, "sh")
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        result = subprocess.run([*self._server, *words], capture_output=True, text=True, check=False)
        return result.stdout

    def run(self, *command: object) -> None:
        """Type a command into the shell; its exit code and process id are kept."""
        (self.folder / "exit").unlink(missing_ok=True)
        line = shlex.join(map(str, command))
        self.type(f"{line}; echo $? > {self.folder / 'exit'}")
        self.press("Enter")

    def mend(self) -> None:
        """What a person does after a program died in raw mode."""
        self.type("stty sane; printf '\\033[?1049l\\033[?1000l\\033[?1003l\\033[?25h'")
        self.press("C-j")

    def type(self, text: str) -> None:
        """Type a text."""
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names."""
        self._tmux("send-keys", *keys)

    @property
    def screen(self) -> str:
        """What the terminal shows."""
        return self._tmux("capture-pane", "-p")

    @property
    def restored(self) -> bool:
        """Whether the terminal is as the shell left it: no alternate screen, no mouse, a cursor."""
        flags = self._tmux("display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}")
        return flags.split() == ["0", "0", "1"]

    @property
    def pid(self) -> int:
        """The process id of what the shell runs."""
        shell = self._tmux("display", "-p", "#{pane_pid}").strip()
        found = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=False)
        return int(found.stdout.split()[0])

    @property
    def exit_code(self) -> int:
        """The last command's exit code."""
        until((self.folder / "exit").exists, "the command to end")
        return int((self.folder / "exit").read_text())

    def wait_for(self, text: str, seconds: float = 60) -> str:
        """Wait until the terminal shows a text; the screen then."""
        end = time.monotonic() + seconds
        while text not in (shown := self.screen):
            assert time.monotonic() < end, f"waited {seconds} s for {text!r} on\n{shown}"
            time.sleep(0.05)
        return shown


def until(condition, what: str, seconds: float = 60) -> None:
    """Wait for a condition; fail with `what` was waited for."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
