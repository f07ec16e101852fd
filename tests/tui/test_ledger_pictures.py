"""Pictures of ledger, card, fit, calibration, rounds, comparison and replay, at two sizes."""

import asyncio

import pytest
from textual.widgets import Input

from tests import checkpoints
from tests.protocol.test_playback import FakeTime
from tests.tui.office_ledger import fill
from tests.tui.pictures import SIZES, counted, entry, locked, sizes
from workbench.accounting.engine import count
from workbench.ledger.corrections import discarded
from workbench.ledger.example import OFFICE_RUN_1
from workbench.ledger.store import read
from workbench.protocol.playback import Tempo
from workbench.tui.options import Options
from workbench.tui.pair import Side
from workbench.tui.replay_app import ReplayApp
from workbench.tui.screens.compare import CompareScreen

pytestmark = pytest.mark.usefixtures("at_home")
BOTH = sizes("80x24", "160x50")
SMALL = sizes("80x24")


@pytest.fixture
def shown(picture, tmp_path):
    """The picture after these keys, over the office ledger; `ready`: the screen has what it shows."""

    def show(size, ready, *keys, opener="L"):
        fill(tmp_path / "ledger.jsonl")

        async def press(app, pilot):
            await pilot.press(opener)
            while not ready(app.screen):
                await pilot.pause(0.01)
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            for box in app.screen.query(Input):
                box.cursor_blink = False
            await pilot.pause(0.1)

        picture(None, size, before=press)

    return show


def has_records(screen):
    return bool(screen.query("#records")) and screen.query_one("#records").line_count == 8


def has_groups(screen):
    return bool(screen.query("#groups")) and screen.query_one("#groups").line_count == 3


def has_people(screen):
    return bool(screen.query("#people")) and screen.query_one("#people").line_count == 3


@BOTH
def test_ledger(shown, size):
    shown(size, has_records, "j", "space", "j", "j", "space")


@SMALL
def test_ledger_filtered(shown, size):
    shown(size, has_records, "slash", *"verdict:ok 9b", "enter")


@BOTH
def test_record(shown, size):
    shown(size, has_records, "j", "enter")


@SMALL
def test_report(shown, size):
    shown(size, has_records, "j", "j", "enter", "r")


@BOTH
def test_two_records(shown, size):
    shown(size, has_records, "j", "space", "j", "space", "equals_sign")


@SMALL
def test_reason(shown, size):
    shown(size, has_records, "j", "j", "d", "enter")


@BOTH
def test_ranking(shown, size):
    shown(size, has_records, "j", "j", "j", "j", "enter", "e")


@BOTH
def test_fit(shown, size):
    shown(size, has_groups, opener="F")


@pytest.mark.parametrize("page", ["2", "3"])
def test_fit_page(shown, page):
    shown("80x24", has_groups, page, opener="F")


@sizes("160x50")
def test_fit_of_the_office_rows(shown, size):
    shown(size, has_groups, "G", opener="F")


@BOTH
def test_people(shown, size):
    shown(size, has_people, opener="P")


@BOTH
def test_comparison(picture, size):
    """Full precision and compressed, a number for each, the first one locked."""
    desk = locked(counted("mlx-Qwen3.5-2B-8bit"), ("you", 310.0))
    name = "mlx-Qwen3.5-2B-4bit"
    second = checkpoints.in_memory(name)

    async def press(app, pilot):
        main = app.main_screen
        main.pair.second = Side(entry(name, 1, "qwen3_5", name=name), second, count(second))
        main.pair.said[name] = "560"
        app.push_screen(CompareScreen(main))
        await pilot.pause()
        await pilot.pause(0.1)

    picture(desk, size, before=press)


# --- replay ---


class TimeUpTo(FakeTime):
    """Recorded time passes up to a second, then it stands still."""

    def __init__(self, seconds):
        super().__init__()
        self.end_s = self.now_s + seconds

    async def sleep(self, seconds):
        if self.now_s >= self.end_s:
            await asyncio.Event().wait()
        await super().sleep(seconds)


@pytest.fixture
def replayed(snap_compare, monkeypatch):
    """The picture of a replay after these keys, when so many seconds of it have passed."""
    monkeypatch.setattr("workbench.tui.words.clock", lambda _: "14:03:22Z")

    def show(size, ledger, number, *keys, until_s=0.0, ended=False):
        records = read(ledger).records
        record, time = records[number], TimeUpTo(until_s)
        tempo = Tempo(clock=time.clock, sleep=time.sleep)
        app = ReplayApp(Options(ledger=ledger), record, discarded(records).get(record.record_id), tempo)

        def is_there(screen):
            run = screen.desk.run
            if run is None or run.stamp is None or not screen.query("#entries"):
                return False
            return screen.desk.record is not None if ended else not keys or time.now_s >= time.end_s

        async def press(pilot):
            while app.main_screen.desk.run is None or app.main_screen.desk.run.stamp is None:
                await pilot.pause(0.01)
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            while not is_there(app.main_screen):
                await pilot.pause(0.01)
            app.main_screen.tick()
            app.clear_notifications()
            await pilot.pause(0.2)

        assert snap_compare(app, terminal_size=SIZES[size], run_before=press)

    return show


@BOTH
def test_replay_before_the_number(replayed, size):
    replayed(size, OFFICE_RUN_1, 0)


@BOTH
def test_replay_running(replayed, size, tmp_path):
    replayed(size, fill(tmp_path / "ledger.jsonl"), 3, "r", "r", until_s=3.0)


@BOTH
def test_replay_of_run_1_revealed(replayed, size):
    """Every byte counted: 222 % of the ceiling, and what a class had said."""
    numbers = ("n", *"ana=60 bo=300 chi=95", "enter", "r")
    replayed(size, OFFICE_RUN_1, 0, *numbers, until_s=60.0, ended=True)
