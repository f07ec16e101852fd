"""A run told on stderr: each phase once, ceilings only after the lock, the live rate on a terminal."""

from dataclasses import replace

import pytest

from workbench.accounting.engine import count
from workbench.checkpoint.reading import open_checkpoint
from workbench.cli.narrator import Narrator
from workbench.ledger.parts import LockedPrediction, NamedPrediction
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.protocol.plan import Plan, RunSettings
from workbench.protocol.run import Run, fold
from workbench.worker import messages as m

SETTINGS = RunSettings(repeats=2, max_tokens=10, blind=False)
READY = m.Ready(m.Stamp(device="a chip", mlx="1", mlx_lm="2", backend="cpu"), 7)


@pytest.fixture
def plan(tiny):
    checkpoint = open_checkpoint(tiny["tiny-1"])
    figure = BandwidthFigure(25.0, BandwidthKind.SPEC, "a page \x1b[31m")
    return Plan(checkpoint, count(checkpoint), bandwidths=(figure,), settings=SETTINGS)


def locked(run, *numbers):
    predictions = tuple(NamedPrediction(name, tps) for name, tps in numbers)
    lock = LockedPrediction("2026-11-29T10:00:00+00:00", predictions[0].tps)
    return replace(run, predictions=predictions, locks=(*run.locks, lock))


def test_every_phase_is_told_once_and_the_ceiling_only_after_the_lock(plan, capsys):
    tell = Narrator()
    run = fold(Run(plan), READY)
    tell(run)
    tell(run)
    before = capsys.readouterr().err
    assert before == "stamp: a chip, mlx 1 (cpu), mlx-lm 2\n"
    run = locked(run, ("ana", 120.0), ("bo", 300.0))
    tell(run)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "predict: tiny-1, ana 120.0 tok/s, bo 300.0 tok/s; locked"
    assert said[2] == "  ceiling 49,901.0 tok/s at spec 25 GB/s: a page \\x1b[31m"
    assert said[3] == "  by your number it decodes for less than a second"
    run = fold(run, m.Loading(at_ns=1))
    tell(run)
    for index in range(2):
        run = fold(run, m.RepeatStarted(index=index, of=2))
        tell(run)
        run = fold(run, m.RepeatDone(m.Repeat(index, 0.1, 900.0, [0, 10**7], 0.1)))
        tell(run)
    told = capsys.readouterr().err.splitlines()
    assert told == ["load: tiny-1", "measure: repeat 1 of 2", "measure: repeat 2 of 2"]


def test_a_notice_is_told_once(plan, capsys):
    tell = Narrator()
    run = replace(Run(plan), notices=("the memory is short",))
    tell(run)
    tell(run)
    assert capsys.readouterr().err == "note: the memory is short\n"


def test_a_correction_is_told_again(plan, capsys):
    tell = Narrator()
    run = locked(Run(plan), ("", 120.0))
    tell(run)
    tell(locked(run, ("", 60.0)))
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("predict")] == [
        *("predict: tiny-1, 120.0 tok/s; locked", "predict: tiny-1, 60.0 tok/s; locked"),
    ]


def test_the_live_rate_is_written_over_and_a_blind_run_shows_none(plan, capsys):
    progress = m.Progress(index=0, tokens=5, elapsed_s=0.1, tps_now=50.0, tps_mean=48.25)
    started = fold(Run(plan), m.RepeatStarted(index=0, of=2))
    tell = Narrator()
    for run in (started, fold(started, progress), fold(started, m.Loading(at_ns=1))):
        tell(run)
    assert capsys.readouterr().err == (
        "measure: repeat 1 of 2\n\r  5 tokens, 48.2 tok/s\x1b[K\r\x1b[Kload: tiny-1\n"
    )
    blind = replace(plan, settings=replace(SETTINGS, blind=True))
    started = fold(Run(blind), m.RepeatStarted(index=0, of=2))
    tell = Narrator()
    tell(started)
    tell(fold(started, progress))
    assert capsys.readouterr().err == "measure: repeat 1 of 2\n"
