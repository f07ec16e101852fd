"""Playing a recorded run: in the protocol's order, at a chosen speed, and nothing is ever recorded."""

import asyncio
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from tests.analysis.office import office_record
from tests.protocol.test_replaying import recorded
from workbench import locations
from workbench.errors import PredictionMissingError, UsageError
from workbench.ledger.parts import NamedPrediction
from workbench.protocol.playback import FASTEST, SLOWEST, Playback, Tempo
from workbench.protocol.replaying import replay_of
from workbench.protocol.run import Phase

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


class FakeTime:
    """A clock that only sleeping moves. `before_sleep` may act on what is being played."""

    def __init__(self):
        self.now_s = 1000.0
        self.before_sleep = lambda: None

    def clock(self):
        return self.now_s

    async def sleep(self, seconds):
        self.before_sleep()
        self.now_s += seconds
        await asyncio.sleep(0)


class Stalls:
    """Everything a playback said, and its clock."""

    def __init__(self, record, speed=1.0):
        self.time = FakeTime()
        self.tempo = Tempo(speed, clock=self.time.clock, sleep=self.time.sleep)
        self.seen = []
        self.playback = Playback(replay_of(record), self.tempo, on_change=self.seen.append, now=lambda: NOON)

    @property
    def phases(self):
        found = []
        for run in self.seen:
            if not found or found[-1] is not run.phase:
                found.append(run.phase)
        return found


def said_then(**fields):
    people = [NamedPrediction("ana", 120.0, -0.2075), NamedPrediction("bo", 300.0, -0.683)]
    return recorded(
        predictions=people,
        predicted_tps_human=120.0,
        predicted_by="ana",
        predicted_at="2026-09-15T11:59:50+00:00",
        **fields,
    )


async def played(stalls):
    await stalls.playback.prepare()
    stalls.playback.lock_recorded()
    return await stalls.playback.measure()


async def test_a_run_is_played_in_the_protocols_order():
    stalls = Stalls(said_then())
    record = await played(stalls)
    assert stalls.phases == [
        Phase.PREDICTING,
        Phase.LOCKED,
        Phase.LOADING,
        Phase.WARMING,
        *[Phase.PREFILL, Phase.DECODING, Phase.COOLING] * 2,
        Phase.ENDED,
    ]
    assert record is stalls.playback.replay.record
    assert stalls.playback.run.record is record


async def test_nothing_measured_is_in_the_run_before_its_time():
    stalls = Stalls(said_then())
    await played(stalls)
    for run in stalls.seen:
        if run.phase is not Phase.ENDED:
            assert run.record is None
        if not run.locked:
            assert run.now is None


@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
async def test_it_takes_the_recorded_time_divided_by_the_speed(speed):
    stalls = Stalls(said_then(), speed)
    await played(stalls)
    assert stalls.time.now_s - 1000.0 == pytest.approx(stalls.playback.replay.seconds / speed)


async def test_a_held_replay_stands_still_and_goes_on():
    stalls = Stalls(said_then())
    slept = []

    def act():
        slept.append(stalls.playback.run)
        if len(slept) == 20:
            stalls.tempo.hold()
        if len(slept) == 120:
            stalls.tempo.hold()

    stalls.time.before_sleep = act
    await played(stalls)
    assert len(set(map(id, slept[20:119]))) == 1  # five seconds, not one message
    assert stalls.time.now_s - 1000.0 == pytest.approx(stalls.playback.replay.seconds + 100 * 0.05, abs=0.11)


async def test_the_speed_changes_while_it_plays_within_its_limits():
    stalls = Stalls(said_then())
    stalls.time.before_sleep = lambda: stalls.tempo.change(2)
    await played(stalls)
    assert stalls.tempo.speed == FASTEST
    for _ in range(20):
        stalls.tempo.change(0.5)
    assert stalls.tempo.speed == SLOWEST


@pytest.mark.parametrize("speed", [0.0, -1.0, 1e9, float("nan")])
def test_no_other_speed_is_taken(speed):
    with pytest.raises(UsageError, match="speed"):
        Tempo(speed)


async def test_numbers_of_today_are_ranked_against_the_record_and_change_nothing_in_it():
    stalls = Stalls(said_then())
    await stalls.playback.prepare()
    stalls.playback.lock([("dora", 95.0), ("", 1.0)])
    record = await stalls.playback.measure()
    original = stalls.playback.replay.record
    assert [(one.name, one.tps) for one in record.predictions] == [("dora", 95.0), ("you", 1.0)]
    assert record.predictions[0].error == pytest.approx(95.1 / 95.0 - 1)
    assert record.prediction_error == record.predictions[0].error
    assert record.predicted_at is None  # no lock of today stands before that load
    assert (
        replace(
            record,
            predictions=original.predictions,
            predicted_tps_human=original.predicted_tps_human,
            predicted_by=original.predicted_by,
            predicted_at=original.predicted_at,
            prediction_error=original.prediction_error,
            fractions=original.fractions,
            effective_gbps=original.effective_gbps,
            predicted_decode_tps=original.predicted_decode_tps,
        )
        == original
    )
    assert stalls.playback.run.locks[0].at.startswith("2026-11-29T12:00:00")


async def test_nobody_is_played_without_a_number():
    stalls = Stalls(office_record("Qwen3.5-9B-4bit"))
    await stalls.playback.prepare()
    with pytest.raises(PredictionMissingError):
        await stalls.playback.measure()
    with pytest.raises(PredictionMissingError, match="Nobody's prediction"):
        stalls.playback.lock_recorded()
    with pytest.raises(UsageError, match="predicts nothing"):
        stalls.playback.lock([("ana", -1.0)])


async def test_a_stopped_replay_is_back_at_its_lock_and_plays_again():
    stalls = Stalls(said_then())
    stalls.time.before_sleep = lambda: setattr(stalls.playback, "_stopped", len(stalls.seen) > 8)
    with pytest.raises(UsageError, match="stopped"):
        await played(stalls)
    assert stalls.playback.run.phase is Phase.LOCKED
    assert stalls.playback.run.points == ()
    stalls.time.before_sleep = lambda: None
    assert await stalls.playback.measure() is stalls.playback.replay.record


async def test_nothing_is_written_anywhere(tmp_path):
    before = sorted(tmp_path.rglob("*"))
    stalls = Stalls(said_then())
    await played(stalls)
    await stalls.playback.close()
    assert sorted(tmp_path.rglob("*")) == before
    assert not locations.ledger_path().exists()
    assert not locations.locks_dir().exists()
