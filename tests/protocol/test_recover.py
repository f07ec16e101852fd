"""Locks whose process is gone: recorded once, whoever starts next, whatever state their files are in."""

import fcntl
import json
import os
import signal
import subprocess
import sys

import pytest

from tests.protocol.stage import Stage
from workbench.ledger import store
from workbench.ledger.record import Record
from workbench.locations import ledger_path, locks_dir
from workbench.protocol.lock import PredictionLock, claim
from workbench.protocol.recover import recover

HOLDER = """
import sys
from pathlib import Path
from workbench.ledger.parts import LockedPrediction
from workbench.ledger.record import Record
from workbench.protocol.lock import PredictionLock
record = Record(record_id="r-1", run_group_id="g-1", experiment="single", status="interrupted", lock_id="l-1",
                reason="The program ended before the run did.", model="tiny", predicted_tps_human=120.0,
                locks=[LockedPrediction("2026-01-01T00:00:00.000000+00:00", 120.0)])
lock = PredictionLock.create(Path(sys.argv[1]), record)
print("held", flush=True)
sys.stdin.read()
"""
STARTER = """
import sys
from pathlib import Path
from workbench.protocol.recover import recover
print("ready", flush=True)
sys.stdin.readline()
print(len(recover(Path(sys.argv[1]), Path(sys.argv[2])).records), flush=True)
"""


def drafted(number=1, **changes):
    given = {"status": "interrupted", "reason": "The program ended before the run did.", "model": "tiny"}
    return Record(
        **{
            "record_id": f"r-{number}",
            "run_group_id": f"g-{number}",
            "experiment": "single",
            "lock_id": f"l-{number}",
            "predicted_tps_human": 120.0,
            **given,
            **changes,
        }
    )


def orphan(folder, record):
    """A lock file that nobody holds."""
    PredictionLock.create(folder, record).abandon()


def started(code, *argv):
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, argv)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().strip() in {"held", "ready"}
    return process


@pytest.fixture
def places(tmp_path):
    return tmp_path / "ledger.jsonl", tmp_path / "locks"


def test_a_process_killed_with_a_lock_leaves_exactly_one_interrupted_record(places):
    ledger, locks = places
    holder = started(HOLDER, locks)
    try:
        assert recover(ledger, locks).records == ()  # it lives: its lock is its own
        assert (locks / "l-1.json").exists()
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    (record,) = recover(ledger, locks).records
    assert (record.status, record.predicted_tps_human, record.lock_id) == ("interrupted", 120.0, "l-1")
    assert record.reason.startswith("The program ended before the run did. Found at 20")
    assert record.sha256
    assert recover(ledger, locks).records == ()
    assert [r.record_id for r in store.read(ledger).records] == ["r-1"]
    assert list(locks.iterdir()) == []


def test_workbenches_that_start_at_once_record_each_lock_once(places):
    ledger, locks = places
    for number in range(5):
        orphan(locks, drafted(number))
    starters = [started(STARTER, ledger, locks) for _ in range(3)]
    for starter in starters:
        starter.stdin.write("\n")
        starter.stdin.flush()
    found = [int(starter.communicate()[0].strip()) for starter in starters]
    assert sum(found) == 5
    assert sorted(r.record_id for r in store.read(ledger).records) == [f"r-{n}" for n in range(5)]
    assert list(locks.iterdir()) == []


def test_a_run_that_died_between_append_and_removal_is_not_recorded_twice(places):
    ledger, locks = places
    store.append(ledger, drafted(status="measured", reason=None))
    orphan(locks, drafted(status="measured", reason=None))
    assert recover(ledger, locks).records == ()
    assert len(store.read(ledger).records) == 1
    assert list(locks.iterdir()) == []


def test_a_run_that_had_ended_but_not_reached_the_ledger_keeps_its_results(places):
    ledger, locks = places
    orphan(locks, drafted(status="measured", reason=None, generation_tps=99.0))
    (record,) = recover(ledger, locks).records
    assert (record.status, record.generation_tps, record.reason) == ("measured", 99.0, None)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"record_id": 5}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_lock_is_set_aside_and_reported_once(places, content):
    ledger, locks = places
    locks.mkdir()
    (locks / "l-9.json").write_bytes(content)
    orphan(locks, drafted())
    found = recover(ledger, locks)
    assert [record.record_id for record in found.records] == ["r-1"]
    (problem,) = found.problems
    assert "held no record" in problem
    assert "l-9.json.damaged" in problem
    assert (locks / "l-9.json.damaged").read_bytes() == content
    assert recover(ledger, locks).problems == ()


def test_a_ledger_that_takes_nothing_leaves_the_lock_for_the_next_start(places):
    ledger, locks = places
    ledger.mkdir()
    orphan(locks, drafted())
    found = recover(ledger, locks)
    assert found.records == ()
    assert found.problems
    assert (locks / "l-1.json").exists()
    assert list(ledger.parent.glob("rescued*")) == []
    ledger.rmdir()
    assert len(recover(ledger, locks).records) == 1


def test_a_full_disk_leaves_the_lock_and_no_second_copy(places, monkeypatch):
    ledger, locks = places
    orphan(locks, drafted())
    real = os.write

    def full(descriptor, data):
        if os.path.samestat(os.fstat(descriptor), ledger.stat()):
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    (problem,) = recover(ledger, locks).problems
    assert "the disk is full. An interrupted run is still to be recorded" in problem
    assert list(ledger.parent.glob("rescued*")) == []
    monkeypatch.undo()
    assert len(recover(ledger, locks).records) == 1


def test_a_lock_that_cannot_be_removed_is_said_and_not_recorded_twice(places, monkeypatch):
    ledger, locks = places
    orphan(locks, drafted())

    def refused(self, missing_ok=False):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.unlink", refused)
    (problem,) = recover(ledger, locks).problems
    assert problem.endswith("could not be closed: Permission denied.")
    monkeypatch.undo()
    assert recover(ledger, locks).records == ()
    assert len(store.read(ledger).records) == 1


def test_a_lock_of_a_newer_program_is_recorded_as_far_as_it_is_known(places):
    ledger, locks = places
    orphan(locks, drafted())
    (path,) = locks.iterdir()
    newer = {**json.loads(path.read_text()), "schema_version": 9, "gpu_cores": "sixty", "moon": "full"}
    path.write_text(json.dumps(newer))
    (record,) = recover(ledger, locks).records
    assert (record.record_id, record.predicted_tps_human, record.gpu_cores) == ("r-1", 120.0, None)


def test_without_any_lock_nothing_is_written(places):
    ledger, locks = places
    assert recover(ledger, locks).records == ()
    assert not ledger.exists()
    assert not locks.exists()


def test_the_users_own_places_are_the_default():
    orphan(locks_dir(), drafted())
    assert len(recover().records) == 1
    assert len(store.read(ledger_path()).records) == 1


def test_a_lock_is_whole_and_held_whenever_it_can_be_seen(places):
    _, locks = places
    lock = PredictionLock.create(locks, drafted())
    for tps in (90.0, 80.0):
        lock.write(drafted(predicted_tps_human=tps))
        (path,) = locks.iterdir()
        assert json.loads(path.read_text())["predicted_tps_human"] == tps
        assert claim(path) is None
    assert path.stat().st_mode & 0o077 == 0
    lock.abandon()
    descriptor = claim(path)
    assert descriptor is not None
    os.close(descriptor)


def test_a_lock_that_was_replaced_while_it_was_opened_is_not_claimed(places, monkeypatch):
    _, locks = places
    orphan(locks, drafted())
    (path,) = locks.iterdir()
    flock = fcntl.flock

    def replaced_meanwhile(descriptor, operation):
        path.rename(path.with_suffix(".old"))
        path.write_text("{}")
        flock(descriptor, operation)

    monkeypatch.setattr("workbench.protocol.lock.fcntl.flock", replaced_meanwhile)
    assert claim(path) is None
    path.unlink()
    monkeypatch.undo()
    assert claim(path) is None


def test_a_full_disk_leaves_the_earlier_lock_in_place(places, monkeypatch):
    from workbench.errors import LedgerError

    _, locks = places
    lock = PredictionLock.create(locks, drafted())

    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.protocol.lock.os.write", full)
    with pytest.raises(LedgerError, match="no space left"):
        lock.write(drafted(predicted_tps_human=1.0))
    monkeypatch.undo()
    (path,) = locks.iterdir()
    assert json.loads(path.read_text())["predicted_tps_human"] == 120.0
    assert claim(path) is None
    lock.release()


async def test_a_run_under_way_in_this_very_process_is_left_alone(tmp_path):
    stage = Stage(tmp_path)
    async with stage.make() as measurement:
        await measurement.prepare()
        measurement.lock([("", 120.0)])
        assert recover(stage.ledger, stage.locks).records == ()
        record = await measurement.measure()
    assert record.status == "measured"
