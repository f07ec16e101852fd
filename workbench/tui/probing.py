"""The bandwidth probe that a key asks for: one at a time, in a worker process. It posts its outcome."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from workbench.errors import WorkbenchError
from workbench.tui.messages import Probed
from workbench.tui.options import Options
from workbench.tui.threads import Post
from workbench.worker.messages import Probing

ABOUT_S = 15
"""What a probe takes with its worker's start, more or less; it says so, and goes on counting."""


class Probe:
    """Measures the achieved bandwidth and records it. `words` say how far it is."""

    def __init__(
        self, post: Post, options: Options, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._post = post
        self._options = options
        self._monotonic_s = monotonic_s
        self._task: asyncio.Task[None] | None = None
        self._began_s = 0.0
        self._kernel = ""

    @property
    def words(self) -> str:
        """Seconds so far and the kernel that it is at; empty where none is going on."""
        if self._task is None or self._task.done():
            return ""
        seconds = int(self._monotonic_s() - self._began_s)
        return f"{seconds} s of about {max(ABOUT_S, seconds)} s{self._kernel}"

    def begin(self) -> None:
        """Begin, if none is going on."""
        if not self.words:
            self._began_s, self._kernel = self._monotonic_s(), ""
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
                on_kernel=self._at,
            )
        except WorkbenchError as error:
            self._post(Probed(None, error))
        else:
            self._post(Probed(figure))

    def _at(self, said: Probing) -> None:
        self._kernel = f", {said.kernel} {said.dtype}, {said.index + 1} of {said.of}"
