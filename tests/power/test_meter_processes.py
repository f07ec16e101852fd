"""Real subprocesses that replay recorded bytes, die, dawdle and refuse; and none is left behind."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from tests.power.recorded import DATA, program, replaying, sudo_that_allows
from workbench.power.choice import look
from workbench.power.meter import Meter
from workbench.power.powermetrics import Powermetrics
from workbench.power.surroundings import Surroundings, quick

M4 = "own_m4_macos26.plist"
FOREVER_S = 3600.0
PATIENCE_S = 20.0


def on_path(folder):
    """A Mac whose PATH is `folder` alone."""

    def which(name):
        path = folder / name
        return str(path) if path.exists() else None

    return Surroundings(system="Darwin", which=which, has_module=lambda _: False, run=quick)


def opened(meter):
    """The process that the meter's only source started."""
    (feed,) = meter._feeds
    return psutil.Process(feed.pid)


def gone(process):
    """Whether a process has ended, waiting for it if need be."""
    try:
        process.wait(PATIENCE_S)
    except psutil.TimeoutExpired:
        return False
    return True


def until_ended(meter):
    """The trace once every source has ended by itself."""
    assert meter.wait_for(2**62, PATIENCE_S), "the source should have ended"
    return meter.stop()


def samples_of(meter, count):
    """Wait for at least `count` samples of the first row."""
    deadline = time.monotonic() + PATIENCE_S
    while len(found := meter.trace().rows[0].samples) < count:
        assert time.monotonic() < deadline, meter.trace().rows[0].ended
        meter.wait_for(found[-1].at_ns + 1 if found else 0, 1.0)
    return found


def test_start_run_stop_through_sudo_leaves_no_process(tmp_path):
    replaying(tmp_path, "m4pro_macos15_gpu_x5.plist")
    sudo_that_allows(tmp_path)
    (source,) = look(on_path(tmp_path)).sources
    meter = Meter([source], limit_s=FOREVER_S)
    meter.start()
    process = opened(meter)
    found = samples_of(meter, 7)
    trace = meter.stop()
    assert gone(process)
    assert [s.rails_mj["gpu"] for s in found[:5]] == [19, 107, 788, 146, 126]
    assert all(a.at_ns <= b.at_ns for a, b in itertools.pairwise(found))
    assert not any(s.after_loss for s in found)
    assert trace.rows[0].row.version == "macOS build 24F74"
    assert trace.rows[0].row.scope(trace.rows[0].rails) == "SoC GPU, Apple estimate, no CPU or ANE or DRAM"
    assert trace.rows[0].ended is None and len(trace.clock_pairs) == 2
    log = (tmp_path / "sudo.log").read_text().splitlines()
    assert all(line.startswith("['-n', ") for line in log) and "'-l'" in log[0]
    assert "'-n', '14400'" in log[1]  # an hour of 250 ms


def test_a_second_stop_and_a_second_start_do_no_harm(tmp_path):
    meter = Meter([Powermetrics((str(replaying(tmp_path, M4)),))], limit_s=FOREVER_S)
    with meter:
        meter.start()
        samples_of(meter, 1)
        meter.stop()
    assert len(meter.stop().rows[0].samples) >= 1


def test_its_own_count_ends_it_when_nobody_else_does(tmp_path):
    source = Powermetrics((str(replaying(tmp_path, M4)),))
    meter = Meter([source], limit_s=0.75)
    meter.start()
    trace = until_ended(meter)
    assert len(trace.rows[0].samples) == 3
    assert trace.rows[0].ended == "powermetrics ended after 3 samples, as its own count told it"


@pytest.mark.parametrize("then", ["sys.exit('gone')", "time.sleep(3600)"])
def test_what_a_program_has_started_ends_with_it(tmp_path, then):
    note = tmp_path / "child"
    body = (
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        f"open({str(note)!r} + '.new', 'w').write(str(child.pid))\n"
        f"os.rename({str(note)!r} + '.new', {str(note)!r})\n"
        f"{then}"
    )
    meter = Meter([Powermetrics((str(program(tmp_path, "powermetrics", body)),))])
    meter.start()
    leader = opened(meter)
    deadline = time.monotonic() + PATIENCE_S
    while not note.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    if "exit" in then:
        assert "gone" in (until_ended(meter).rows[0].ended or "")
    meter.stop()
    assert gone(leader)
    child = int(note.read_text())
    deadline = time.monotonic() + PATIENCE_S
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_dying_at_once_without_root_says_what_to_do(tmp_path):
    path = program(tmp_path, "powermetrics", "sys.exit('powermetrics must be invoked as the superuser')")
    meter = Meter([Powermetrics((str(path),))])
    meter.start()
    trace = until_ended(meter)
    assert trace.rows[0].samples == ()
    assert trace.rows[0].ended == (
        "powermetrics needs root; `workbench doctor` prints the sudoers line that allows it"
    )


@pytest.mark.parametrize(
    ("complaint", "words"),
    [
        ("sudo: a password is required", "sudo asks for a password"),
        ("Sorry, user ana is not allowed to execute '/usr/bin/powermetrics' as root", "does not allow"),
        ("ERROR: cannot find the IO registry entry for IODeviceTree:/arm-io/pmgr", "virtual machine"),
        ("", "ended at once with exit status 1 and no sample"),
        ("unrecognized sampler: \x1b[31mgpu_power", "unrecognized sampler: ?[31mgpu_power"),
    ],
)
def test_every_refusal_has_words_of_its_own(tmp_path, complaint, words):
    path = program(tmp_path, "sudo", f"sys.stderr.write({complaint!r}); sys.exit(1)")
    meter = Meter([Powermetrics((str(path), "-n", "/usr/bin/powermetrics"))])
    meter.start()
    assert words in until_ended(meter).rows[0].ended


def test_a_program_that_is_not_there_is_a_reason_and_no_traceback(tmp_path):
    meter = Meter([Powermetrics((str(tmp_path / "absent"),))])
    meter.start()
    ended = until_ended(meter).rows[0].ended
    assert ended is not None and ended.startswith("cannot start") and "No such file" in ended


def test_killed_in_the_middle_of_a_frame_keeps_what_was_whole(tmp_path):
    body = (
        f"data = open({str(DATA / M4)!r}, 'rb').read()\n"
        "os.write(1, data + b'\\0' + data + b'\\0' + data[:300])\n"
        "os.kill(os.getpid(), 9)"
    )
    meter = Meter([Powermetrics((str(program(tmp_path, "powermetrics", body)),))])
    meter.start()
    trace = until_ended(meter)
    assert [s.rails_mj["cpu"] for s in trace.rows[0].samples] == [12, 12]
    assert trace.rows[0].ended == "powermetrics ended after 2 samples with exit status -9"


def test_a_slow_program_is_stamped_when_its_document_is_whole(tmp_path):
    """The document arrives in two halves; its time is that of the second."""
    body = (
        f"data = open({str(DATA / M4)!r}, 'rb').read()\n"
        "os.write(1, data[:400])\n"
        "print('half', file=sys.stderr, flush=True)\n"
        "time.sleep(0.3)\n"
        "os.write(1, data[400:])\n"
        "time.sleep(60)"
    )
    meter = Meter([Powermetrics((str(program(tmp_path, "powermetrics", body)),))])
    start_ns = time.perf_counter_ns()
    meter.start()
    (sample,) = samples_of(meter, 1)
    process = opened(meter)
    meter.stop()
    assert sample.at_ns - start_ns > 0.3e9 and gone(process)


def test_a_damaged_document_marks_the_next_one(tmp_path):
    body = (
        f"data = open({str(DATA / M4)!r}, 'rb').read()\n"
        "os.write(1, data + b'\\0' + data.replace(b'<integer>504962500', b'<integer>x') + b'\\0' + data)"
    )
    meter = Meter([Powermetrics((str(program(tmp_path, "powermetrics", body)),))])
    meter.start()
    assert [s.after_loss for s in until_ended(meter).rows[0].samples] == [False, True]


def test_one_that_ignores_sigterm_is_killed(tmp_path):
    body = "import signal; signal.signal(15, signal.SIG_IGN)\n" + (
        f"os.write(1, open({str(DATA / M4)!r}, 'rb').read())\ntime.sleep(60)"
    )
    meter = Meter([Powermetrics((str(program(tmp_path, "powermetrics", body)),))])
    meter.start()
    samples_of(meter, 1)
    process = opened(meter)
    meter.stop()
    assert gone(process)


def test_one_that_we_may_not_signal_loses_its_reader_and_ends(tmp_path, monkeypatch):
    """What sudo starts belongs to root: kill is refused, but its next write fails."""
    meter = Meter([Powermetrics((str(replaying(tmp_path, M4)),))], limit_s=FOREVER_S)
    meter.start()
    samples_of(meter, 1)
    process = opened(meter)

    def refused(self):
        raise PermissionError("Operation not permitted")

    monkeypatch.setattr(subprocess.Popen, "terminate", refused)
    monkeypatch.setattr(subprocess.Popen, "kill", refused)
    meter.stop()
    assert gone(process)


def test_no_orphan_when_our_own_process_is_killed(tmp_path):
    fake = replaying(tmp_path, M4)
    script = textwrap.dedent(f"""
        import time
        from workbench.power.meter import Meter
        from workbench.power.powermetrics import Powermetrics
        meter = Meter([Powermetrics(({str(fake)!r},))], limit_s={FOREVER_S})
        meter.start()
        print(meter._feeds[0].pid, flush=True)
        time.sleep(3600)
    """)
    ours = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    fake_process = psutil.Process(int(ours.stdout.readline()))
    os.kill(ours.pid, signal.SIGKILL)
    ours.communicate()
    assert gone(fake_process)


MACMON = """
import json
if sys.argv[1:] == ['--version']:
    print('macmon 0.8.2'); sys.exit(0)
assert sys.argv[1:4:2] == ['pipe', sys.argv[3]] and '-i' in sys.argv
for index in range(int(sys.argv[sys.argv.index('-s') + 1])):
    line = {'cpu_power': 4.0, 'gpu_power': 30.0, 'ane_power': 0.0, 'all_power': 34.0, 'sys_power': 51.5,
            'ram_power': 3.0, 'gpu_ram_power': 0.1, 'gpu_freq_mhz': 1398}
    os.write(1, (json.dumps(line) + '\\n').encode())
    time.sleep(0.01)
"""


def test_macmon_and_powermetrics_run_together_as_rows_of_their_own(tmp_path):
    replaying(tmp_path, M4)
    sudo_that_allows(tmp_path)
    program(tmp_path, "macmon", MACMON.strip())
    choice = look(on_path(tmp_path))
    assert [source.name for source in choice.sources] == ["powermetrics", "macmon"]
    assert [name for name, _ in choice.looked_for] == ["ioreport", "battery"]
    with Meter(choice.sources, limit_s=FOREVER_S) as meter:
        for _ in range(3):
            assert meter.wait_for(time.perf_counter_ns(), PATIENCE_S)
        processes = [psutil.Process(feed.pid) for feed in meter._feeds]
        trace = meter.stop()
    assert all(gone(process) for process in processes)
    power, whole, rails = trace.rows
    assert (power.row.key, whole.row.key, rails.row.key) == ("powermetrics", "macmon-system", "macmon")
    assert whole.samples[0].rails_w == {"system": 51.5} and whole.row.whole_machine
    assert rails.samples[0].rails_w == {"cpu": 4.0, "gpu": 30.0, "ane": 0.0, "dram": 3.0}
    assert rails.samples[0].gpu_mhz == 1398 and rails.row.version == "macmon 0.8.2"


def test_a_replay_in_real_time_is_timed_by_arrival(tmp_path):
    """A document every 50 ms, written in pieces: none is stamped before it can have been written."""
    fake = replaying(tmp_path, "own_m5_macos27_stalled_x3.plist", pause=0.05, chunk=100)
    start_ns = time.perf_counter_ns()
    with Meter([Powermetrics((str(fake),))], limit_s=FOREVER_S) as meter:
        found = samples_of(meter, 10)
    assert all(sample.at_ns - start_ns >= index * 50e6 for index, sample in enumerate(found))
    assert [s.rails_mj["gpu"] for s in found[:4]] == [9000, 9001, 9002, 9000]
