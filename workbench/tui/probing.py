"""The bandwidth probe that a key asks for: one at a time, in a worker process. It posts its outcome."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from workbench.errors import WorkbenchError
from workbench.tui.messages import Probed
from workbench.tui.options import Options
from workbench.tui.threads import Post


class Probe:
    """Measures the achieved bandwidth and records it. `seconds` says how long it has been going on."""

    def __init__(
        self, post: Post, options: Options, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._post = post
        self._options = options
        self._monotonic_s = monotonic_s
        self._task: asyncio.Task[None] | None = None
        self._began_s = 0.0

    @property
    def seconds(self) -> int | None:
        """Whole seconds since it began; None where none is going on."""
        if self._task is None or self._task.done():
            return None
        return int(self._monotonic_s() - self._began_s)

    def begin(self) -> None:
        """Begin, if none is going on."""
        if self.seconds is None:
            self._began_s = self._monotonic_s()
            self._task = asyncio.create_task(self._probe())

    async def stop(self) -> None:
        """End it: its process is gone when this returns, and nothing was recorded."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _probe(self) -> None:
        from workbench.protocol.prepare import probe

        try:
            figure, _ = await probe(
                alias=self._options.settings.alias,
                command=self._options.command,
                ledger=self._options.ledger,
            )
        except WorkbenchError as error:
            self._post(Probed(None, error))
        else:
            self._post(Probed(figure))
