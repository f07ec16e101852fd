"""Short ways for tests to talk with a worker, and small stand-ins for the worker process."""

import asyncio
import os
import time
from pathlib import Path

from workbench.worker.client import Worker
from workbench.worker.messages import Ready


async def collected(job, request):
    """Every report of one job, from Ready to Finished or Failed."""
    worker = await Worker.start(job)
    reports = []
    try:
        async for report in worker.reports():
            reports.append(report)
            if isinstance(report, Ready):
                await worker.send(request)
    finally:
        await worker.stop()
    return reports


def collect(job, request):
    return asyncio.run(collected(job, request))


def only(reports, kind):
    return [report for report in reports if isinstance(report, kind)]


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc").is_dir()


def gone_within(pid: int, limit_s: float) -> bool:
    """Wait until the process is gone, at most `limit_s`."""
    end = time.monotonic() + limit_s
    while is_running(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def stand_in(directory: Path, code: str) -> str:
    """An executable that runs `code` in place of `python -P -m workbench.worker JOB`."""
    path = directory / "stand-in"
    path.write_text(f"#!{os.path.realpath('/usr/bin/env')} python3\n{code}\n")
    path.chmod(0o755)
    return str(path)
