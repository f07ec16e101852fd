"""The look at a checkpoint's decode graph, going on in the background in a process of its own.

It begins once the bytes are counted, ends by itself, by `stop`, or with the next checkpoint, and posts one
message. No widget is touched here.
"""

import asyncio
from contextlib import suppress
from pathlib import Path

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.tui.messages import Seen
from workbench.tui.seal import Looked
from workbench.tui.threads import Post
from workbench.witness.agreement import compare
from workbench.witness.reasons import Reason, not_witnessed


class GraphLook:
    """At most one look at a time."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._task: asyncio.Task[None] | None = None

    def begin(self, path: Path, checkpoint: Checkpoint, count: Count) -> None:
        """Look at this checkpoint's graph; a look that is going on is given up."""
        self.give_up()
        self._task = asyncio.create_task(self._look(path, checkpoint, count))

    def give_up(self) -> None:
        """End the look without waiting for its process; it posts nothing."""
        if self._task is not None:
            self._task.cancel()

    async def stop(self) -> None:
        """End the look; its process is gone when this returns."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _look(self, path: Path, checkpoint: Checkpoint, count: Count) -> None:
        self._post(Seen(path, await look(checkpoint, count)))


async def look(checkpoint: Checkpoint, count: Count) -> Looked:
    """The seal of this count; whatever goes wrong is a reason in it."""
    from workbench.protocol.witnessing import seals

    try:
        [seal] = await seals(checkpoint, count)
    except Exception as error:  # a fault of this program must not cost the user the count
        seal = compare(count, not_witnessed(Reason.FAILED, f"{type(error).__name__}: {error}"))
    return Looked(seal)
