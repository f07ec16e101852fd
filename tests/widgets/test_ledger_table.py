"""The table: columns, what goes first, many rows."""

import time

from tests.widgets.stage import Stage, acting, rows_of
from widgets.ledger_table import Column, LedgerTable

COLUMNS = (
    Column("date", 10, rank=2),
    Column("model", 12, stretch=True),
    Column("tok/s", 7, "right"),
    Column("verdict", 10, rank=1),
)


async def test_columns_go_by_rank_when_room_is_short():
    rows = [("2026-09-15", "Qwen3.5-9B", "95.1", "ok")]
    for width, titles in (
        (60, ["date", "model", "tok/s", "verdict"]),
        (40, ["model", "tok/s", "verdict"]),
        (24, ["model", "tok/s"]),
    ):
        app = Stage(LedgerTable(COLUMNS))
        async with app.run_test(size=(width, 5)):
            table = app.query_one(LedgerTable)
            table.show(rows)
            assert rows_of(table)[0].split() == titles
            assert "Qwen3.5-9B" in rows_of(table)[1]


async def test_where_all_ranks_have_gone_the_stretching_column_gives_way_and_no_cell_is_cut_off():
    app = Stage(LedgerTable((Column("", 1), Column("model", 30, stretch=True), Column("size", 7, "right"))))
    async with app.run_test(size=(24, 3)):
        table = app.query_one(LedgerTable)
        table.show([("x", "mlx-community/Qwen3.5-9B-4bit", "5.95 GB")])
        header, row, *_ = rows_of(table)
    assert header.split() == ["model", "size"]
    assert row.rstrip().startswith("x mlx-")
    assert row.rstrip().endswith("4bit 5.95 GB")


async def test_numbers_end_where_their_title_ends():
    app = Stage(LedgerTable(COLUMNS))
    async with app.run_test(size=(60, 5)):
        table = app.query_one(LedgerTable)
        table.show([("", "a", "95.1", ""), ("", "b", "1,505.0", "")])
        header, first, second, *_ = rows_of(table)
    end = header.index("tok/s") + 5
    assert first[:end].endswith("95.1")
    assert second[:end].endswith("1,505.0")


async def test_marks_style_a_cell_and_hostile_text_does_not():
    app = Stage(LedgerTable(COLUMNS))
    async with app.run_test(size=(60, 6)):
        table = app.query_one(LedgerTable)
        table.show([("", "", "", ""), ("~", "!x [red]y[/] \x1b[0m", "1", ("counting error", "marked"))])
        row = table.render_line(2)
    assert not acting(row.text)
    assert "!x [red]y[/] \\x1b" in row.text
    assert any(segment.style.bold and "counting" in segment.text for segment in row)


async def test_a_hundred_thousand_rows_are_drawn_only_in_sight():
    drawn = []

    def cells(row):
        drawn.append(row)
        return ("d", f"model-{row}", "1", "ok")

    app = Stage(LedgerTable(COLUMNS))
    async with app.run_test(size=(80, 24)) as pilot:
        table = app.query_one(LedgerTable)
        table.focus()
        started = time.process_time()
        table.show(range(100_000), cells)
        await pilot.pause()
        await pilot.press("end")
        await pilot.pause()
        spent = time.process_time() - started
        assert "model-99999" in "".join(rows_of(table))
    assert len(set(drawn)) < 100
    assert spent < 1.0


async def test_enter_tells_which_row_is_meant():
    chosen = []

    class Listening(Stage):
        def on_line_list_chosen(self, event):
            chosen.append(event.index)

    app = Listening(LedgerTable(COLUMNS))
    async with app.run_test(size=(60, 6)) as pilot:
        table = app.query_one(LedgerTable)
        table.show([("", "a", "", ""), ("", "b", "", "")])
        table.focus()
        await pilot.press("down", "enter")
        await pilot.pause()
    assert chosen == [1]
