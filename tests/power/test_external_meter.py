"""The user's own plug or meter: typed watts, or a command that prints them; always with its method."""

import math
import sys
import time

import psutil
import pytest

from tests.power.recorded import program
from workbench.errors import UsageError
from workbench.power import external
from workbench.power.external import External, source, watts_in
from workbench.power.meter import Meter
from workbench.power.surroundings import quick

PATIENCE_S = 20.0
PLUG = "Shelly plug, Mac Studio without monitor"


@pytest.mark.parametrize(
    ("text", "watts"),
    [
        ("41.5", 41.5), ("41.5 W\n", 41.5), ("power: 143W", 143), ("0.041 kW", 41), ("41500 mW", 41.5),
        ("1.2e2", 120), ("total 3 readings, 44.25 watts now", 44.25), (".5", 0.5), ("0", 0),
        ("", None), ("no reading", None), ("12 34", None), ("-12", None), ("1.2.3", None), ("9e9", None),
        ("v2", None), ("5 MW", None),
    ],
)  # fmt: skip
def test_the_watts_in_a_line_are_the_number_with_a_unit_or_the_only_number(text, watts):
    assert watts_in(text) == (None if watts is None else pytest.approx(watts))


def test_typed_watts_are_one_sample_of_the_whole_machine():
    typed = source(External(PLUG, watts=143))
    (row,) = typed.rows
    assert row.scope() == f"external meter, typed: {PLUG}"
    assert row.whole_machine and row.is_typed and not row.is_estimate and math.isinf(row.window_needed_s)
    with Meter([typed]) as meter:
        assert meter.wait_for(0, PATIENCE_S)
        trace = meter.stop()
    assert [s.rails_w for s in trace.rows[0].samples] == [{"system": 143}]


def test_a_command_is_asked_again_and_again(tmp_path):
    path = program(tmp_path, "plug", "print('power', 40 + len(sys.argv), 'W')")
    with Meter([source(External(PLUG, command=f"'{path}' --host 'a b'", interval_s=0.1))]) as meter:
        assert meter.wait_for(0, PATIENCE_S)
        first = meter.trace().rows[0].samples[-1].at_ns
        assert meter.wait_for(first + 1, PATIENCE_S)
        trace = meter.stop()
    assert [s.rails_w for s in trace.rows[0].samples[:2]] == [{"system": 43}] * 2
    assert trace.rows[0].row.scope() == f"external meter, command: {PLUG}"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('offline')", "printed no watts: 'offline'"),
        ("sys.exit('no route')", "exit status 1: no route"),
    ],
)
def test_a_command_that_prints_no_watts_ends_the_row_with_what_it_said(tmp_path, body, words):
    meter = Meter([source(External(PLUG, command=str(program(tmp_path, "plug", body))))])
    meter.start()
    assert meter.wait_for(2**62, PATIENCE_S)
    assert words in meter.stop().rows[0].ended


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("time.sleep(3600)", "no answer within 0.5 s"),
        ("while True: print(41.5)", "an answer of more than 1,000,000 bytes"),
        ("print('\\x1b[31m')", "printed no watts"),
    ],
)
def test_a_command_that_hangs_or_never_stops_is_ended_and_said(tmp_path, monkeypatch, body, words):
    monkeypatch.setattr(external, "COMMAND_TIMEOUT_S", 0.5 if "sleep" in body else 20.0)
    meter = Meter([source(External(PLUG, command=str(program(tmp_path, "plug", body))))])
    meter.start()
    assert meter.wait_for(2**62, PATIENCE_S)
    ended = meter.stop().rows[0].ended
    assert words in ended
    assert "Error" not in ended


@pytest.mark.parametrize(("then", "status"), [("print(41.5)", 0), ("time.sleep(3600)", 124)])
def test_what_a_command_leaves_running_is_neither_waited_for_nor_left(tmp_path, then, status):
    note = tmp_path / "child"
    body = (
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        f"{then}"
    )
    found, said = quick([str(program(tmp_path, "plug", "import subprocess\n" + body))], 5.0)
    assert found == status
    assert status or said == "41.5\n"
    deadline = time.monotonic() + PATIENCE_S
    child = int(note.read_text())
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_command_gets_no_stdin_to_ask_on():
    ask = f"{sys.executable} -c 'print(len(input()))'"
    meter = Meter([source(External(PLUG, command=ask))])
    meter.start()
    assert meter.wait_for(2**62, PATIENCE_S)
    assert "exit status 1" in meter.stop().rows[0].ended


@pytest.mark.parametrize(
    ("meter", "words"),
    [
        (External("  ", watts=5), "needs its method"),
        (External("a\x1b[31mb", watts=5), "needs its method"),
        (External(PLUG), "either typed watts or a command"),
        (External(PLUG, watts=5, command="x"), "either typed watts or a command"),
        (External(PLUG, watts=0), "no number of watts"),
        (External(PLUG, watts=math.nan), "no number of watts"),
        (External(PLUG, watts=1e9), "no number of watts"),
        (External(PLUG, command="'open"), "cannot be read"),
        (External(PLUG, command=" "), "is empty"),
        (External(PLUG, command="x", interval_s=0), "makes no sense"),
    ],
)
def test_a_meter_that_says_nonsense_is_a_usage_error(meter, words):
    with pytest.raises(UsageError, match=words):
        source(meter)
