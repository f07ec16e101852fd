"""The worker's ends of its pipes: live views are dropped, nothing else is; logs are few and escaped."""

import os
import threading

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from workbench.worker.log import KEPT_LOGS, escaped, last_line, open_log, path_of
from workbench.worker.messages import Finished, Progress, RepeatStarted, Report
from workbench.worker.outlet import Outlet


def drained(fd):
    os.set_blocking(fd, False)
    read = b""
    while True:
        try:
            chunk = os.read(fd, 65536)
        except BlockingIOError:
            break
        if not chunk:
            break
        read += chunk
    return [msgspec.json.decode(line, type=Report) for line in read.splitlines()]


def test_progress_is_dropped_when_nobody_reads_and_lines_stay_whole():
    reading, writing = os.pipe()
    outlet = Outlet(writing)
    for token in range(5000):
        outlet.say(Progress(index=0, tokens=token, elapsed_s=1.0, text="word " * 20))
    assert outlet.dropped > 0
    reports = drained(reading)
    assert [report.tokens for report in reports[:3]] == [0, 1, 2]
    # What the full pipe took in part is finished before anything else is written.
    outlet.say(RepeatStarted(index=1, of=2))
    outlet.say(Progress(index=1, tokens=1, elapsed_s=0.0))
    kinds = [type(report) for report in drained(reading)]
    assert kinds[-2:] == [RepeatStarted, Progress]
    os.close(reading)
    os.close(writing)


def test_everything_else_waits_for_a_slow_reader():
    reading, writing = os.pipe()
    outlet = Outlet(writing)
    said = [RepeatStarted(index=i, of=20_000) for i in range(20_000)] + [Finished()]

    def speak():
        for report in said:
            outlet.say(report)
        os.close(writing)

    speaker = threading.Thread(target=speak)
    speaker.start()
    with os.fdopen(reading, "rb") as file:
        heard = [msgspec.json.decode(line, type=Report) for line in file]
    speaker.join()
    assert heard == said


def test_old_logs_are_dropped_and_the_newest_stay(tmp_path):
    for pid in range(KEPT_LOGS + 5):
        os.close(open_log(tmp_path, "decode", pid))
        os.utime(path_of(tmp_path, "decode", pid), (pid, pid))
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"decode-{pid}.log" for pid in range(5, KEPT_LOGS + 5)}


def test_the_last_line_of_a_log_is_the_last_with_words(tmp_path):
    log = tmp_path / "x.log"
    log.write_bytes(b"first\n" + b"long " * 10_000 + b"\nlast \xff\x1b[2J\n  \n\n")
    assert last_line(log) == r"last �\x1b[2J"
    assert last_line(tmp_path / "none.log") == ""


@given(st.text())
def test_escaped_text_is_printable_and_bounded(text):
    shown = escaped(text, 40)
    assert shown.isprintable() and len(shown) <= 40
    if text.isprintable() and len(text) <= 40:
        assert shown == text
