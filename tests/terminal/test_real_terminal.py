"""The program in a real terminal, with a real worker and a tiny synthetic checkpoint."""

import os
import signal
import subprocess
import time

import pytest

from tests.terminal.harness import WORKBENCH, Terminal, alive, needs_tmux, until
from workbench.ledger import store

pytestmark = [needs_tmux, pytest.mark.skipif(not WORKBENCH.exists(), reason="the program is not installed")]


@pytest.fixture
def models(tiny):
    """The folder of the tiny ladder."""
    return next(iter(tiny.values())).parent


class Desk:
    """A home directory and a terminal to run the program in."""

    def __init__(self, folder, models, tokens):
        self.ledger = folder / "home" / "ledger.jsonl"
        self.models = models
        (folder / "home").mkdir()
        (folder / "home" / "settings.toml").write_text(
            f'tokens = {tokens}\nrepeats = 1\n[[bandwidth]]\ngbps = 20\nkind = "spec"\nsource = "a test"\n'
        )
        env = {"WORKBENCH_HOME": str(folder / "home"), "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1"}
        self.terminal = Terminal(folder, **env)

    def start(self):
        """Start the screens and wait until they take keys."""
        self.terminal.run(WORKBENCH, "--models", self.models)
        self.terminal.wait_for("tiny-mixture")
        self.terminal.wait_for("quit")

    def lock(self, number="300"):
        """Choose the first checkpoint and lock a number."""
        self.terminal.press("Enter")
        self.terminal.wait_for("tensors")
        self.terminal.press("n")
        self.terminal.wait_for("your number")
        self.terminal.type(number)
        self.terminal.press("Enter")
        self.terminal.wait_for(f"locked {number}")

    def run(self):
        """Press the run key and wait for tokens."""
        self.terminal.press("r")
        self.terminal.wait_for("mean")

    @property
    def statuses(self):
        """The statuses in the ledger."""
        return [record.status for record in store.read(self.ledger).records] if self.ledger.exists() else []

    def worker_of(self, pid):
        """The worker's process id."""
        found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
        return int(found.stdout.split()[0])


@pytest.fixture
def desk(tmp_path, models, request):
    tokens = getattr(request, "param", 20_000)
    made = Desk(tmp_path, models, tokens)
    with made.terminal:
        yield made


@pytest.mark.parametrize("desk", [24], indirect=True)
def test_predict_lock_run_verdict_quit(desk):
    desk.start()
    desk.lock()
    assert "ceiling" in desk.terminal.screen
    desk.terminal.press("r")
    desk.terminal.wait_for("tok/s measured")
    desk.terminal.press("q")
    assert desk.terminal.exit_code == 0
    assert desk.terminal.restored
    [record] = store.read(desk.ledger).records
    assert record.status == "measured"
    assert record.synthetic_weights
    assert record.predicted_at < record.loaded_at


def test_a_killed_worker_is_said_and_the_record_kept_and_ctrl_c_twice_quits(desk):
    desk.start()
    desk.lock()
    desk.run()
    os.kill(desk.worker_of(desk.terminal.pid), signal.SIGKILL)
    desk.terminal.wait_for("failed")
    assert desk.statuses == ["failed"]
    desk.terminal.press("C-c")
    desk.terminal.wait_for("again quits")
    desk.terminal.press("C-c")
    assert desk.terminal.exit_code == 0
    assert desk.terminal.restored


def test_a_killed_program_leaves_no_worker_and_its_record_is_closed_at_the_next_start(desk):
    desk.start()
    desk.lock()
    desk.run()
    pid = desk.terminal.pid
    worker = desk.worker_of(pid)
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    until(lambda: not alive(worker), "the worker to go", 10)
    assert time.monotonic() - killed < 4  # the promise is 2 s; a busy machine gets twice that
    assert desk.statuses == []
    desk.terminal.mend()
    desk.start()
    desk.terminal.wait_for("interrupted run")
    assert desk.statuses == ["interrupted"]
    assert store.read(desk.ledger).records[0].predicted_tps_human == 300
    desk.terminal.press("q")
    until(lambda: desk.terminal.restored, "the terminal to be restored")


@pytest.mark.parametrize(
    ("number", "code", "runs"),
    [(signal.SIGHUP, 129, True), (signal.SIGINT, 130, True), (signal.SIGTERM, 143, False)],
)
def test_a_signal_restores_the_terminal_keeps_the_record_and_gives_its_code(desk, number, code, runs):
    desk.start()
    statuses = []
    if runs:
        desk.lock()
        desk.run()
        statuses = ["cancelled"]
    os.kill(desk.terminal.pid, number)
    assert desk.terminal.exit_code == code
    assert desk.terminal.restored
    assert desk.statuses == statuses
    if runs:
        [record] = store.read(desk.ledger).records
        assert record.reason.startswith(f"Ended by {number.name}.")


@pytest.mark.parametrize("desk", [24], indirect=True)
def test_a_ladder_of_two_with_their_real_graphs(desk):
    desk.start()
    terminal = desk.terminal
    terminal.press("m", "Down", "m")
    terminal.wait_for("2 marked")
    terminal.press("M")
    terminal.wait_for("2 numbers still to be said")
    terminal.press("n")
    for number in ("300", "200"):
        terminal.wait_for("your number for")
        terminal.type(number)
        terminal.wait_for(f"{number}.0 tok/s")
        terminal.press("Enter")
    terminal.wait_for("r climbs")
    assert desk.statuses == []
    terminal.press("r")
    terminal.wait_for("2 of 2 measured")
    terminal.press("Escape")
    terminal.wait_for("1 models")
    terminal.press("q")
    assert terminal.exit_code == 0
    records = store.read(desk.ledger).records
    assert [(r.experiment, r.status, r.predicted_tps_human) for r in records] == [
        ("ladder", "measured", 300),
        ("ladder", "measured", 200),
    ]
    assert [r.witness.status for r in records] == ["agrees", "agrees"]
    assert max(r.predicted_at for r in records) < min(r.loaded_at for r in records)
