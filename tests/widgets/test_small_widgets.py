"""Gauge, steps and big number."""

import pytest
from textual.widgets import Static

from tests.widgets.stage import Stage, rows_of
from widgets.big_number import BigNumber
from widgets.gauge import Gauge, bar_text
from widgets.steps import Steps

SIX = ("stamp", "count", "predict", "warm up", "measure", "record")


@pytest.mark.parametrize(
    ("fraction", "sign", "figure"), [(0.18, "·", "18 %"), (0.665, "·", "66 %"), (2.216, "▶▶", "222 %")]
)
async def test_the_gauge_shows_the_figure_and_over_100_by_a_sign(fraction, sign, figure):
    app = Stage(Gauge("of spec 819 GB/s", fraction))
    async with app.run_test(size=(60, 3)):
        row = rows_of(app.query_one(Gauge))[0]
    assert sign in row
    assert f"{figure} of spec 819 GB/s" in row


async def test_where_room_is_short_the_bar_gives_way_and_not_the_words():
    app = Stage(Gauge("of spec 819 GB/s, count", 0.52))
    async with app.run_test(size=(34, 3)):
        row = rows_of(app.query_one(Gauge))[0]
    assert row.rstrip().endswith("52 % of spec 819 GB/s, count")


def test_a_bar_is_as_long_as_its_cells():
    for fraction in (0, 0.001, 0.5, 0.999, 1, 1.3):
        assert sum(map(len, bar_text(fraction, 20))) == 20


async def test_steps_are_told_apart_without_colour():
    app = Stage(Steps(SIX))
    async with app.run_test(size=(100, 3)):
        steps = app.query_one(Steps)
        steps.show(["done", "done", "now", "todo", "todo", "todo"], "M3 Ultra")
        row = rows_of(steps)[0]
        assert row.startswith("✓ 1 stamp  ✓ 2 count  ● 3 predict  ○ 4 warm up")
        assert row.rstrip().endswith("M3 Ultra")


async def test_narrow_steps_write_out_where_you_are():
    app = Stage(Steps(SIX))
    async with app.run_test(size=(40, 3)):
        steps = app.query_one(Steps)
        steps.show(["done", "done", "done", "failed", "todo", "todo"], "M3 Ultra")
        assert rows_of(steps)[0].rstrip() == "✓ ✓ ✓ ✗ 4 warm up ○ ○" + "M3 Ultra".rjust(19)


async def test_the_big_number_has_a_small_form():
    app = Stage(BigNumber("95.1", "tok/s measured"))
    async with app.run_test(size=(40, 8)) as pilot:
        number = app.query_one(BigNumber)
        assert number.size.height == 4
        number.add_class("-small")
        number.show("8.2", "tok/s [b]now[/]")
        await pilot.pause()
        assert number.size.height == 2
        texts = [str(static.render()) for static in number.query(Static)]
        assert texts == ["8.2", "tok/s [b]now[/]"]
