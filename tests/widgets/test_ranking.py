"""A ranking on a number line: legible without colour, at any width."""

import math

from textual.containers import VerticalScroll

from tests.widgets.stage import Stage, acting, rows_of
from widgets.ranking import Ranked, Ranking, _position

TITLES = ("who", "said tok/s", "off by")
THREE = (
    Ranked(1, "chi", "95.0", "exact", 1.0),
    Ranked(2, "ana", "120.0", "26.3 % too high", 120 / 95),
    Ranked(3, "bo", "9.5", "10.0x too low", 0.1),
)


async def painted(ranked, size=(80, 24)):
    ranking = Ranking(TITLES, ranked)
    app = Stage(VerticalScroll(ranking))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        return rows_of(ranking)


async def test_the_nearest_has_a_star_and_everybody_a_place_on_the_line():
    rows = [row for row in await painted(THREE) if row.strip()]
    assert "too low" in rows[0]
    assert rows[0].rstrip().endswith("too high")
    assert rows[1].startswith("★  1. chi")
    assert "◆" in rows[1]  # on the truth
    assert rows[2].index("●") > rows[2].index("┃")  # too high: right of it
    assert "◀" in rows[3]  # as far off as the line goes
    assert rows[1].index("◆") == rows[2].index("┃") == rows[3].index("┃")


async def test_rows_stand_apart_where_there_is_room_and_close_up_where_there_is_none():
    few = await painted(THREE)
    assert not few[1].strip()
    assert few[2].startswith("★")
    many = await painted([Ranked(n, f"p{n}", "1.0", "9.0x too low", 0.1) for n in range(1, 201)])
    assert many[1].startswith("★")
    assert many[2].split()[0] == "2."
    assert many[200].split()[0] == "200."


async def test_names_are_harmless_and_cut():
    [header, row] = [
        row for row in await painted([Ranked(1, "\x1b[31m" + "x" * 99, "1.0", "exact", 1.0)]) if row.strip()
    ]
    assert not acting(row)
    assert len(row) == len(header)


async def test_a_narrow_terminal_keeps_the_words_and_drops_the_line():
    rows = [row for row in await painted(THREE, (40, 10)) if row.strip()]
    assert "26.3 % too high" in rows[2]
    assert "●" not in rows[2]


def test_twice_and_half_lie_equally_far_from_the_middle():
    middle = 41 // 2
    assert _position(2.0, 41) - middle == middle - _position(0.5, 41) > 0
    assert _position(1.0, 41) == middle
    assert _position(1e9, 41) == 40
    assert _position(1e-9, 41) == 0
    assert _position(math.nan, 41) == _position(0.0, 41) == 40
