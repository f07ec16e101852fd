"""The verdict: its reasons, what explains an excess, what it stands beside, what was warned of."""

from dataclasses import replace

from tests.protocol.stage import repeat, story
from tests.tui.desk_stage import (
    APPLE,
    DENSE,
    MIXTURE,
    half_run,
    lock,
    pane_text,
    pick,
    run_to_end,
    screen_text,
    sees,
    until,
    whole_run,
)
from workbench.protocol import decode_worker

OFFICE = "Qwen3.5-9B-4bit 4.466 GB a token: 51.8 % of spec 819 GB/s, 66.5 % of achieved 638 GB/s"


async def compared(app, pilot):
    """Wait for the rows beside the verdict."""
    await until(lambda: app.main_screen.desk.beside)
    await pilot.pause()


async def test_the_office_rows_stand_beside_the_verdict_with_denominator_and_date(desk):
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        assert "beside" not in pane_text(app, "#prediction")
        await run_to_end(app, pilot)
        await compared(app, pilot)
        await sees(app, "#prediction", f"beside {OFFICE}; office, Apple M3 Ultra, 2026-09-15")


async def test_this_ledgers_own_rows_stand_beside_it_too_and_go_with_a_new_prediction(desk):
    async with desk.add(DENSE, MIXTURE).open((120, 60), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await run_to_end(app, pilot)
        await pick(app, pilot, MIXTURE)
        assert "beside" not in pane_text(app, "#prediction")
        await lock(app, pilot)
        desk.script = whole_run(90.0)
        await run_to_end(app, pilot)
        await compared(app, pilot)
        own = [row for row in app.main_screen.desk.beside if row.model == DENSE]
        assert [(row.of, round(row.fraction, 3)) for row in own] == [("spec 819 GB/s", 0.519)]
        assert "Qwen3.5-35B-A3B-4bit" in {row.model for row in app.main_screen.desk.beside}
        await pilot.press("a")
        assert app.main_screen.desk.beside == ()


async def test_an_excess_is_flagged_and_explained(desk):
    """Run 1 of the source documents: the experts counted in full."""
    desk.script = whole_run(88.99)
    async with desk.add(MIXTURE).open((160, 50), bandwidths=(APPLE,), rule="all-bytes") as (app, pilot):
        await pick(app, pilot, MIXTURE)
        await lock(app, pilot, "40")
        await run_to_end(app, pilot)
        shown = pane_text(app, "#prediction")
    assert "✗ counting error" in shown
    assert "221.6 %" in shown
    assert "Explained by: experts counted in full. Put right, a token reads 2.838 GB" in shown


async def test_a_run_that_its_conditions_spoil_says_so(desk, monkeypatch):
    sampled = desk.stage.make

    def hot(*given, **changes):
        made = sampled(*given, **changes)
        made._watch._sample = throttled
        return made

    async def throttled(*, gpu, brief):
        from tests.protocol.stage import still

        return replace(await still(gpu=gpu, brief=brief), thermal="heavy")

    monkeypatch.setattr(desk.stage, "make", hot)
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await run_to_end(app, pilot)
        await sees(app, "#prediction", "! spoiled")
        assert desk.records[0].verdict_reasons[0].split()[0] in pane_text(app, "#prediction")


async def test_a_warning_of_memory_stays_on_the_screen(desk, monkeypatch):
    monkeypatch.setattr(
        decode_worker, "warning_now", lambda *_, **__: "This run needs 5.1 GB, but only 2.0 GB are free."
    )
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await pilot.press("n")
        await until(lambda: app.main_screen.desk.run.notices)
        await pilot.pause()
        await sees(app, "#prediction", "! note This run needs 5.1 GB, but only 2.0 GB are free.")


async def test_the_expected_duration_is_said_before_the_start(desk):
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot, "10")
        await sees(app, "#prediction", "will take 41 s by your number")


async def test_blind_shows_no_rate_before_the_end_and_the_verdict_after_it(desk):
    desk.script = half_run()
    async with desk.add(DENSE).open((80, 24), bandwidths=(APPLE,), blind=True) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await pilot.press("r")
        await until(lambda: app.main_screen.desk.run.now is not None)
        await pilot.pause(0.1)
        assert "95.1" not in screen_text(app)
        await pilot.press("s")
        await until(lambda: app.main_screen.desk.record is not None and not app.main_screen.desk.running)
        desk.script = story(*(repeat(i, tokens=200, step_ms=10) for i in range(2)))
        await pilot.press("a")
        await lock(app, pilot)
        await run_to_end(app, pilot)
        await until(lambda: "tok/s measured" in screen_text(app))
    assert [record.blind for record in desk.records] == [True, True]
