"""Bits per weight in the line below the tree."""

from tests.tui.desk_stage import DENSE, pick, sees


async def test_the_line_below_the_tree_says_the_bits_of_a_packed_weight(desk):
    async with desk.add(DENSE).open(size=(160, 50)) as (app, pilot):
        await pick(app, pilot)
        app.main_screen.query_one("#tensor-filter").value = "layers.0.mlp.down_proj"
        await pilot.press("2", "end", "end")
        tree = app.main_screen.query_one("#tree")
        tree.cursor = next(i for i in range(tree.line_count) if "weight" in tree.node_at(i).name)
        await sees(app, "#bytes", "4 bits per weight, packed; 4.5 with its scales")
