"""The content of `workbench power`: what every source read over some seconds, or why there is none."""

import dataclasses
import json
import time

import msgspec
import pytest

from tests.power.made import T0, S, every, row, trace
from tests.power.recorded import program
from workbench.power.choice import Choice, LookedFor, look
from workbench.power.energy import Window
from workbench.power.external import External, source
from workbench.power.report import measure_for, report_of
from workbench.power.surroundings import Surroundings

PLUG = "Shelly plug"
NOTHING = Choice((), (LookedFor("nvml", "no NVIDIA driver here"),))


def test_no_source_is_a_report_and_not_an_error(tmp_path):
    report = measure_for(10, look(Surroundings(system="Linux", root=tmp_path)))
    assert report.rows == () and report.unavailable_reason.startswith(
        "No power source on this machine. nvml:"
    )
    assert [name for name, _ in report.looked_for] == ["nvml", "rapl", "battery"]


class Ready:
    """A source that has its samples, of now and of the next seconds, as soon as it is opened."""

    name = "ready"
    rows = (row(key="ready"),)

    def __init__(self):
        self.closed = False

    def open(self, sink, limit_s):
        sink.version("ready 1")
        for sample in every(S // 4, 80, {"cpu": 2.0, "gpu": 38.0}, start_ns=time.perf_counter_ns() - S):
            sink.sample("ready", sample)
        return self

    def close(self):
        self.closed = True


def test_measuring_reads_every_source_closes_it_and_reports():
    ready, seen = Ready(), []
    report = measure_for(0.1, Choice((ready, source(External(PLUG, watts=143))), ()), on_trace=seen.append)
    first, typed = report.rows
    assert ready.closed and seen and report.seconds == pytest.approx(0.1)
    assert first.mean_w == pytest.approx(40) and first.rails_w == pytest.approx({"cpu": 2, "gpu": 38})
    assert first.reading.energy_gross_j == pytest.approx(4) and first.version == "ready 1"
    assert first.reading.claim == "none" and "0.1 s" in first.reading.claim_reasons[0]
    assert first.trouble is None and first.window_needed_s == 10 and typed.mean_w == 143


def test_typed_watts_have_no_window_and_no_cadence():
    report = measure_for(0.05, Choice((source(External(PLUG, watts=143)),), ()))
    (only,) = report.rows
    assert (only.method, only.published_every_s, only.window_needed_s) == ("typed", None, None)
    assert only.mean_w == 143 and only.samples == 1 and only.reading.claim == "indicative"


def test_a_report_says_what_the_rows_cover_and_how_they_did():
    made = trace((row(), every(S // 4, 80, {"cpu": 2.0, "gpu": 0.0, "ane": 0.0})))
    made = dataclasses.replace(
        made, rows=(dataclasses.replace(made.rows[0], ended="as its own count told it"),)
    )
    (only,) = report_of(made, Window(T0 + S, T0 + 13 * S), NOTHING).rows
    assert only.scope == "SoC CPU+GPU+ANE, made" and only.published_every_s == 0.25
    assert only.mean_w == pytest.approx(2) and only.rails_w == pytest.approx({"cpu": 2, "gpu": 0, "ane": 0})
    assert only.reading.claim_reasons == ["the gpu rail reads exactly 0: idle, or stalled"]
    assert only.trouble == "as its own count told it"


def test_a_source_that_dies_at_once_is_a_row_with_its_reason(tmp_path):
    plug = program(tmp_path, "plug", "sys.exit('no route to host')")
    report = measure_for(0.1, Choice((source(External(PLUG, command=str(plug))),), ()))
    (only,) = report.rows
    assert only.samples == 0 and only.mean_w is None and "no route to host" in only.trouble
    assert report.unavailable_reason is None


def test_a_report_is_json_without_more_ado():
    report = measure_for(0.05, Choice((source(External(PLUG, watts=143)),), NOTHING.looked_for))
    decoded = json.loads(msgspec.json.encode(report))
    assert decoded["rows"][0]["mean_w"] == 143
    assert decoded["looked_for"] == [["nvml", "no NVIDIA driver here"]]
