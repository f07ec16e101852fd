"""A class round: several named numbers, and after the reveal who came nearest."""

from msgspec.structs import replace

from tests.tui.desk_stage import APPLE, DENSE, lock, pane_text, pick, run_to_end, said, screen_text
from tests.tui.office_ledger import office
from widgets.big_number import BigNumber
from workbench.analysis.calibration import rank
from workbench.ledger.parts import NamedPrediction
from workbench.tui.screens.round import RoundScreen, nearest
from workbench.tui.words import off_words, outcome_facts


async def test_a_round_from_its_numbers_to_its_ranking(desk):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot, "ana=120 bo=300 chi=90")
        await pilot.press("e")
        await pilot.pause()
        assert "needs predictions and a measured run" in said(app)  # nothing before the reveal
        await run_to_end(app, pilot)
        verdict = pane_text(app, "#prediction")
        assert verdict.index("1. chi") < verdict.index("2. ana") < verdict.index("3. bo")
        await pilot.press("e")
        await pilot.pause()
        shown = screen_text(app)
        numbers = [number.value for number in app.screen.query(BigNumber)]
        await pilot.press("escape")
        assert app.screen is app.main_screen
    assert numbers == ["95.1", "90.0"]
    assert "chi comes nearest: 5.7 % too low" in shown
    assert "3.2x too high" in shown
    [record] = desk.records
    assert [(one.name, one.tps) for one in record.predictions] == [("ana", 120), ("bo", 300), ("chi", 90)]


async def test_two_hundred_names_scroll(desk):
    people = [NamedPrediction(f"pupil {n}", 10.0 + n) for n in range(200)]
    record = replace(office(4, "Qwen3.5-9B-4bit"), predictions=people)
    async with desk.open((80, 24)) as (app, pilot):
        app.push_screen(RoundScreen(record))
        await pilot.pause()
        assert "1. pupil 85" in screen_text(app)
        await pilot.press("end")
        await pilot.pause()
        assert "200. " in screen_text(app)


def ranked(**people):
    return rank([NamedPrediction(name, tps) for name, tps in people.items()], 100.0)


def test_those_who_share_the_first_place_are_all_named():
    value, words = nearest(ranked(ana=90.0, bo=90.0, chi=10.0))
    assert value == "90.0"
    assert words == "ana, bo come nearest: 11.1 % too low"


def test_how_far_off_is_said_alike_in_both_directions():
    [exact, low, high, wild] = ranked(a=100.0, b=80.0, c=130.0, d=1000.0)
    assert [off_words(one) for one in (exact, low, high, wild)] == [
        "exact",
        "25.0 % too low",
        "30.0 % too high",
        "10.0x too high",
    ]


def test_one_number_alone_is_not_ranked():
    record = replace(office(4, "Qwen3.5-9B-4bit"), predictions=[NamedPrediction("ana", 100.0, -0.049)])
    assert [fact.label for fact in outcome_facts(record)] == ["ana"]
