"""System commands asked for one text, with a time limit: the only door to other programs in this room.

What the text means is known to the parse functions beside it.
"""

import asyncio
import os
from contextlib import suppress

TIME_LIMIT_S = 2.0
"""A command that takes longer has hung: its figure is then missing, and the run goes on."""


async def text_of(*argv: str, time_limit_s: float = TIME_LIMIT_S) -> str | None:
    """The command's stdout; None when it does not exist, fails, or takes longer than `time_limit_s`."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
        )
    except OSError:
        return None
    try:
        stdout, _ = await asyncio.wait_for(process.communicate(), time_limit_s)
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return stdout.decode("utf-8", "replace") if process.returncode == 0 else None
