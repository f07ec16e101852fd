"""Who else uses the machine, and whether a checkpoint fits into what is left."""

import os
import sys
import time

from workbench.machine.commands import text_of
from workbench.machine.memory import memory_warning, warning_now
from workbench.machine.processes import ProcessorTimes, busiest_pct, memory_holders, processor_times

GB = 10**9


def test_the_busiest_other_process_is_found_by_what_it_used():
    before = ProcessorTimes(100.0, {(1, 0.0): 50.0, (2, 0.0): 10.0, (3, 0.0): 0.0})
    after = ProcessorTimes(110.0, {(1, 0.0): 58.0, (2, 0.0): 10.5, (3, 0.0): 9.9, (4, 105.0): 3.0})
    assert busiest_pct(before, after, exclude={3}) == 80.0
    assert busiest_pct(before, after, exclude={1, 3}) == 30.0
    assert busiest_pct(before, before, exclude=()) is None


def test_a_reused_process_id_is_another_process():
    before = ProcessorTimes(0.0, {(9, 1.0): 1000.0})
    after = ProcessorTimes(10.0, {(9, 7.0): 2.0})
    assert busiest_pct(before, after, exclude=()) == 20.0


def test_this_process_is_seen_to_use_its_processor():
    before = processor_times()
    begun = time.process_time()
    while time.process_time() - begun < 0.1:
        pass
    after = processor_times()
    used = {key[0]: value - before.seconds.get(key, 0.0) for key, value in after.seconds.items()}
    assert used[os.getpid()] >= 0.075  # the system counts in hundredths of a second, cut off at both ends


def test_memory_holders_are_names_and_sizes_largest_first():
    holders = memory_holders(3, exclude=())
    sizes = [held for _, held in holders]
    assert sizes == sorted(sizes, reverse=True)
    assert all(name and held >= 0 for name, held in holders)


def test_a_checkpoint_that_fits_needs_no_warning():
    assert memory_warning(4 * GB, available=10 * GB, recommended=None) is None
    assert memory_warning(4 * GB, available=10 * GB, recommended=8 * GB) is None


def test_more_than_the_working_set_is_a_warning_that_says_what_to_do():
    said = memory_warning(20 * GB, available=30 * GB, recommended=16 * GB)
    assert "needs 20.0 GB" in said
    assert "16.0 GB" in said
    assert "smaller" in said


def test_who_holds_the_memory_is_named_without_tricks():
    said = memory_warning(
        20 * GB, available=5 * GB, recommended=None, holders=[("Chrome\x1b[31m", 9 * GB), ("Xcode", 4 * GB)]
    )
    assert "only 5.0 GB are free" in said
    assert "Chrome\\x1b[31m (9.0 GB), Xcode (4.0 GB)" in said


def test_this_machine_warns_of_a_checkpoint_that_no_machine_holds():
    assert warning_now(1, None) is None
    assert "needs 1000000.0 GB" in warning_now(10**15, None)


def test_a_gpu_with_memory_of_its_own_is_judged_by_that_alone():
    assert warning_now(10**15, None, device_bytes=2 * 10**15) is None
    said = warning_now(20 * GB, None, device_bytes=16 * GB)
    assert "16.0 GB that the GPU may use" in said


async def test_a_commands_text_is_read_and_its_failures_are_none():
    assert await text_of(sys.executable, "-c", "print('said')") == "said\n"
    assert await text_of(sys.executable, "-c", "raise SystemExit(3)") is None
    assert await text_of("/no/such/program") is None


async def test_a_command_that_hangs_is_ended(tmp_path):
    pid_file = tmp_path / "pid"
    hang = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    assert await text_of(sys.executable, "-c", hang, time_limit_s=1.0) is None
    pid = int(pid_file.read_text())
    try:
        os.kill(pid, 0)
        alive = True
    except ProcessLookupError:
        alive = False
    assert not alive
