"""Power on the screens: sources in words, an energy pass by a key, live rows, claims with their scope."""

import pytest

from tests.tui.desk_stage import (
    APPLE,
    DENSE,
    lock,
    pane_text,
    pick,
    run_to_end,
    said,
    screen_text,
    sees,
    until,
)
from tests.tui.powers import STATES, energetic_run, state
from workbench.errors import UsageError
from workbench.ledger.parts import PowerReading
from workbench.ledger.record import Record
from workbench.power.choice import Choice
from workbench.power.external import External, Typed
from workbench.protocol.plan import expected_seconds
from workbench.tui.energy_wish import EnergyWish, parse_wish, used
from workbench.tui.power_words import duration, energy_facts, live_facts, reading_facts, source_facts

NONE = Choice((), ())
TYPED = Choice((Typed(85.0, "a plug"),), ())


def words(facts):
    return " ".join(f"{fact.label} {fact.value} {fact.note}" for fact in facts)


async def wish(pilot, **boxes):
    """Say something in the energy dialogue and press enter."""
    await pilot.press("E")
    await pilot.pause()
    for name, text in boxes.items():
        pilot.app.screen.query_one(f"#{name}").value = text
    await pilot.press("enter")
    await pilot.pause()


async def test_no_source_is_said_in_words_that_help(desk):
    async with desk.add(DENSE).open((80, 24)) as (app, pilot):
        await pilot.press("5")
        await sees(app, "#power", "A plug or a meter always works")
        await sees(app, "#power", "battery there is none")
        await wish(pilot)
        assert "Nothing here measures power." in screen_text(app)
        await pilot.press("escape")
        assert app.main_screen.desk.energy is None


async def test_a_typed_meter_measures_the_pass_and_the_verdict_names_claim_and_scope(desk):
    desk.script = energetic_run()
    async with desk.add(DENSE).open((160, 80), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await until(lambda: app.main_screen.conductor.found is not None)
        await wish(pilot, window="24", idle="5", watts="85", method="Shelly plug, the whole machine")
        assert app.main_screen.desk.plan.settings.energy_min_s == 24
        asked = "energy pass 24 s of steady decode after the repeats, after 5 s of idle"
        await sees(app, "#prediction", asked)
        await lock(app, pilot, "100")
        seconds = expected_seconds(app.main_screen.desk.run.plan, 100.0)
        assert seconds > 29
        await sees(app, "#prediction", f"will take {duration(seconds)}")
        await run_to_end(app, pilot)
        expected = (
            "energy 0.2361 mWh/token = 85.0 W / (3.6 x 100.0 tok/s), 0.85 J/token; indicative: external"
        )
        await sees(app, "#prediction", expected)
        await sees(app, "#prediction", "Shelly plug")
        await sees(app, "#power", "external indicative external meter, typed: Shelly plug")
        await sees(app, "#power", "why one typed figure")
    [record] = desk.records
    assert record.experiment == "energy"
    assert record.power[0].mean_w == 85


async def test_the_pane_is_live_during_the_pass(desk):
    desk.script = energetic_run(halts=True)
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await until(lambda: app.main_screen.conductor.found is not None)
        await wish(pilot, window="20", idle="0", watts="85", method="a plug")
        await lock(app, pilot, "100")
        await pilot.press("r")
        await sees(app, "#power", "mWh/token")
        shown = pane_text(app, "#power")
        assert "power 85.0 W now, mean 85.0 W" in shown
        assert "so far 0.2361 mWh/token 0.85 J/token" in shown
        assert "samples 1 one typed figure: indicative at most" in shown
        assert app.main_screen.query_one("#power").border_subtitle == "indicative"
        await pilot.press("E")
        assert "its energy pass was said before it" in said(app)
        await pilot.press("s")
        await until(lambda: app.main_screen.desk.record is not None)


async def test_blind_paints_no_power(desk):
    desk.script = energetic_run(halts=True)
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,), blind=True) as (app, pilot):
        await pick(app, pilot)
        await until(lambda: app.main_screen.conductor.found is not None)
        await wish(pilot, window="20", idle="0", watts="85", method="a plug")
        await lock(app, pilot, "100")
        await pilot.press("r")
        await until(lambda: app.main_screen.conductor.meter is not None)
        await sees(app, "#power", "blind")
        assert "85" not in pane_text(app, "#power")


async def test_a_window_of_0_takes_the_pass_out_again(desk):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await until(lambda: app.main_screen.conductor.found is not None)
        await wish(pilot, window="20", watts="85", method="a plug")
        assert app.main_screen.desk.plan.experiment == "energy"
        await pilot.press("E")
        await pilot.pause()
        assert app.screen.query_one("#watts").value == "85"
        app.screen.query_one("#window").value = "0"
        await pilot.press("enter")
        await pilot.pause()
        assert app.main_screen.desk.plan.experiment == "single"
        assert app.main_screen.desk.plan.settings.energy_min_s == 0


async def test_the_pass_may_still_be_added_after_the_lock_and_the_number_stands(desk):
    desk.script = energetic_run()
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await until(lambda: app.main_screen.conductor.found is not None)
        await lock(app, pilot, "100")
        await wish(pilot, window="24", watts="85", method="a plug")
        assert app.main_screen.desk.locked
        await run_to_end(app, pilot)
    assert desk.records[0].power[0].claim == "indicative"
    assert desk.records[0].predicted_tps_human == 100


@pytest.mark.parametrize(
    ("boxes", "wrong"),
    [
        (("long", "", "", ""), "The window is a number of seconds"),
        (("-1", "", "", ""), "The window is a number of seconds"),
        (("nan", "", "", ""), "The window is a number of seconds"),
        (("20", "4000", "", ""), "The idle is a number of seconds"),
        (("20", "", "85", ""), "needs its method in words"),
        (("20", "", "", "a plug"), "named without its watts"),
        (("20", "", "-3", "a plug"), "no number of watts"),
        (("20", "", "'half", "a plug"), "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_wish_is_said(boxes, wrong):
    with pytest.raises(UsageError, match=wrong):
        parse_wish(*boxes, TYPED)


def test_a_wish_has_the_sources_own_window_and_a_command_is_a_meter():
    assert parse_wish("", "", "", "", TYPED) == EnergyWish(10.0, 20.0)
    assert parse_wish("0", "", "", "", NONE) is None
    asked = parse_wish("44 s", "5s", "cat /tmp/watts", "a plug", NONE)
    assert asked == EnergyWish(44.0, 5.0, External("a plug", command="cat /tmp/watts"))
    assert [source.name for source in used(TYPED, asked).sources] == ["external", "external"]
    assert used(TYPED, None) is TYPED


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("waiting", "powermetrics waiting SoC CPU+GPU+ANE, made samples 0 waiting for the first sample"),
        ("indicative", "indicative only: about 6 s expected, a claim needs 10 s"),
        ("valid", "a claim holds: 15 s, 60 samples"),
        ("stalled", "no claim: gpu at exactly 0 under load is stalled, not 0 W"),
        ("error", "power counting error: powermetrics reads"),
        ("ended", "no claim: powermetrics ended with exit status 1"),
    ],
)
def test_every_state_of_a_live_row_is_said_in_words(name, expected):
    assert expected in words(live_facts(state(name), 60))


@pytest.mark.parametrize("name", STATES)
def test_a_row_that_claims_nothing_shows_no_energy_as_if_it_did(name):
    shown = words(live_facts(state(name), 60))
    assert ("mWh/token" in shown) is (name in {"indicative", "valid"})
    marked = [fact for fact in live_facts(state(name), 60) if fact.mark]
    assert bool(marked) is (name in {"stalled", "error", "ended"})


def test_typed_watts_have_no_cadence():
    assert "every inf" not in words(source_facts(TYPED))
    assert "typed once: indicative at most" in words(source_facts(TYPED))


def test_energy_is_shown_only_with_claim_and_scope():
    valid = PowerReading(
        source="nvml",
        scope="GPU board, measured",
        claim="valid",
        mean_w=100.0,
        mwh_per_token_gross=0.852,
        mwh_per_token_net=0.7,
        j_per_token_gross=3.067,
        tps_in_window=32.6,
    )
    assert words(energy_facts(valid)) == (
        "energy 0.852 mWh/token = 100.0 W / (3.6 x 32.6 tok/s), 3.067 J/token, net of idle 0.7 mWh/token; "
        "valid: GPU board, measured"
    )
    none = PowerReading(
        source="nvml", scope="GPU board", claim="none", mwh_per_token_gross=9.9, claim_reasons=["0.5 s"]
    )
    assert words(energy_facts(none)) == "energy no claim 0.5 s; GPU board"
    record = Record(record_id="r", run_group_id="g", experiment="energy", status="measured", power=[none])
    assert "9.9" not in words(reading_facts(record))
