"""Records of ill will on every screen that shows one: nothing breaks, nothing acts, nothing is markup."""

import pytest

from tests.hostile import NUMBERS, TEXTS, acting, line, one_field, record
from tests.protocol.test_playback import FakeTime
from tests.tui.desk_stage import screen_text, type_in, until
from workbench.ledger.store import read
from workbench.protocol.playback import Tempo
from workbench.protocol.replaying import replay_of, why_not
from workbench.tui.screens.card import CardScreen
from workbench.tui.screens.difference import DifferenceScreen
from workbench.tui.screens.fit import FitScreen
from workbench.tui.screens.ledger import LedgerScreen
from workbench.tui.screens.people import PeopleScreen
from workbench.tui.screens.replay import ReplayScreen
from workbench.tui.screens.round import RoundScreen

PLAYABLE = {
    "experiment": "single",
    "status": "measured",
    "generation_tps": 50.0,
    "weight_bytes_per_token": 10**9,
    "rule": "count",
}
HOURS_S = 10_000.0
WORDS = [(text, 1) for text in TEXTS.values()]
FIGURES = [("a", number) for number in NUMBERS]


class Seen:
    """Presses keys and keeps what was painted after each."""

    def __init__(self, app, pilot):
        self.app, self.pilot, self.texts = app, pilot, []

    async def press(self, *keys):
        for key in keys:
            await self.pilot.press(key)
            await self.look()

    async def look(self):
        await self.pilot.pause()
        text = screen_text(self.app)
        assert [row for row in text.split("\n") if acting(row)] == []
        self.texts.append(text)

    @property
    def screen(self):
        return self.app.screen


def fill(path, values, **keep):
    """Every field of a record with each value, and sound records with one name out of place."""
    records = [record(text, number, **keep) for text, number in values]
    records += [
        one_field(name, text, number) for name in ("model", "architecture") for text, number in values
    ]
    ids = (f"{number:08x}-{text}" for number, text in enumerate(TEXTS.values()))
    named = [one | {"record_id": next(ids, one["record_id"])} for one in records]
    path.write_bytes(b"".join(line(one) for one in named))
    return named


async def through_the_ledger(seen, count):
    """Every key of the ledger, and every record's card, report, ranking and comparison."""
    await seen.press("escape", "L")
    await until(lambda: isinstance(seen.screen, LedgerScreen))
    await until(lambda: "record" in seen.screen.query_one("#ledger").border_subtitle)
    await seen.press("G")
    for _ in range(count):  # the worst are at the end
        await seen.press("enter")
        assert isinstance(seen.screen, CardScreen)
        await seen.press("end", "r", "end", "e")
        if isinstance(seen.screen, RoundScreen):
            await seen.press("escape")
        await seen.press("escape", "space", "k", "space", "equals_sign")
        if isinstance(seen.screen, DifferenceScreen):
            await seen.press("G", "k", "escape")
    await seen.press("d", "escape", "slash", *"model:", "escape", "escape")
    assert seen.screen is seen.app.main_screen


async def through_fit_and_people(seen):
    """Every group and every person."""
    await seen.press("F")
    await until(lambda: isinstance(seen.screen, FitScreen) and seen.screen.query("#groups"))
    await until(lambda: seen.screen.query_one("#groups").line_count > 0)
    await seen.press(*"jjjjjj", "1", "2", "3", "escape", "P")
    await until(lambda: isinstance(seen.screen, PeopleScreen) and seen.screen.query("#people"))
    await until(lambda: "people" in (seen.screen.query_one("#people-box").border_subtitle or ""))
    await seen.press(*"jjj", "escape")


@pytest.mark.parametrize("values", [WORDS, FIGURES], ids=["texts", "numbers"])
@pytest.mark.parametrize("keep", [{}, PLAYABLE], ids=["all of it", "playable"])
async def test_ledger_card_report_comparison_round_fit_and_calibration(desk, values, keep):
    fill(desk.stage.ledger, values, **keep)
    async with desk.open((80, 24)) as (app, pilot):
        seen = Seen(app, pilot)
        await through_the_ledger(seen, len(values))
        await through_fit_and_people(seen)
    if values is WORDS:
        assert any("[bold red]loud[/]" in shown for shown in seen.texts)


@pytest.mark.parametrize(("text", "number"), [*WORDS[:4], *FIGURES])
async def test_a_replay_of_it(desk, text, number):
    fill(desk.stage.ledger, [(text, number)], **(PLAYABLE | {"status": text}))
    played, time = read(desk.stage.ledger).records[0], FakeTime()
    if why_not(played) or replay_of(played).seconds > HOURS_S:
        return  # it would only be waited for
    async with desk.open((100, 40)) as (app, pilot):
        screen = ReplayScreen(app.options, played, text, tempo=Tempo(clock=time.clock, sleep=time.sleep))
        app.push_screen(screen)
        await until(lambda: screen.desk.run is not None and screen.desk.run.stamp is not None)
        seen = Seen(app, pilot)
        await seen.press("n")
        await type_in(pilot, "60")
        await seen.press("r")
        await until(lambda: screen.desk.record is not None and not screen.desk.running)
        await seen.press("escape", *"12345", "c", "end", "escape", "e", "escape")


async def test_a_record_whose_bytes_do_not_add_up_is_no_replay_and_no_end_of_the_program(desk):
    fields = one_field("rule", "a", 1) | {"rule": "seed", "weight_bytes_per_token": 7, "in_force": "graph"}
    desk.stage.ledger.write_bytes(line(fields | {"roles": None, "token_times_ns": [[-1, -1]]}))
    async with desk.open((80, 24)) as (app, pilot):
        seen = Seen(app, pilot)
        await seen.press("escape", "L")
        await until(lambda: isinstance(seen.screen, LedgerScreen) and seen.screen.table.line_count == 1)
        await seen.press("enter", "R")
        assert isinstance(seen.screen, CardScreen | ReplayScreen)
