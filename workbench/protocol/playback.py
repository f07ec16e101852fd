"""Plays a recorded run with the surface of a measurement: prepare, lock, measure. It records nothing.

No worker, no ledger and no lock file is reachable from here. Time passes at a chosen speed and can be held.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import msgspec

from workbench.analysis.derive import derive
from workbench.errors import PredictionMissingError, UsageError
from workbench.ledger.parts import LockedPrediction, NamedPrediction
from workbench.ledger.record import Record
from workbench.protocol.dossier import require_predictions
from workbench.protocol.plan import Plan
from workbench.protocol.replaying import Replay
from workbench.protocol.run import Phase, Run, fold
from workbench.worker.messages import Loading, Ready

SLOWEST, FASTEST = 0.125, 64.0
LOOK_S = 0.05
"""How soon a pause or another speed takes effect."""
ON_TIME_S = 1e-6
"""What is left of a wait is not worth a sleep below this."""


class Tempo:
    """How fast recorded time passes: `speed` times as fast as the clock, not at all while `paused`."""

    def __init__(
        self,
        speed: float = 1.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if not SLOWEST <= speed <= FASTEST:
            raise UsageError(
                f"The speed {speed:g} is not between {SLOWEST:g} and {FASTEST:g}.", "Say --speed 2."
            )
        self.speed = speed
        self.paused = False
        self._clock = clock
        self._sleep = sleep
        self._position_s = 0.0
        self._seen_s = clock()

    def rewind(self) -> None:
        """Back to second 0, and going."""
        self._position_s, self._seen_s, self.paused = 0.0, self._clock(), False

    def change(self, factor: float) -> None:
        """Faster or slower, within its limits."""
        self._pass()
        self.speed = min(FASTEST, max(SLOWEST, self.speed * factor))

    def hold(self) -> None:
        """Pause, or go on."""
        self._pass()
        self.paused = not self.paused

    async def until(self, at_s: float) -> None:
        """Wait until recorded time has come to `at_s`."""
        self._pass()
        while (left_s := (at_s - self._position_s) / self.speed) > ON_TIME_S:
            await self._sleep(LOOK_S if self.paused else min(LOOK_S, left_s))
            self._pass()

    def _pass(self) -> None:
        now_s = self._clock()
        if not self.paused:
            self._position_s += (now_s - self._seen_s) * self.speed
        self._seen_s = now_s


class Playback:
    """One replay. `on_change` gets every new `Run`; `now` says the UTC time of a lock."""

    def __init__(
        self,
        replay: Replay,
        tempo: Tempo,
        *,
        on_change: Callable[[Run], None] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.replay = replay
        self.run = Run(replay.plan)
        self._tempo = tempo
        self._on_change = on_change
        self._now = now
        self._stopped = False

    @property
    def recorded_predictions(self) -> tuple[NamedPrediction, ...]:
        """What people said then; a record without names has the one number."""
        record = self.replay.record
        if record.predictions:
            return tuple(record.predictions)
        if record.predicted_tps_human is None:
            return ()
        return (NamedPrediction(record.predicted_by or "you", record.predicted_tps_human),)

    def replan(self, plan: Plan) -> None:
        """The recorded plan stands; only how it is painted may change."""
        self._become(replace(self.run, plan=replace(self.run.plan, settings=plan.settings)))

    async def prepare(self) -> None:
        """The stamp as it was recorded."""
        if self.run.stamp is None:
            self._become(fold(self.run, Ready(stamp=self.replay.stamp, pid=0)))

    def lock(self, predictions: Sequence[tuple[str, float]], by: str | None = None) -> None:
        """Lock numbers that are said now, in memory only; errors as for `Measurement.lock`."""
        require_predictions(predictions)
        if self.run.load_begun:
            raise UsageError(
                "The replay has begun: its prediction stands.", "Start over to say another number."
            )
        named = tuple(NamedPrediction(name or by or "you", tps) for name, tps in predictions)
        self._locked(named, self._now().isoformat(timespec="microseconds"))

    def lock_recorded(self) -> None:
        """Lock what was said then. Raises PredictionMissingError where nobody's number was recorded."""
        said = self.recorded_predictions
        if not said:
            raise PredictionMissingError(
                "Nobody's prediction is in this record.",
                "Say a number of your own first (n): nothing is recorded.",
            )
        self._locked(said, self.replay.record.predicted_at or self.replay.record.date or "")

    async def measure(self) -> Record:
        """Play to the end: the record as it is, with the errors of the numbers that were said now.

        Raises PredictionMissingError without a lock, UsageError when it was stopped.
        """
        if not self.run.locked:
            raise PredictionMissingError("Nobody has predicted this run.", "Say a number first.")
        self._stopped = False
        before = self.run
        self._tempo.rewind()
        for cue in self.replay.cues:
            await self._tempo.until(cue.at_s)
            if self._stopped:
                self._become(before)
                raise UsageError("The replay was stopped.", "r plays it again.", code="stopped")
            report = cue.report
            if isinstance(report, Loading):
                report = Loading(at_ns=time.time_ns())
            self._become(fold(self.run, report))
        record = self._record()
        self._become(replace(self.run, phase=Phase.ENDED, record=record))
        return record

    async def cancel(self, reason: str = "") -> None:  # noqa: ARG002 - as a measurement's
        """Stop playing, at the next cue."""
        self._stopped = True
        self._tempo.paused = False

    async def close(self) -> None:
        """Nothing is left behind."""
        await self.cancel()

    def _record(self) -> Record:
        record = self.replay.record
        if self.run.predictions == self.recorded_predictions:
            return record
        first = self.run.predictions[0]
        return derive(
            msgspec.structs.replace(
                record,
                predictions=list(self.run.predictions),
                predicted_tps_human=first.tps,
                predicted_by=first.name,
                predicted_at=None,
                locks=[],
            )
        )

    def _locked(self, named: tuple[NamedPrediction, ...], at: str) -> None:
        locks = (*self.run.locks, LockedPrediction(at, named[0].tps))
        self._become(replace(self.run, phase=Phase.LOCKED, predictions=named, locks=locks))

    def _become(self, run: Run) -> None:
        self.run = run
        if self._on_change is not None:
            self._on_change(run)
