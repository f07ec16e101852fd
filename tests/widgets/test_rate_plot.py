"""The plot widget: which drawing, which rows are repainted."""

import pytest

from tests.widgets.stage import Stage, rows_of
from widgets.chart import Chart, Level
from widgets.plotext_chart import draw_plotext
from widgets.rate_plot import RatePlot


def chart(n):
    return Chart(200, 200, mean=tuple((float(i), 95.0) for i in range(n)))


async def test_only_changed_rows_are_painted_again():
    app = Stage(RatePlot())
    async with app.run_test(size=(80, 24)) as pilot:
        plot = app.query_one(RatePlot)
        plot.show(chart(50))
        await pilot.pause()
        painted = set()
        original = plot.render_line
        plot.render_line = lambda y: painted.add(y) or original(y)
        plot.show(chart(60))
        await pilot.pause()
        assert 1 <= len(painted) <= 2
        painted.clear()
        plot.show(chart(60))
        await pilot.pause()
        assert painted == set()


async def test_a_large_plot_is_drawn_in_braille_and_a_small_one_by_plotext():
    for size, corner in (((78, 20), "┌"), ((160, 50), "┤")):
        app = Stage(RatePlot())
        async with app.run_test(size=size) as pilot:
            plot = app.query_one(RatePlot)
            plot.show(chart(50))
            await pilot.pause()
            assert corner in rows_of(plot)[0]


async def test_a_plot_is_as_wide_as_its_place_whatever_the_terminal_of_stdout(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    app = Stage(RatePlot())
    async with app.run_test(size=(110, 17)) as pilot:
        plot = app.query_one(RatePlot)
        plot.show(chart(50))
        await pilot.pause()
        assert rows_of(plot)[0].endswith("┐")


@pytest.mark.parametrize("y_max", [1, 1.5, 2, 3, 40, 50, 600, 800])
def test_every_tick_of_the_rate_is_a_round_number(y_max):
    chart = Chart(200, y_max, levels=(Level(y_max / 2, "half", "ceiling"),))
    rows = ["".join(text for text, _ in row) for row in draw_plotext(chart, 78, 20)]
    ticks = [float(row[: row.index("┤")]) for row in rows if "┤" in row]
    assert (max(ticks), min(ticks)) == (y_max, 0)
    assert {len(f"{tick:e}".split("e")[0].rstrip("0")) for tick in ticks} <= {2, 3}


async def test_the_drawing_can_be_chosen():
    app = Stage(RatePlot())
    async with app.run_test(size=(78, 20)) as pilot:
        plot = app.query_one(RatePlot)
        plot.show(chart(50))
        plot.drawing = "braille"
        await pilot.pause()
        assert "┌" not in rows_of(plot)[0]


async def test_no_size_breaks_it():
    app = Stage(RatePlot())
    async with app.run_test(size=(80, 24)) as pilot:
        plot = app.query_one(RatePlot)
        plot.show(Chart(200, 100, ((1, 5),), ((1, 5),), (Level(50, "ceiling 50", "ceiling"),)))
        for size in ((160, 50), (20, 5), (10, 3), (5, 2), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert "ceiling 50" in "".join(rows_of(plot))


async def test_without_a_chart_it_says_what_will_come():
    app = Stage(RatePlot())
    async with app.run_test(size=(60, 7)):
        plot = app.query_one(RatePlot)
        plot.empty_text = "press r to run"
        assert "press r to run" in "".join(rows_of(plot))
