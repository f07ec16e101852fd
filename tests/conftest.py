"""Common ground of the tests: no test touches the user's own files, cache, network or Hub."""

import os
import signal

import pytest

from tests.snapshots import pytest_configure  # noqa: F401 (a hook)
from tests.tiny import tiny_checkpoints

os.environ.update({"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false"})


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Every test has a home of its own; the program keeps its files and looks for caches only there."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "workbench-home"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    monkeypatch.delenv("WORKBENCH_LEDGER", raising=False)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    return tmp_path / "workbench-home"


@pytest.fixture(autouse=True, scope="session")
def signals():
    """nohup ignores SIGHUP, a shell's background SIGINT; every program that the tests start would too."""
    wanted = {
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """{name: path} of the tiny synthetic checkpoints, built once for all tests."""
    return tiny_checkpoints(tmp_path_factory.mktemp("tiny"))
