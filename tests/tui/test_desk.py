"""What the desk allows and shows: the run key's reasons, the steps, and what stays hidden before the lock."""

from dataclasses import replace

import pytest

from tests.protocol.stage import SPEC, checkpoint, count, plan, story
from workbench.checkpoint.checkpoint import Finding, State
from workbench.errors import CheckpointError
from workbench.ledger.parts import LockedPrediction, NamedPrediction
from workbench.ledger.record import Record
from workbench.protocol.run import Phase, Run, fold
from workbench.tui.desk import Desk, plan_of, run_is_off, step_states
from workbench.tui.hinting import hint_ids
from workbench.tui.options import Options
from workbench.tui.power_words import duration
from workbench.tui.words import (
    ceiling_facts,
    ceilings,
    chart_of,
    facts,
    live_line,
    locked_words,
    measured_facts,
    outcome_facts,
)
from workbench.worker import messages as m

READY = m.Ready(stamp=m.Stamp(device="Test Chip"), pid=1)
LOCK = LockedPrediction("2026-11-29T14:03:22.5+00:00", 1500.0)


def counted(**changes):
    made = Desk(name="tiny", checkpoint=checkpoint(), count=count(), figures=(SPEC,), plan=plan())
    return replace(made, **changes)


def ready(**changes):
    return counted(run=fold(Run(plan()), READY), **changes)


def locked(*reports):
    run = fold(Run(plan(), predictions=(NamedPrediction("you", 1500.0),), locks=(LOCK,)), READY)
    for report in reports:
        run = fold(run, report)
    return counted(run=run)


def ended(status="measured", **changes):
    record = Record(record_id="r", run_group_id="g", experiment="single", status=status, **changes)
    desk = locked(*story())
    return replace(desk, run=replace(desk.run, phase=Phase.ENDED, record=record))


@pytest.mark.parametrize(
    ("desk", "reason"),
    [
        (Desk(), "choose a checkpoint first"),
        (Desk(busy="reading the headers of tiny"), "reading the headers"),
        (Desk(problem=CheckpointError("It is no checkpoint.")), "It is no checkpoint."),
        (
            counted(checkpoint=checkpoint(state=State.INCOMPLETE, reason="model-2 is missing"), plan=None),
            "model-2",
        ),
        (
            counted(checkpoint=checkpoint(state=State.NOT_LOADABLE, reason="no such type"), plan=None),
            "no such type",
        ),
        (counted(checkpoint=checkpoint(format="gguf"), plan=None), "gguf"),
        (counted(count=count(refusal=Finding("k", "experts without k")), plan=None), "experts without k"),
        (counted(figures=()), "no bandwidth figure"),
        (ready(), "no prediction is locked"),
        (locked(), ""),
        (locked(m.Loading(at_ns=1)), "a run is going"),
        (ended(), "spent"),
    ],
)
def test_the_run_key_is_off_with_its_reason_in_words(desk, reason):
    off = run_is_off(desk)
    assert reason in off
    assert bool(off) is bool(reason)


def test_before_the_lock_there_is_no_ceiling_nor_anything_that_gives_it_away():
    desk = ready()
    assert ceilings(desk) == ()
    assert ceiling_facts(desk) == []
    assert chart_of(desk) is None
    assert "2,000" not in str(facts(desk))  # 8 GB/s / 4 MB


def test_after_the_lock_each_ceiling_has_its_name_and_the_number_its_place():
    desk = locked()
    assert [(c.name, c.tps) for c in ceilings(desk)] == [("spec 8 GB/s", 2000.0)]
    words = " ".join(f"{f.label} {f.value} {f.note}" for f in ceiling_facts(desk))
    assert "ceiling 2,000.0 tok/s spec 8 GB/s" in words
    assert "you 1,500.0 tok/s 75.0 % of it" in words
    assert [level.y for level in chart_of(desk).levels] == [2000.0, 1500.0]


def test_a_number_above_the_bus_is_marked():
    desk = locked()
    high = replace(desk, run=replace(desk.run, predictions=(NamedPrediction("you", 5000.0),)))
    assert any(fact.mark and "above what the bus carries" in fact.note for fact in ceiling_facts(high))


def test_a_chosen_rule_is_said_to_be_on_purpose():
    assert any(
        "on purpose" in fact.note and fact.mark for fact in facts(counted(rule="all-bytes", plan=None))
    )


def test_a_refused_count_shows_no_figure():
    shown = facts(counted(count=count(refusal=Finding("k", "experts without k")), plan=None))
    assert [fact.value for fact in shown if fact.label == "a token reads"] == ["no honest figure"]


def test_synthetic_weights_are_labelled():
    config = {"synthetic_weights": True}
    desk = counted(checkpoint=checkpoint(config=config), plan=None)
    assert desk.synthetic
    assert facts(desk)[0].value == "synthetic"


@pytest.mark.parametrize(
    ("desk", "states"),
    [
        (Desk(), "now todo todo todo todo todo"),
        (counted(), "done done now todo todo todo"),
        (ready(), "done done now todo todo todo"),
        (locked(m.Loading(at_ns=1)), "done done done now todo todo"),
        (locked(*story()[:5]), "done done done done now todo"),
        (ended(), "done done done done done done"),
        (ended("failed"), "done done done done failed todo"),
        (Desk(problem=CheckpointError("broken")), "failed todo todo todo todo todo"),
    ],
)
def test_the_six_steps_show_where_the_protocol_is(desk, states):
    assert " ".join(step_states(desk)) == states


@pytest.mark.parametrize(
    "desk", [Desk(), counted(), counted(figures=()), ready(), locked(), locked(m.Loading(at_ns=1)), ended()]
)
def test_every_state_has_at_most_six_hints_and_quit_is_last(desk):
    ids = hint_ids(desk)
    assert len(ids) <= 6
    assert ids[-1] == "leave_program"


def test_the_first_tokens_rate_is_not_in_the_live_line():
    spike = m.Progress(index=0, tokens=1, elapsed_s=0.0, tps_now=120_000.0, tps_mean=120_000.0)
    desk = locked(*story()[:4], spike)
    assert live_line(desk.run) == "decoding 1/2  token 1/11"
    assert chart_of(desk).now == ()


def test_the_plot_shows_the_running_repeat_on_axes_that_the_lock_fixed():
    one, two = locked(*story()[:6]), locked(*story()[:10])
    assert chart_of(one).y_max == chart_of(two).y_max == 3000.0
    assert chart_of(one).x_max == 11
    assert [x for x, _ in chart_of(two).mean] == [6.0]


def test_a_correction_is_said():
    desk = locked()
    run = replace(desk.run, locks=(LOCK, replace_tps(LOCK, 1200.0)))
    assert "correction 1" in locked_words(run)
    assert "14:03:22Z" in locked_words(run)


def replace_tps(lock, tps):
    return LockedPrediction(lock.at, tps)


def test_the_outcome_says_how_far_off_each_guess_is_the_nearest_first():
    said = NamedPrediction("ana", 100.0, -0.335)
    desk = ended(predictions=[said, NamedPrediction("bo", 50.0, 0.33)], generation_tps=66.5)
    notes = [fact.note for fact in outcome_facts(desk.record)]
    assert notes == ["33.0 % too low", "50.4 % too high"]


def test_what_was_not_measured_is_said_with_its_reason_and_never_as_zero():
    record = ended(energy_unavailable_reason="No power source here. More words.").record
    assert [(f.label, f.value, f.note) for f in measured_facts(record)] == [
        ("energy", "not measured", "No power source here")
    ]


def test_a_cancelled_run_shows_its_reason():
    record = ended("cancelled", reason="Cancelled by the user.").record
    assert [(fact.label, fact.note) for fact in outcome_facts(record)] == [
        ("cancelled", "Cancelled by the user.")
    ]


def test_durations_are_said_as_people_say_them():
    assert [duration(x) for x in (0.2, 4.2, 200)] == ["1 s", "4 s", "3 min 20 s"]


def test_the_plan_is_the_options_and_the_figure():
    options = Options(hz=2.0, blind=True, demo=True)
    made = plan_of(counted(show_text=True), options)
    assert (made.experiment, made.settings.blind, made.settings.ui_hz, made.settings.text) == (
        "demo",
        True,
        2.0,
        True,
    )
    assert made.bandwidths == (SPEC,)
    assert plan_of(Desk(), options) is None


def test_screens_paint_slower_over_ssh(monkeypatch):
    assert Options().paint_hz == 4
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    assert Options().paint_hz == 2
    assert Options(hz=1.0).paint_hz == 1
