"""Two checkpoints side by side: bytes by role at once, a number for each, a ceiling only after its lock."""

from tests.tui.desk_stage import APPLE, lock, pick, run_to_end, said, screen_text, sees, type_in, until
from tests.tui.pictures import counted, ended, locked
from workbench.tui.pair import HIDDEN, Pair, Side, lines
from workbench.tui.screens.choose import ChooseScreen
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.screens.ladder import LadderScreen

FULL, SMALL = "mlx-Qwen3.5-2B-8bit", "mlx-Qwen3.5-2B-4bit"


async def compared(app, pilot):
    """Choose the second checkpoint and wait for its count."""
    await pilot.press("escape", "v")
    await until(lambda: isinstance(app.screen, ChooseScreen))
    table = app.screen.query_one("#choices")
    table.cursor = next(i for i in range(table.line_count) if table.row_at(i).name == SMALL)
    await pilot.press("enter")
    await until(lambda: isinstance(app.screen, CompareScreen))
    await until(lambda: app.main_screen.pair.second.count is not None)
    await pilot.pause()
    return app.screen


def row(screen, label):
    table = screen.query_one("#compare-lines")
    return next(table.row_at(i) for i in range(table.line_count) if table.row_at(i)[0] == label)


async def test_bytes_by_role_stand_side_by_side_and_no_ceiling_with_them(desk):
    async with desk.add(FULL, SMALL).open((100, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot, FULL)
        screen = await compared(app, pilot)
        assert row(screen, "mlp")[1:] == ("962.593 MB", "509.608 MB", "0.529")
        assert row(screen, "a token reads")[1:] == ("2.000 GB", "1.059 GB", "0.530")
        assert row(screen, "ceiling, tok/s")[1:] == (HIDDEN, HIDDEN, "")
        assert "409" not in screen_text(app)  # 819 GB/s over 2.000 GB


async def test_a_number_for_each_waits_in_its_box_and_is_locked_there(desk):
    async with desk.add(FULL, SMALL).open((100, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot, FULL)
        screen = await compared(app, pilot)
        screen.query_one("#left-number").focus()
        await type_in(pilot, "200")
        await type_in(pilot, "310")  # the focus went on to the other one
        assert row(screen, "your number, tok/s")[1:3] == ("200", "310")
        await pilot.press("escape")
        await pilot.pause()
        number = app.main_screen.query_one("#number")
        assert number.value == "200"
        assert not app.main_screen.desk.locked
        await pilot.press("n", "enter")
        await until(lambda: app.main_screen.desk.locked)
        await run_to_end(app, pilot)
        await pilot.press("v")
        await until(lambda: isinstance(app.screen, CompareScreen))
        await pilot.pause()
        assert row(app.screen, "ceiling, tok/s")[1:3] == ("409.5", HIDDEN)
        assert row(app.screen, "measured, tok/s")[1:3] == ("95.1", "–")
        await pilot.press("x")
        await until(lambda: app.main_screen.desk.name == SMALL and app.main_screen.desk.count is not None)
        await until(lambda: number.value == "310")
        assert not app.main_screen.desk.locked
        await pilot.press("v")
        await until(lambda: isinstance(app.screen, CompareScreen))
        await pilot.pause()
        assert row(app.screen, "measured, tok/s")[1:3] == ("–", "95.1")  # what was found stays with its name
    assert [record.model for record in desk.records] == [FULL]


async def test_both_numbers_are_locked_at_once_and_run_one_after_the_other(desk):
    async with desk.add(FULL, SMALL).open((100, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot, FULL)
        await until(lambda: not app.main_screen.desk.looking)
        screen = await compared(app, pilot)
        screen.query_one("#left-number").focus()
        await type_in(pilot, "200")
        await type_in(pilot, "310")
        await pilot.press("r")
        await until(lambda: isinstance(app.screen, LadderScreen) and app.screen.climb.is_ready)
        assert desk.stage.events.count(("send", "DecodeRequest")) == 0  # both locked, nothing loaded
        await pilot.press("r")
        await until(lambda: app.screen.climb.ended)
        await pilot.press("escape")
        await until(lambda: app.screen is app.main_screen)
        await pilot.press("v")
        await until(lambda: isinstance(app.screen, CompareScreen))
        await pilot.pause()
        assert row(app.screen, "ceiling, tok/s")[1:] == ("409.5", "773.1", "1.888")
        assert row(app.screen, "measured, tok/s")[1:3] == ("95.1", "95.1")
    assert [(record.model, record.predicted_tps_human) for record in desk.records] == [
        (FULL, 200),
        (SMALL, 310),
    ]
    first, second = desk.records
    assert max(first.predicted_at, second.predicted_at) < min(first.loaded_at, second.loaded_at)


async def test_a_locked_number_is_not_changed_from_here(desk):
    async with desk.add(FULL, SMALL).open((100, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot, FULL)
        await lock(app, pilot, "200")
        screen = await compared(app, pilot)
        left = screen.query_one("#left-number")
        await sees(app, "#left-number", "locked: start over (a) to say another")
        assert left.value == "200"
        assert left.query_one("Input").disabled
        assert row(screen, "your number, tok/s")[1] == "200"


async def test_without_a_checkpoint_there_is_nothing_to_compare(desk):
    async with desk.open() as (app, pilot):
        await pilot.press("v")
        await pilot.pause()
        assert "choose a checkpoint first" in said(app)


async def test_escape_chooses_none(desk):
    async with desk.add(FULL, SMALL).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot, FULL)
        await pilot.press("escape", "v")
        await until(lambda: isinstance(app.screen, ChooseScreen))
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, CompareScreen)
        await pilot.press("x")
        await pilot.pause()
        assert "Choose the second checkpoint first" in said(app)


def test_before_the_lock_a_pair_notes_nothing_and_after_the_run_everything():
    pair = Pair()
    desk = counted()
    pair.note(desk)
    assert pair.outcomes == {}
    pair.note(locked(desk))
    assert pair.outcomes[desk.name].measured_tps is None
    pair.note(ended(locked(desk), 95.1))
    assert pair.outcomes[desk.name].measured_tps == 95.1
    assert pair.said[desk.name] == "143"


def test_one_checkpoint_alone_has_its_totals():
    assert [line[0] for line in lines(Pair(), counted())] == ["a token reads", "on disk"]
    assert [line[0] for line in lines(Pair(Side(None)), counted())] == ["a token reads", "on disk"]
