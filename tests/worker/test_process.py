"""The worker process as its client sees it: start, noise, death, and that nothing is left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.worker.conversation import collect, gone_within, is_running, only, stand_in
from workbench.errors import WorkerError
from workbench.locations import log_dir
from workbench.worker.client import Worker
from workbench.worker.messages import (
    DecodeRequest,
    Failed,
    Finished,
    Loaded,
    Loading,
    Progress,
    Ready,
    RepeatDone,
    RepeatStarted,
    StampRequest,
    Warmed,
)


async def until(worker, kind):
    async for report in worker.reports():
        if isinstance(report, kind):
            return report
    raise AssertionError(f"no {kind.__name__}")


def test_a_worker_says_its_stamp_and_finishes():
    ready, finished = collect("stamp", StampRequest())
    assert isinstance(ready, Ready) and isinstance(finished, Finished)
    assert ready.stamp.backend in {"cpu", "metal", "cuda"}
    assert ready.stamp.mlx and ready.stamp.mlx_lm
    assert gone_within(ready.pid, 1)


def test_a_library_that_no_job_needs_is_not_imported_where_it_is_installed(tmp_path, monkeypatch):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("open(__file__ + '.imported', 'w').close()")
    (tmp_path / "torch-2.9.0.dist-info").mkdir()
    (tmp_path / "torch-2.9.0.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.9.0\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ready, *_, failed = collect("decode", DecodeRequest(str(tmp_path / "nothing")))
    assert isinstance(ready, Ready)
    assert failed.code == "checkpoint_missing"
    assert not list((tmp_path / "torch").glob("*.imported"))


async def test_a_worker_is_out_of_reach_of_the_terminals_interrupt_key():
    worker = await Worker.start("stamp")
    try:
        assert os.getsid(worker.pid) == worker.pid != os.getsid(0)
    finally:
        await worker.stop()


NOISE = """
import os, sys, threading, time

def shout():
    while "mlx.core" not in sys.modules:
        time.sleep(0.01)
    while True:
        print("noise on stdout", flush=True)
        sys.stderr.write("noise on stderr\\n")
        os.write(1, b'{"type": "Finished"}\\n')
        os.write(2, b"raw noise\\n")
        time.sleep(0.002)

threading.Thread(target=shout, daemon=True).start()
"""


def test_what_libraries_print_never_reaches_the_messages(tiny, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(NOISE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    reports = collect("decode", DecodeRequest(str(tiny["tiny-1"]), repeats=1))
    kinds = [type(report) for report in reports if not isinstance(report, Progress)]
    assert kinds == [Ready, Loading, Loaded, Warmed, RepeatStarted, RepeatDone, Finished]
    (log,) = log_dir().glob("decode-*.log")
    assert "noise on stdout" in log.read_text() and "raw noise" in log.read_text()


def test_a_missing_backend_names_the_extras(tmp_path, monkeypatch):
    (tmp_path / "mlx").mkdir()
    (tmp_path / "mlx" / "__init__.py").write_text("")
    (tmp_path / "mlx" / "core.py").write_text(
        "raise ImportError('libmlx.so: cannot open shared object file')"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    (failed,) = collect("decode", StampRequest())
    assert isinstance(failed, Failed) and failed.code == "backend_missing"
    assert "libmlx.so" in failed.message
    if os.uname().sysname == "Linux":
        assert "decode-workbench[cpu]" in failed.hint and "decode-workbench[cuda13]" in failed.hint


def test_a_request_of_another_job_fails_in_words():
    failed = only(collect("stamp", DecodeRequest("x")), Failed)
    assert failed and "does not know" in failed[0].message


async def test_stopping_ends_a_decoding_worker_within_a_second_and_quietly(tiny):
    worker = await Worker.start("decode")
    await until(worker, Ready)
    await worker.send(DecodeRequest(str(tiny["tiny-3"]), max_tokens=1_000_000))
    await until(worker, Progress)
    began = time.monotonic()
    await worker.stop()
    assert time.monotonic() - began < 1
    assert not psutil.pid_exists(worker.pid)
    rest = [report async for report in worker.reports()]  # what was under way, and then no error
    assert all(isinstance(report, Progress) for report in rest)


async def test_stopping_ends_a_worker_that_is_deep_in_a_computation_within_a_second(tiny):
    worker = await Worker.start("decode")
    await until(worker, Ready)
    # One evaluation of seconds: the interpreter gets no turn in which a signal could be handled.
    await worker.send(DecodeRequest(str(tiny["tiny-3"]), prompt_tokens=8000, prefill_step_size=8000))
    await until(worker, Loaded)
    await asyncio.sleep(0.2)
    began = time.monotonic()
    await worker.stop()
    assert time.monotonic() - began < 1
    assert not psutil.pid_exists(worker.pid)


async def test_a_killed_worker_is_reported_in_words_and_leaves_no_zombie(tiny):
    worker = await Worker.start("decode")
    await until(worker, Ready)
    await worker.send(DecodeRequest(str(tiny["tiny-3"]), max_tokens=1_000_000))
    await until(worker, Progress)
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerError) as raised:
        async for _ in worker.reports():
            pass
    assert "SIGKILL" in raised.value.message and "memory" in raised.value.message
    assert raised.value.code == "worker_died"
    assert not psutil.pid_exists(worker.pid)
    await worker.stop()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM])
async def test_other_ends_are_named_with_the_logs_last_line(number, monkeypatch, tmp_path):
    code = (
        "import os, pathlib, signal, sys\n"
        "log = pathlib.Path(os.environ['WORKBENCH_HOME']) / 'log'\n"
        "log.mkdir(parents=True)\n"
        "(log / f'stamp-{os.getpid()}.log').write_text('fine\\nbad \\x1b[2J thing\\n\\n')\n"
        f"os.kill(os.getpid(), {int(number)})\n"
    )
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, code))
    worker = await Worker.start("stamp")
    with pytest.raises(WorkerError, match=number.name) as raised:
        await until(worker, Ready)
    assert raised.value.message.endswith(r"Its last words: bad \x1b[2J thing")


async def test_an_exit_status_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, "raise SystemExit(7)"))
    worker = await Worker.start("stamp")
    with pytest.raises(WorkerError, match="exit status 7"):
        await until(worker, Ready)


async def test_nonsense_from_the_worker_is_an_error_and_ends_it(monkeypatch, tmp_path):
    code = "import time\nprint('Traceback \\x1b[31m', flush=True)\ntime.sleep(60)"
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, code))
    worker = await Worker.start("stamp")
    with pytest.raises(WorkerError, match="no report") as raised:
        await until(worker, Ready)
    assert raised.value.message.isprintable()
    assert not psutil.pid_exists(worker.pid)


async def test_a_line_without_an_end_is_nonsense_and_not_held(monkeypatch, tmp_path):
    monkeypatch.setattr("workbench.worker.client._MAX_LINE_BYTES", 4096)
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, "print('x' * 100_000, flush=True)"))
    worker = await Worker.start("stamp")
    with pytest.raises(WorkerError, match="a line without an end"):
        await until(worker, Ready)
    assert not psutil.pid_exists(worker.pid)


async def test_a_worker_that_ignores_every_plea_is_killed_within_a_second(monkeypatch, tmp_path):
    code = (
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        'print(\'{"type":"Finished"}\', flush=True)\n'
        "time.sleep(60)"
    )
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, code))
    worker = await Worker.start("stamp")
    assert isinstance(await worker.report(), Finished)
    began = time.monotonic()
    await asyncio.gather(worker.stop(), worker.stop())
    assert time.monotonic() - began < 1.5
    assert not psutil.pid_exists(worker.pid)
    assert await worker.report() is None


async def test_a_repeat_of_a_hundred_thousand_tokens_passes_on_one_line(monkeypatch, tmp_path):
    code = (
        "import json\n"
        "times = [10**18 + i for i in range(100_000)]\n"
        "repeat = dict(index=0, ttft_s=1.0, prompt_tps=1.0, token_times_ns=times, peak_memory_gb=1.0)\n"
        "print(json.dumps(dict(type='RepeatDone', repeat=repeat)))\n"
        "print(json.dumps(dict(type='Finished')), flush=True)\n"
    )
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, code))
    worker = await Worker.start("decode")
    done, _ = [report async for report in worker.reports()]
    assert len(done.repeat.token_times_ns) == 100_000


async def test_a_worker_that_cannot_start_is_an_error_in_words(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(WorkerError, match="could not be started"):
        await Worker.start("stamp")


PARENT = """
import asyncio, sys
from workbench.worker.client import Worker
from workbench.worker.messages import DecodeRequest, Loaded, Progress, Ready

async def main(path, stage):
    worker = await Worker.start("decode")
    async for report in worker.reports():
        if isinstance(report, Ready):
            if stage == "waiting":
                break
            size = 8000 if stage == "computing" else 209
            await worker.send(
                DecodeRequest(path, max_tokens=1_000_000, prompt_tokens=size, prefill_step_size=8000)
            )
        if isinstance(report, Loaded) and stage == "computing":
            await asyncio.sleep(0.2)
            break
        if isinstance(report, Progress):
            break
    print(worker.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main(sys.argv[1], sys.argv[2]))
"""


@pytest.mark.parametrize("stage", ["waiting", "computing", "decoding"])
def test_no_worker_outlives_a_killed_parent_for_two_seconds(stage, tiny):
    parent = subprocess.Popen(
        [sys.executable, "-P", "-c", PARENT, str(tiny["tiny-3"]), stage], stdout=subprocess.PIPE, text=True
    )
    try:
        worker_pid = int(parent.stdout.readline())
        assert is_running(worker_pid)
        parent.send_signal(signal.SIGKILL)
        assert gone_within(worker_pid, 2)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def test_the_worker_run_by_hand_says_its_usage():
    done = subprocess.run(
        [sys.executable, "-P", "-m", "workbench.worker", "dance"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "decode" in done.stderr and done.stdout == ""


def test_an_unwritable_log_folder_does_not_stop_a_worker(home):
    home.mkdir()
    Path(home / "log").write_text("a file where the folder should be")
    assert isinstance(collect("stamp", StampRequest())[-1], Finished)


async def test_a_worker_that_closes_its_pipe_and_lives_on_is_ended(monkeypatch, tmp_path):
    code = "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(60)"
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, code))
    worker = await Worker.start("stamp")
    with pytest.raises(WorkerError, match="SIGTERM"):
        await until(worker, Ready)
    assert not psutil.pid_exists(worker.pid)
