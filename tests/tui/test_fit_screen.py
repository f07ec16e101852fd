"""Fit and calibration on the screen: groups, letters, intervals, and what stays hidden before a lock."""

from tests.analysis.office import BYTES
from tests.tui.desk_stage import APPLE, DENSE, lock, pane_text, pick, screen_text, until
from tests.tui.office_ledger import fill, office
from widgets.chart import draw_braille
from workbench.analysis.fit import fit
from workbench.analysis.reference import office_points
from workbench.ledger.corrections import discarded
from workbench.ledger.store import append, read
from workbench.tui.fit_charts import fraction_chart, letter, seconds_chart
from workbench.tui.fit_view import office_view, views
from workbench.tui.hidden import Hidden
from workbench.tui.screens.fit import FitScreen
from workbench.tui.screens.people import PeopleScreen, error_chart


async def fitted(app, pilot):
    await pilot.press("escape", "F")
    await until(lambda: isinstance(app.screen, FitScreen) and app.screen.query("#groups"))
    await until(lambda: app.screen.query_one("#groups").line_count > 0)
    await pilot.pause()
    return app.screen


async def test_the_office_rows_are_there_without_any_record(desk):
    async with desk.open((160, 50)) as (app, pilot):
        await fitted(app, pilot)
        text = screen_text(app)
    assert "2.04 ms + bytes / 515 GB/s" in text
    assert "1.91 ms + bytes / 502 GB/s by plain least squares" in text
    assert "1.67 ms + bytes / 497 GB/s weighted by bytes squared" in text
    assert "Published: 1.7 ms + bytes / 497 GB/s" in text
    assert "95 % intervals: overhead 1.68 to 2.39 ms" in text
    assert "is an outlier" in text
    assert "f Qwen3.5-35B-A3B-4bit" in text


async def test_a_ledgers_group_stands_before_them_with_its_residuals(desk):
    fill(desk.stage.ledger)
    async with desk.open((160, 50)) as (app, pilot):
        screen = await fitted(app, pilot)
        text = screen_text(app)
        rows = [
            screen.query_one("#fit-rows").row_at(i) for i in range(screen.query_one("#fit-rows").line_count)
        ]
    assert "2.03 ms + bytes / 515 GB/s" in text
    assert "Mixtures of this machine stand beside the fit" in text
    assert [row[0] for row in rows] == list("abcdef")
    assert rows[0][1] == "Qwen3.5-0.8B-4bit"
    assert rows[0][-1] == "+11.1 %"  # left out


async def test_groups_of_one_machine_are_told_apart_on_a_narrow_terminal(desk):
    fill(desk.stage.ledger)
    async with desk.open((80, 24)) as (app, pilot):
        await fitted(app, pilot)
        text = pane_text(app, "#groups")
    assert "qwen3_5 | 4-bi" in text
    assert "qwen3_5_moe, m" in text


async def test_a_narrow_terminal_shows_one_page_at_a_time(desk):
    async with desk.open((80, 24)) as (app, pilot):
        await fitted(app, pilot)
        assert "milliseconds a token" in screen_text(app)
        await pilot.press("2")
        await pilot.pause()
        assert "100 %: 819 GB/s" in screen_text(app)
        await pilot.press("3")
        await pilot.pause()
        assert "left out" in screen_text(app)
        assert "claim" in screen_text(app)


async def test_before_the_lock_its_own_kind_is_hidden_and_after_it_shown(desk):
    fill(desk.stage.ledger)
    append(desk.stage.ledger, office(7, "Qwen3.5-9B-4bit", architecture="llama", record_id="other"))
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        screen = await fitted(app, pilot)
        shown = [screen.query_one("#groups").row_at(i) for i in range(screen.query_one("#groups").line_count)]
        assert [view.hidden for view in shown if "llama" in view.name] == [False]
        assert all(view.hidden for view in shown if "llama" not in view.name)
        assert "515" not in screen_text(app)
        await pilot.press("escape")
        await lock(app, pilot)
        await fitted(app, pilot)
        assert "515 GB/s" in screen_text(app)


def test_a_group_that_cannot_be_fitted_says_why(tmp_path):
    append(tmp_path / "l.jsonl", office(1, "Qwen3.5-9B-4bit"))
    records = read(tmp_path / "l.jsonl").records
    [one, _] = views(records, discarded(records), Hidden())
    assert one.standing == "no fit"
    assert one.words[0].startswith("No fit: A line needs two models")
    assert one.rows[0][0] == "Qwen3.5-9B-4bit"


def test_records_that_are_left_out_are_counted_with_their_reason(tmp_path):
    ledger = fill(tmp_path / "l.jsonl", damaged=False)
    records = read(ledger).records
    mixture = next(view for view in views(records, discarded(records), Hidden()) if "mixture" in view.name)
    assert any(
        "left out: discarded: Every byte" in line.lower().replace("every", "Every") for line in mixture.words
    )


def test_letters_on_the_charts_are_those_of_the_rows():
    dense, mixture = office_points()
    fitted_line = fit(dense)
    charts = (
        seconds_chart(fitted_line.points, fitted_line, (mixture,), (1.7e-3, 497.0)),
        fraction_chart(fitted_line.points, fitted_line, 819.0, (mixture,)),
    )
    for chart in charts:
        drawn = "".join(text for row in draw_braille(chart, 100, 30)[:-1] for text, _ in row)
        assert all(name in drawn for name in "abcdef")
    assert len(office_view().rows) == len(BYTES)
    assert letter(26) == "A"
    assert letter(500) == "•"


async def test_people_and_their_errors_over_time(desk):
    fill(desk.stage.ledger)
    async with desk.open((100, 40)) as (app, pilot):
        await pilot.press("P")
        await until(lambda: isinstance(app.screen, PeopleScreen) and app.screen.query("#people"))
        await until(lambda: app.screen.query_one("#people").line_count == 3)
        await pilot.pause()
        text = screen_text(app)
        assert "per cent off, run by run" in text
        assert "2026-09-16" in pane_text(app, "#attempts-box")
        attempts = app.screen.query_one("#attempts")
        assert attempts.line_count == 6
        first = app.screen.query_one("#people").row_at(0).name
        await pilot.press("j")
        await pilot.pause()
        assert app.screen.query_one("#errors-box").border_subtitle != first


async def test_an_empty_ledger_has_nobody(desk):
    async with desk.open() as (app, pilot):
        await pilot.press("P")
        await until(lambda: "nobody has predicted a run yet" in screen_text(app))


def test_the_error_chart_tells_too_high_from_too_low_by_signs(tmp_path):
    from workbench.analysis.calibration import calibrations

    records = read(fill(tmp_path / "l.jsonl", damaged=False)).records
    ana = next(one for one in calibrations(records, discarded(records)) if one.name == "ana")
    chart = error_chart(ana.attempts)
    assert [mark.letter for mark in chart.marks] == [
        "+" if one.predicted_tps > one.measured_tps else "-" for one in ana.attempts
    ]
    assert chart.y_max >= max(mark.y for mark in chart.marks)
