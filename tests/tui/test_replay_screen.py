"""A replay on the screens: the same panes and the same order, marked on every page, and nothing recorded."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from tests.protocol.test_playback import FakeTime
from tests.tui.desk_stage import pane_text, said, screen_text, type_in, until
from tests.tui.office_ledger import fill, record_id
from workbench import locations
from workbench.ledger.corrections import discarded
from workbench.ledger.example import OFFICE_RUN_1
from workbench.ledger.store import read
from workbench.protocol.playback import Tempo
from workbench.tui.actions import actions_in
from workbench.tui.options import Options
from workbench.tui.replay_app import ReplayApp
from workbench.tui.screens.card import CardScreen
from workbench.tui.screens.ledger import LedgerScreen
from workbench.tui.screens.replay import ReplayScreen

CEILING_OF_RUN_1 = "40.2"


class HeldTime(FakeTime):
    """Time passes only while `going`; without it a replay stands still."""

    def __init__(self):
        super().__init__()
        self.going = asyncio.Event()

    async def sleep(self, seconds):
        await self.going.wait()
        await super().sleep(seconds)


@asynccontextmanager
async def playing(ledger=OFFICE_RUN_1, number=0, size=(120, 40)):
    """A running replay of a ledger's record, its pilot and its clock."""
    records = read(ledger).records
    record, time = records[number], HeldTime()
    app = ReplayApp(
        Options(ledger=ledger, hz=20.0),
        record,
        discarded(records).get(record.record_id),
        Tempo(clock=time.clock, sleep=time.sleep),
    )
    async with app.run_test(size=size) as pilot:
        await until(
            lambda: app.main_screen.desk.run is not None and app.main_screen.desk.run.stamp is not None
        )
        await pilot.pause()
        yield app, pilot, time


async def to_the_end(app, pilot, time):
    await pilot.press("r")
    time.going.set()
    await until(lambda: app.main_screen.desk.record is not None and not app.main_screen.desk.running)
    await pilot.pause()


async def test_run_1_is_played_from_prediction_to_counting_error_and_its_correction():
    async with playing() as (app, pilot, time):
        assert "REPLAY" in screen_text(app)
        assert "synthesized evenly" in screen_text(app)
        await pilot.press("n")
        await type_in(pilot, "60")
        assert "40.2 tok/s" in pane_text(app, "#prediction")
        await to_the_end(app, pilot, time)
        verdict = pane_text(app, "#prediction")
        assert "counting error" in verdict
        assert "222 %" in verdict
        assert "discarded later: Every byte on disk was counted" in said(app)
        assert "REPLAY" in screen_text(app)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_neither_ceiling_nor_rate_is_anywhere_before_the_lock(size):
    async with playing(size=size) as (app, pilot, _):
        seen = ""
        for key in "12345":
            await pilot.press(key)
            await pilot.pause()
            seen += screen_text(app)
        assert "20.391" in seen
        assert CEILING_OF_RUN_1 not in seen
        assert "89.0" not in seen
        assert "88.99" not in seen
        assert "221" not in seen


async def test_a_run_needs_a_number_where_nobodys_was_recorded():
    async with playing() as (app, pilot, _):
        await pilot.press("r")
        await pilot.pause()
        assert "Nobody's prediction is in this record" in said(app)
        assert not app.main_screen.desk.locked


async def test_what_was_said_then_is_locked_first_and_played_next(tmp_path):
    ledger = fill(tmp_path / "ledger.jsonl", damaged=False)
    before = ledger.read_bytes()
    async with playing(ledger, 3) as (app, pilot, time):
        assert "140" not in pane_text(app, "#prediction")  # what ana said is hidden too
        await pilot.press("r")
        await until(lambda: app.main_screen.desk.locked)
        await pilot.pause()
        assert "ana 140.0" in pane_text(app, "#prediction")
        assert "183.4 tok/s" in pane_text(app, "#prediction")
        await to_the_end(app, pilot, time)
        assert "1. chi" in pane_text(app, "#prediction")
        assert app.main_screen.desk.record.record_id == record_id(4)
    assert ledger.read_bytes() == before
    assert not locations.ledger_path().exists()
    assert not locations.locks_dir().exists()


async def test_a_class_says_its_own_numbers_and_is_ranked(tmp_path):
    ledger = fill(tmp_path / "ledger.jsonl", damaged=False)
    async with playing(ledger, 3) as (app, pilot, time):
        await pilot.press("n")
        await type_in(pilot, "dora=96 emil=300 fay=40")
        await to_the_end(app, pilot, time)
        await pilot.press("e")
        await pilot.pause()
        text = screen_text(app)
    assert "round (replay)" in text
    assert "dora comes nearest" in text
    assert text.index("1. dora") < text.index("2. fay") < text.index("3. emil")


async def test_it_can_be_held_sped_up_stopped_and_played_again():
    async with playing() as (app, pilot, time):
        screen = app.main_screen
        await pilot.press("n")
        await type_in(pilot, "60")
        await pilot.press("r")
        await until(lambda: screen.desk.running)
        await pilot.press("space")
        await pilot.pause()
        assert "‖ held" in screen_text(app)
        await pilot.press("space", "plus", "plus", "minus")
        await pilot.pause()
        assert "REPLAY x2" in screen_text(app)
        await pilot.press("s")
        time.going.set()
        await until(lambda: "The replay was stopped" in said(app))
        await until(lambda: not screen.desk.running)
        assert screen.desk.record is None
        await to_the_end(app, pilot, time)
        await pilot.press("a")
        await until(lambda: screen.desk.record is None)
        assert not screen.desk.locked


async def test_another_run_of_the_ledger_can_be_chosen():
    async with playing() as (app, pilot, _):
        await pilot.press("1")
        await until(lambda: app.main_screen.query_one("#entries").line_count == 2)
        assert "× 2026-09-15" in pane_text(app, "#models")
        assert "↓ 2026-09-15" in pane_text(app, "#models")
        await pilot.press("k", "enter")
        await until(lambda: app.main_screen.replay.plan.rule == "count")
        await pilot.pause()
        assert "1.659 GB" in pane_text(app, "#prediction")


async def test_nothing_can_be_measured_or_appended_from_a_replay():
    async with playing() as (app, pilot, _):
        await pilot.press("p", "b", "v", "w")
        await pilot.pause()
        assert "a replay measures nothing" in said(app)
        assert "keeps the bandwidth figure" in said(app)
        assert "only its record to show" in said(app)
        await pilot.press("L")
        await until(lambda: isinstance(app.screen, LedgerScreen))
        await until(lambda: "2 records" in screen_text(app))
        assert "ledger (replay)" in screen_text(app)
        assert "88.99" not in screen_text(app)  # hidden until the lock
        await pilot.press("d")
        await pilot.pause()
        assert "nothing is appended" in said(app)


ELSEWHERE = {"leave_program", "leave_replay", "interrupt", "picture"}
KEYS = sorted({one.keys[0] for one in actions_in("main", "replay", "everywhere") if one.id not in ELSEWHERE})


@pytest.mark.parametrize("moment", ["before the number", "after the reveal"])
async def test_no_key_of_the_main_screen_ends_a_replay(moment):
    async with playing() as (app, pilot, time):
        if moment == "after the reveal":
            await pilot.press("n")
            await type_in(pilot, "60")
            await to_the_end(app, pilot, time)
        for key in KEYS:
            await pilot.press(key)
            await pilot.pause()
            assert app.is_running and app.return_code in {None, 0}, key
            while len(app.screen_stack) > 1:
                app.pop_screen()
            app.screen.set_focus(None)


async def test_the_card_of_a_replay_says_so():
    async with playing() as (app, pilot, time):
        await pilot.press("n")
        await type_in(pilot, "60")
        await to_the_end(app, pilot, time)
        await pilot.press("c")
        await pilot.pause()
        assert "record (replay)" in screen_text(app)
        await pilot.press("R")
        await pilot.pause()
        assert isinstance(app.screen, CardScreen)  # no replay within a replay


async def test_a_record_is_replayed_from_its_card_and_escape_leads_back(desk):
    fill(desk.stage.ledger)
    async with desk.open() as (app, pilot):
        await pilot.press("L")
        await until(lambda: "8 records" in screen_text(app))
        await pilot.press("j", "enter")
        await pilot.pause()
        await pilot.press("R")
        await until(lambda: isinstance(app.screen, ReplayScreen) and app.screen.desk.run is not None)
        await until(lambda: "REPLAY" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: isinstance(app.screen, CardScreen))
    assert desk.stage.events == []  # no worker was started


async def test_escape_leaves_a_replay_that_was_started_alone():
    async with playing() as (app, pilot, _):
        await pilot.press("escape")
        await until(lambda: app.return_code is not None or not app.is_running)
    assert app.return_code == 0
