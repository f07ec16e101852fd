"""A ladder conducted for the screens: lay the rungs, take their numbers, climb. `rungs` is its state.

The order is `protocol.ladder`'s: nothing loads before every number is locked. No widget is touched here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.errors import LedgerError, WorkbenchError
from workbench.prediction.ceiling import BandwidthFigure
from workbench.prediction.parse import parse_predictions
from workbench.protocol.ladder import Ladder
from workbench.protocol.run import Run
from workbench.tui import threads
from workbench.tui.desk import Desk, cannot_run, plan_of
from workbench.tui.graph_look import look
from workbench.tui.messages import Counted, Notice, Offered
from workbench.tui.options import Options
from workbench.tui.rungs import Rung, all_locked
from workbench.tui.seal import Looked, given_up

if TYPE_CHECKING:
    from workbench.protocol.steps import Measurement
    from workbench.shelf.entries import Entry


class Climb:
    """One ladder over `entries`. `problem` says what keeps it from being climbed at all."""

    def __init__(
        self,
        entries: Sequence[Entry],
        options: Options,
        make: Callable[..., Measurement],
        post: threads.Post,
        *,
        figures: tuple[BandwidthFigure, ...] = (),
        rule: str = "count",
    ) -> None:
        """`make` takes a plan and `on_change`, as `Measurement` does."""
        self.rungs = tuple(Rung(entry.name, entry.path, entry.synthetic) for entry in entries)
        self.figures = figures
        self.problem = ""
        self.climbing = False
        self.ended = False
        self._rule, self._options, self._make, self._post = rule, options, make, post
        self._ladder: Ladder | None = None
        self.is_laid = False
        self._places: list[int] = []
        self._look: asyncio.Task[Looked] | None = None
        self._without = False

    @property
    def is_ready(self) -> bool:
        """Whether it can be climbed now."""
        return self.is_laid and not self.climbing and not self.ended and all_locked(self.rungs)

    async def lay(self) -> None:
        """Count every rung, look at its graph, then start the first one's worker and lock what was said."""
        for index in range(len(self.rungs)):
            await self._count(index)
        for index, rung in enumerate(self.rungs):
            if rung.checkpoint is not None and rung.count is not None and not rung.problem:
                self._change(index, looked=await self._looked(rung.checkpoint, rung.count))
                self._plan(index)
        self._places = [i for i, rung in enumerate(self.rungs) if not rung.problem]
        plans = [plan for i in self._places if (plan := self.rungs[i].plan) is not None]
        if not plans:
            self.problem = "none of these checkpoints can be run"
            return
        self._ladder = Ladder(plans, on_change=self._ran, make=self._make)
        try:
            await self._ladder.prepare()
            await self._find_figures()
        except WorkbenchError as error:
            self.problem = error.words
        if self.problem:
            return
        self.is_laid = True
        for index in self._places:
            if self.rungs[index].said:
                self._lock(index)

    def say(self, index: int, text: str) -> None:
        """Somebody's number for a rung (it may correct one): locked now, or once the rungs are laid.

        Raises UsageError for what is no number, or when the ladder is being climbed.
        """
        parse_predictions(text)
        self._change(index, said=text)
        if self.is_laid:
            self._lock(index)

    async def climb(self) -> None:
        """Measure rung after rung; every one leaves its record."""
        assert self._ladder is not None
        self.climbing = True
        try:
            for outcome in await self._ladder.measure():
                if isinstance(outcome, LedgerError):
                    self._post(Notice(outcome.words, problem=True))
        except WorkbenchError as error:
            self.problem = error.words
        finally:
            self.climbing, self.ended = False, True

    async def stop(self) -> None:
        """End the rung that runs and all that wait, their records are kept; before: do without a graph."""
        if self._ladder is not None and self.climbing:
            await self._ladder.cancel()
        elif self._look is not None:
            self._without = True
            self._look.cancel()

    async def close(self, reason: str = "") -> None:
        """Leave no process behind, and no lock without its record, which says `reason` if there is one."""
        if self._ladder is not None:
            try:
                if reason:
                    await self._ladder.cancel(reason)
                await self._ladder.close()
            except WorkbenchError as error:
                self._post(Notice(error.words, problem=True))

    async def _looked(self, checkpoint: Checkpoint, count: Count) -> Looked:
        self._look, self._without = asyncio.create_task(look(checkpoint, count)), False
        try:
            return await self._look
        except asyncio.CancelledError:
            if not self._without:  # the whole climb was given up
                raise
            return given_up(count)
        finally:
            self._look = None

    async def _count(self, index: int) -> None:
        rung = self.rungs[index]
        heard: list[Message] = []
        if rung.synthetic and not rung.path.exists():
            await threads.build(rung.name, rung.path, heard.append)
        if not any(isinstance(one, Counted) for one in heard):  # a failed build has said so
            await asyncio.to_thread(threads.count, rung.path, self._options.overrides, heard.append)
        for said in heard:
            if isinstance(said, Counted):
                problem = said.problem.message if said.problem is not None else ""
                self._change(index, checkpoint=said.checkpoint, count=said.count, problem=problem)
                self._plan(index)
            else:
                self._post(said)

    def _plan(self, index: int) -> None:
        rung = self.rungs[index]
        if rung.problem:
            return
        desk = Desk(
            name=rung.name,
            path=rung.path,
            checkpoint=rung.checkpoint,
            count=rung.count,
            looked=rung.looked,
            figures=self.figures,
            rule=self._rule,
        )
        plan = plan_of(desk, self._options)
        if plan is None:
            self._change(index, problem=cannot_run(desk))
        else:
            self._change(index, plan=replace(plan, experiment="ladder"))

    async def _find_figures(self) -> None:
        """Without a figure of the user's own: what is known of the machine that the stamp names."""
        assert self._ladder is not None
        stamp = self._ladder.measurements[0].run.stamp
        if self.figures or stamp is None:
            return
        heard: list[Message] = []
        await threads.offer(stamp, self._options, heard.append)
        for said in heard:
            if isinstance(said, Offered):
                self.figures = said.known.figures
                self.problem = "" if self.figures else f"{said.known.question} esc, then b or p."
        for index, measurement in zip(self._places, self._ladder.measurements, strict=True):
            self._plan(index)
            if (plan := self.rungs[index].plan) is not None:
                measurement.replan(plan)

    def _lock(self, index: int) -> None:
        assert self._ladder is not None
        said = [(one.name, one.tps) for one in parse_predictions(self.rungs[index].said)]
        try:
            self._ladder.lock(self._places.index(index), said)
        except WorkbenchError as error:
            self._post(Notice(error.words, problem=True))
        self._change(index, said="")

    def _ran(self, place: int, run: Run) -> None:
        index = self._places[place]
        before = self.rungs[index].run
        for sentence in run.notices[len(before.notices) if before is not None else 0 :]:
            self._post(Notice(f"{self.rungs[index].name}: {sentence}", problem=True))
        self._change(index, run=run)

    def _change(self, index: int, **changes: object) -> None:
        rung = replace(self.rungs[index], **changes)  # type: ignore[arg-type]
        self.rungs = (*self.rungs[:index], rung, *self.rungs[index + 1 :])
