"""What lies among the locks and is none: nothing of it is waited for, nor stops what comes after it."""

import os

from workbench.ledger.record import Record
from workbench.ledger.store import read
from workbench.locations import ledger_path, locks_dir
from workbench.protocol.lock import PredictionLock, claim
from workbench.protocol.recover import recover


def test_a_fifo_a_device_a_folder_and_a_loop_leave_the_real_lock_to_be_recorded():
    folder = locks_dir()
    drafted = Record(
        record_id="r-1",
        run_group_id="g-1",
        experiment="single",
        status="interrupted",
        lock_id="z-last",
        reason="It ended.",
    )
    PredictionLock.create(folder, drafted).abandon()
    os.mkfifo(folder / "a-fifo.json")
    (folder / "a-device.json").symlink_to("/dev/zero")
    (folder / "a-folder.json").mkdir()
    (folder / "a-loop.json").symlink_to("a-loop.json")
    assert [claim(folder / f"a-{kind}.json") for kind in ("fifo", "device", "folder", "loop")] == [None] * 4
    assert [record.record_id for record in recover().records] == ["r-1"]
    assert [record.record_id for record in read(ledger_path()).records] == ["r-1"]
