"""Hold off macOS's sleep while a run lasts: `caffeinate`, tied to the worker's life. Elsewhere nothing."""

import asyncio
import shutil
import sys
from contextlib import suppress


class Awake:
    """Keeps the machine awake from `hold` to `release`, or until the process `pid` ends."""

    def __init__(self, platform: str = sys.platform) -> None:
        self._platform = platform
        self._process: asyncio.subprocess.Process | None = None

    async def hold(self, pid: int) -> bool:
        """Start `caffeinate -i -w PID` where there is one; whether sleep is held off now."""
        executable = shutil.which("caffeinate") if self._platform == "darwin" else None
        if executable is None:
            return False
        try:
            self._process = await asyncio.create_subprocess_exec(
                executable,
                "-i",
                "-w",
                str(pid),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return False
        return True

    async def release(self) -> None:
        """Let the machine sleep again."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
