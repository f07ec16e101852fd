"""The decode graph on the screens: looked at in the background, sealed, in force where it differs."""

import asyncio

from tests.tui.desk_stage import (
    APPLE,
    DENSE,
    MIXTURE,
    lock,
    pane_text,
    pick,
    run_to_end,
    said,
    screen_text,
    sees,
    type_in,
    until,
)
from widgets.ledger_table import LedgerTable
from workbench.witness.reasons import Reason, not_witnessed

COUNT_BYTES = 4_465_912_320


def seal(app):
    """The seal as it is painted, in one line."""
    return " ".join(str(app.main_screen.query_one("#seal").content).split())


async def looked(app):
    """Wait until the graph has spoken."""
    await until(lambda: app.main_screen.desk.looked is not None)


async def test_an_agreeing_graph_seals_the_prediction_and_the_record(desk):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await looked(app)
        await pilot.pause()
        await sees(app, "#prediction", "✓ count and graph agree: 4.466 GB at context 209")
        await lock(app, pilot)
        await run_to_end(app, pilot)
        assert "✓ count and graph agree" in seal(app)
    [record] = desk.records
    assert (record.witness.status, record.witness.bytes_per_token) == ("agrees", COUNT_BYTES)
    assert record.in_force == "count"
    assert desk.graph.asked == [DENSE]


async def test_a_differing_graph_is_in_force_and_the_screen_says_so(desk):
    desk.graph.twice = ("mlp.down_proj",)
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await looked(app)
        await pilot.press("3")
        await pilot.pause()
        graph_bytes = app.main_screen.desk.plan.weight_bytes
        assert graph_bytes > COUNT_BYTES
        shown = pane_text(app, "#prediction")
        assert "✗ count and graph differ: 4.466 GB and" in shown
        assert "the ceiling uses the graph" in shown
        assert "by the decode graph; the count says 4.466 GB" in shown
        await lock(app, pilot)
        await run_to_end(app, pilot)
    [record] = desk.records
    assert (record.in_force, record.witness.status) == ("graph", "differs")
    assert record.weight_bytes_per_token == record.witness.bytes_per_token == graph_bytes
    assert record.weight_bytes_per_token_without_overrides == COUNT_BYTES
    assert record.ceilings[0].tps == 819e9 / graph_bytes


async def test_the_differing_tensors_are_listed_with_the_counts_rule(desk):
    desk.graph.twice = ("mlp.down_proj",)
    async with desk.add(DENSE).open((160, 50)) as (app, pilot):
        await pick(app, pilot)
        await looked(app)
        await pilot.pause()
        assert "lm ≠" not in pane_text(app, "#bytes")
        await sees(app, "#bytes", "layers ≠")
        await pilot.press("w")
        await pilot.pause()
        table = app.screen.query_one(LedgerTable)
        assert table.row_at(0).rule == "feed-forward"
        shown = " ".join(screen_text(app).split())
        assert "layers.*.mlp.down_proj.weight" in shown
        assert "feed-forward: " in shown
        assert "every step reads it in full" in shown
        await pilot.press("escape")
        assert app.screen is app.main_screen


async def test_the_tree_has_three_columns_where_there_is_room_and_the_detail_everywhere(desk):
    async with desk.add(MIXTURE).open((160, 50)) as (app, pilot):
        await pick(app, pilot, MIXTURE)
        await looked(app)
        await pilot.pause()
        await sees(app, "#bytes", "seed GB count GB graph GB")
        await sees(app, "#bytes", "by the count; seed rule 1.659 GB, graph 1.659 GB")
    async with desk.open((80, 24)) as (app, pilot):
        await pick(app, pilot, MIXTURE)
        await looked(app)
        await pilot.pause()
        await sees(app, "#bytes", "seed GB count GB graph GB")


async def test_the_tree_keeps_its_place_when_the_graph_speaks(desk):
    desk.graph.gate = asyncio.Event()
    async with desk.add(DENSE).open((160, 50)) as (app, pilot):
        await pick(app, pilot)
        await pilot.press("j", "j")
        here = app.main_screen.query_one("#tree").path_at(2)
        desk.graph.gate.set()
        await looked(app)
        await pilot.pause()
        tree = app.main_screen.query_one("#tree")
        assert (tree.cursor, tree.path_at(2)) == (2, here)


async def test_a_checkpoint_without_a_graph_is_not_witnessed_with_its_reason_and_runs(desk):
    desk.graph.answer = not_witnessed(Reason.UNSUPPORTED_TYPE, "qwen9")
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await looked(app)
        await pilot.pause()
        words = "○ not witnessed: this mlx-lm does not know the model type (qwen9); the count stands alone"
        await sees(app, "#prediction", words)
        await lock(app, pilot)
        await run_to_end(app, pilot)
    [record] = desk.records
    assert (record.witness.status, record.in_force) == ("not witnessed", "count")
    assert "qwen9" in record.witness.reason


async def test_a_fault_of_the_look_costs_nobody_the_count(desk):
    desk.graph.answer = RuntimeError("[boom]")
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await looked(app)
        assert "not witnessed" in seal(app)
        assert "RuntimeError: [boom]" in seal(app)
        assert app.main_screen.desk.count.weight_bytes == COUNT_BYTES


async def test_a_number_that_is_said_early_waits_for_the_graph(desk):
    desk.graph.gate = asyncio.Event()
    desk.graph.twice = ("mlp.down_proj",)
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        assert "the decode graph is being read" in seal(app)
        await pilot.press("n")
        await type_in(pilot, "143")
        assert not app.main_screen.desk.locked
        await sees(app, "#prediction", "143 is locked once the decode graph has been read")
        await pilot.press("r")
        assert "143 waits for the decode graph" in said(app)
        desk.graph.gate.set()
        await until(lambda: app.main_screen.desk.locked)
        assert app.main_screen.desk.plan.in_force == "graph"
        await run_to_end(app, pilot)
    assert desk.records[0].predicted_tps_human == 143
    assert desk.records[0].in_force == "graph"


async def test_the_stop_key_does_without_the_graph(desk):
    desk.graph.gate = asyncio.Event()
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await pilot.press("n")
        await type_in(pilot, "143")
        await pilot.press("s")
        await until(lambda: app.main_screen.desk.locked)
        assert desk.graph.cancelled == 1
        assert "stopped by the user" in seal(app)
        await run_to_end(app, pilot)
    assert desk.records[0].witness.status == "not witnessed"


async def test_another_checkpoint_cancels_the_look(desk):
    desk.graph.gate = asyncio.Event()
    async with desk.add(DENSE, MIXTURE).open() as (app, pilot):
        await pick(app, pilot)
        await pick(app, pilot, MIXTURE)
        await until(lambda: desk.graph.cancelled == 1)
        desk.graph.gate.set()
        await looked(app)
        assert app.main_screen.desk.looked.agreement.count_bytes == 1_659_035_776


async def test_leaving_ends_the_look(desk):
    desk.graph.gate = asyncio.Event()
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await pilot.press("q")
        await until(lambda: app._exit)
        assert desk.graph.cancelled == 1


async def test_the_open_witness_screen_shows_the_graph_when_it_speaks(desk):
    desk.graph.gate = asyncio.Event()
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await pilot.press("w")
        await pilot.pause()
        assert "is being read" in screen_text(app)
        desk.graph.gate.set()
        await until(lambda: "no tensor is read differently" in screen_text(app))
        await until(lambda: "the same to the byte" in " ".join(screen_text(app).split()))
