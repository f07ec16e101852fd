"""What only a process meets: pipes that close, terminals that are none, encodings, no network."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.processes import ROOT, begun, command, environment, finished

FULL = Path("/dev/full")
NO_NETWORK = """
import socket, sys

def refuse(*given, **named):
    print("NETWORK", given, file=sys.__stderr__)
    sys.__stderr__.flush()
    import os
    os._exit(99)

socket.getaddrinfo = refuse
socket.create_connection = refuse
socket.socket.connect = refuse
from workbench.cli import main
codes = [main(words.split()) for words in sys.argv[1:]]
print(codes)
"""


def test_a_mistyped_checkpoint_never_goes_to_the_network(home):
    words = [
        "bytes no-such/checkpoint --json",
        "bytes mlx-community/Qwen3.5-9B-4bti",
        "audit no-such/checkpoint --witness",
        "predict no-such/checkpoint --bandwidth 819",
        "check no-such/checkpoint --bandwidth 819 --measured 5",
        "compare no-such/checkpoint no-such/other",
        "fit --estimate no-such/checkpoint",
        "measure no-such/checkpoint --predict 5 --bandwidth 819",
        "ladder no-such/checkpoint --predict 5 --bandwidth 819",
    ]
    ended = subprocess.run(
        [sys.executable, "-c", NO_NETWORK, *words],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env=environment(HF_HUB_OFFLINE=None),
        timeout=60,
        check=False,
    )
    assert "NETWORK" not in ended.stderr
    assert ended.stdout.splitlines()[-1] == str([3] * len(words))
    assert "`hf download no-such/checkpoint` fetches a repository" in ended.stderr


def test_a_reader_that_leaves_is_no_error(published, home):
    workbench = begun("audit", published("mlx-Qwen3.5-35B-A3B-4bit"), "--tensors")
    assert workbench.stdout.readline()
    workbench.stdout.close()
    assert workbench.stderr.read() == ""
    assert workbench.wait(timeout=30) == 0
    workbench.stderr.close()


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        (["models", "--json"], "workbench: No space left on device\n", 2),
        (["models"], "workbench: No space left on device\n", 2),
        (["--help"], "workbench: No space left on device\n", 2),
        (["bytes", "/nowhere", "--json"], "workbench: '/nowhere': no such file or directory\n", 3),
    ],
    ids=["data", "a table", "help", "an error"],
)
def test_a_full_disk_behind_stdout_is_said_in_words(words, says, code):
    with FULL.open("w") as full:
        ended = subprocess.run(
            command(*words),
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=ROOT,
            env=environment(),
            check=False,
        )
    assert ended.returncode == code
    assert ended.stderr.startswith(says)
    assert "Exception" not in ended.stderr


def test_closed_streams_end_nothing_in_a_traceback(shelf):
    words = " ".join(f"'{word}'" for word in command("bytes", "synthetic/tiny-1"))
    for closed in ("2>&-", "<&-", ">&-"):
        ended = subprocess.run(
            ["sh", "-c", f"{words} {closed}"],
            capture_output=True,
            encoding="utf-8",
            cwd=ROOT,
            env=environment(),
            check=False,
        )
        assert ended.returncode == 0, closed
        assert ended.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_letters_that_the_encoding_lacks_are_escaped(encoding, tmp_path):
    name = tmp_path / "größe→模型"
    ended = finished("bytes", name, encoding=encoding, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert ended.returncode == 3
    assert "Traceback" not in ended.stderr
    assert "\\u6a21\\u578b" in ended.stderr


@pytest.mark.parametrize("words", [(), ("--theme", "dark"), ("demo",)])
def test_where_there_is_no_terminal_no_screen_opens(words):
    ended = finished(*words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("workbench: ")


def on_a_terminal(*words, **changes):
    """(exit code, what the terminal received) of a command whose three streams are a terminal."""
    master, slave = pty.openpty()
    workbench = subprocess.Popen(
        command(*words), stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=environment(**changes)
    )
    os.close(slave)
    received = b""
    try:
        while chunk := os.read(master, 65536):
            received += chunk
    except OSError:  # the terminal's last user has gone
        pass
    os.close(master)
    return workbench.wait(timeout=30), received.decode()


@pytest.mark.parametrize("term", ["dumb", None])
def test_a_terminal_that_can_show_no_screens_is_told_so(term):
    code, received = on_a_terminal(TERM=term)
    assert code == 2
    assert "cannot show screens" in received
    assert "\x1b" not in received


def test_a_terminal_without_utf_8_is_told_so():
    code, received = on_a_terminal(TERM="xterm", PYTHONIOENCODING="latin-1")
    assert code == 2
    assert "the screens need UTF-8" in received


def test_commands_on_a_terminal_write_no_escape_sequence(shelf):
    code, received = on_a_terminal("bytes", "synthetic/tiny-1", TERM="xterm")
    assert code == 0
    assert "tiny-1: complete" in received
    assert "\x1b" not in received


def test_json_goes_with_a_command(run):
    assert run("--json").json["error"]["hint"] == "`workbench --help` lists them."
