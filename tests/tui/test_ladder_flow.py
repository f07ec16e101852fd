"""A ladder through the screens: mark, predict each, one go, a record each, the table at the end."""

import asyncio

import pytest

from tests.protocol.stage import Hang
from tests.tui.desk_stage import APPLE, DENSE, MIXTURE, half_run, lock, pick, said, screen_text, until
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.protocol import bandwidths
from workbench.protocol.bandwidths import KnownFigures
from workbench.tui.rungs import state_words
from workbench.tui.screens.ladder import LadderScreen

SMALL = "mlx-Qwen3.5-0.8B-4bit"


async def mark(app, pilot, *names):
    """Mark these checkpoints in the picker, and open the ladder."""
    await pilot.press("1")
    table = app.main_screen.query_one("#entries")
    for name in names:
        table.cursor = next(i for i in range(table.line_count) if table.row_at(i).name == name)
        await pilot.press("m")
    await pilot.press("M")


async def laid(app):
    """Wait until every rung is counted and sealed; the climb."""
    await until(lambda: isinstance(app.screen, LadderScreen))
    climb = app.screen.climb
    await until(lambda: climb.is_laid or climb.problem)
    return climb


async def say(app, pilot, *numbers):
    """Type these numbers one after the other, from the first rung on."""
    app.screen.table.cursor = 0
    await pilot.press("n")
    for number in numbers:
        app.screen.query_one("#rung-number Input").value = number
        await pilot.press("enter")
        await pilot.pause()


async def test_several_checkpoints_one_prediction_each_one_go_one_record_each(desk):
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        climb = await laid(app)
        await say(app, pilot, "900")
        assert [rung.locked for rung in climb.rungs] == [True, False]
        await pilot.press("escape", "r")
        assert "1 number still to be said" in said(app)
        assert desk.stage.events.count(("send", "DecodeRequest")) == 0
        assert "183.4" not in screen_text(app)
        await say(app, pilot, "900", "ana=143 bo=95")
        await until(lambda: climb.is_ready)
        await until(lambda: "r climbs" in screen_text(app))
        shown = screen_text(app)
        assert "183.4" in shown  # every number is locked: ceilings may be seen
        await pilot.press("r")
        await until(lambda: climb.ended)
        await until(lambda: "2 of 2 measured" in screen_text(app))
        shown = screen_text(app)
        assert "51.9 %" in shown
        assert "-33.5 %" in shown
        await pilot.press("enter")
        await until(lambda: app.screen.query("#card"))
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main_screen)
    assert [(r.model, r.experiment, r.status) for r in desk.records] == [
        (SMALL, "ladder", "measured"),
        (DENSE, "ladder", "measured"),
    ]
    assert max(r.predicted_at for r in desk.records) < min(r.loaded_at for r in desk.records)
    assert [r.witness.status for r in desk.records] == ["agrees", "agrees"]
    assert [len(r.locks) for r in desk.records] == [2, 1]


async def test_the_graph_is_in_force_on_a_rung_too(desk):
    desk.graph.twice = ("mlp.down_proj",)
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        climb = await laid(app)
        assert [rung.plan.in_force for rung in climb.rungs] == ["graph", "graph"]
        await until(lambda: "✗ count and graph differ: 423.938 MB and 473.483 MB" in screen_text(app))


async def test_a_ladder_needs_two_marks_and_what_cannot_run_is_not_marked(desk):
    desk.add(DENSE)
    desk.add_damaged(SMALL)
    async with desk.open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL)
        assert "cannot be run" in said(app)
        assert "mark two checkpoints at least" in said(app)
        await mark(app, pilot, DENSE)
        assert app.screen is app.main_screen
        assert "◆ " in screen_text(app)
        await pilot.press("m")
        await pilot.pause()
        assert "◆ " not in screen_text(app)


async def test_a_locked_number_on_the_desk_keeps_the_ladder_shut(desk):
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await mark(app, pilot, SMALL, DENSE)
        assert "a number is locked" in said(app)
        assert app.screen is app.main_screen


async def test_earlier_results_stay_shut_until_every_number_is_locked(desk):
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        climb = await laid(app)
        await say(app, pilot, "900")
        await pilot.press("escape", "L", "F", "P")
        assert said(app).count("earlier results would give them away") == 3
        assert isinstance(app.screen, LadderScreen)
        await say(app, pilot, "900", "143")
        await until(lambda: climb.is_ready)
        await pilot.press("L")
        await until(lambda: app.screen.query("#records"))


async def test_stop_leaves_a_record_for_every_rung(desk):
    desk.script = half_run()
    async with desk.add(DENSE, SMALL, MIXTURE).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE, MIXTURE)
        climb = await laid(app)
        await say(app, pilot, "900", "143", "300")
        await until(lambda: climb.is_ready)
        await pilot.press("r")
        await until(lambda: climb.rungs[0].run.now is not None)
        await until(lambda: "95.1" in screen_text(app))
        await pilot.press("escape")
        assert "s stops it" in said(app)
        await pilot.press("s")
        await until(lambda: climb.ended)
        assert "0 of 3 measured" in " ".join(screen_text(app).split())
    assert [record.status for record in desk.records] == ["cancelled"] * 3


async def test_the_stop_key_does_without_a_graph_that_takes_long(desk):
    desk.graph.gate = asyncio.Event()
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        await until(lambda: desk.graph.asked == [SMALL])
        await until(lambda: "reading the decode graphs (s: without)" in screen_text(app))
        await pilot.press("s")
        await until(lambda: desk.graph.asked == [SMALL, DENSE])
        desk.graph.gate.set()
        climb = await laid(app)
        assert [rung.looked.agreement.status for rung in climb.rungs] == ["not witnessed", "agrees"]


async def test_quitting_from_a_ladder_keeps_the_locked_numbers(desk):
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        await laid(app)
        await say(app, pilot, "900")
        await pilot.press("escape", "q")
        await until(lambda: app._exit)
    assert [(r.model, r.status, r.predicted_tps_human) for r in desk.records] == [(SMALL, "cancelled", 900)]


async def test_ctrl_c_stops_a_ladder(desk):
    desk.script = [*half_run()[:-1], Hang()]
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        climb = await laid(app)
        await say(app, pilot, "900", "143")
        await until(lambda: climb.is_ready)
        await pilot.press("r")
        await until(lambda: climb.rungs[0].run.now is not None)
        await pilot.press("ctrl+c")
        await until(lambda: climb.ended)
    assert [record.status for record in desk.records] == ["cancelled"] * 2


async def test_leaving_gives_the_desk_its_measurement_back(desk):
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await until(lambda: not app.main_screen.desk.looking)
        await mark(app, pilot, SMALL, DENSE)
        await laid(app)
        await pilot.press("escape")
        await until(lambda: app.screen is app.main_screen)
        await lock(app, pilot)
        assert app.main_screen.desk.run.predictions[0].tps == 143


async def test_without_a_figure_the_known_ones_are_used_or_the_ladder_asks(desk, monkeypatch):
    spec = BandwidthFigure(100.0, BandwidthKind.SPEC, "a page")
    answers = [KnownFigures((spec,)), KnownFigures((), "No figure is known here.")]
    monkeypatch.setattr(bandwidths, "known_figures", lambda *_: answers.pop(0))
    async with desk.add(DENSE, SMALL).open((120, 40)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        climb = await laid(app)
        await until(lambda: climb.figures)
        assert [rung.plan.bandwidths for rung in climb.rungs] == [(spec,), (spec,)]
        await pilot.press("escape", "M")
        climb = await laid(app)
        await until(lambda: "No figure is known here. esc, then b or p." in screen_text(app))
        await say(app, pilot, "900", "143")
        await pilot.press("escape", "r")
        assert not climb.climbing
        assert not any(rung.locked for rung in climb.rungs)
        assert [state_words(rung) for rung in climb.rungs] == ["said", "said"]


@pytest.mark.parametrize("number", ["0", "fast"])
async def test_what_is_no_number_is_said(desk, number):
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,)) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        climb = await laid(app)
        await say(app, pilot, number)
        assert climb.rungs[0].is_open
        assert app.screen.number.has_class("-wrong")


async def test_blind_shows_no_rate_while_a_rung_runs(desk):
    desk.script = half_run()
    async with desk.add(DENSE, SMALL).open((120, 40), bandwidths=(APPLE,), blind=True) as (app, pilot):
        await mark(app, pilot, SMALL, DENSE)
        climb = await laid(app)
        await say(app, pilot, "900", "143")
        await until(lambda: climb.is_ready)
        await pilot.press("r")
        await until(lambda: climb.rungs[0].run.now is not None)
        await pilot.pause(0.1)
        assert "95.1" not in screen_text(app)
