"""The byte tree: figures, folding, order, hostile names, many tensors."""

import time

import pytest

from tests.widgets.stage import Stage, acting, rows_of
from widgets.byte_tree import ByteTree, share_text
from widgets.outline import ByteNode

HOSTILE = ["\x1b[2J\x1b[31m", "[bold red]x[/]", "\u202eevil", "a\nb", "x" * 5000, "", "[/nothing"]


def leaf(name, disk=10**9, token=None, **more):
    return ByteNode(name, disk, disk if token is None else token, **more)


def branch(name, children, **more):
    disk = sum(child.disk_bytes for child in children)
    token = sum(child.token_bytes for child in children)

    def listed(by_size):
        return sorted(children, key=lambda c: -c.token_bytes) if by_size else children

    return ByteNode(name, disk, token, children=listed, **more)


def small():
    layers = [leaf(f"layers.{i}", 2 * 10**8, share=0.1) for i in range(10)]
    return branch(
        "model",
        [
            leaf("visual", 9 * 10**8, 0, letter="V", kind="vision", share=0.0),
            branch("layers", layers, share=0.8),
            leaf("embed_tokens", 5 * 10**8, letter="E", kind="embedding", share=0.2),
            leaf("norm", 4096, share=1.0),
            leaf("rope", 1024, 0, share=0.0),
        ],
        share=1.0,
    )


def names(tree):
    return [tree.node_at(i).name for i in range(tree.line_count)]


async def test_a_lone_root_is_open_and_its_children_are_largest_first():
    app = Stage(ByteTree())
    async with app.run_test(size=(80, 12)):
        tree = app.query_one(ByteTree)
        tree.show([small()])
        assert names(tree) == ["model", "layers", "embed_tokens", "norm", "visual", "rope"]


async def test_model_order_is_the_other_order_and_keeps_what_is_open():
    app = Stage(ByteTree())
    async with app.run_test(size=(80, 20)) as pilot:
        tree = app.query_one(ByteTree)
        tree.show([small()])
        tree.focus()
        await pilot.press("j", "l")
        tree.by_size = False
        await pilot.pause()
        assert names(tree)[:4] == ["model", "visual", "layers", "layers.0"]
        assert tree.node_at(tree.cursor).name == "layers"


async def test_keys_open_close_and_step_out():
    app = Stage(ByteTree())
    async with app.run_test(size=(80, 20)) as pilot:
        tree = app.query_one(ByteTree)
        tree.show([small()])
        tree.focus()
        await pilot.press("down", "enter", "right")
        assert tree.node_at(tree.cursor).name == "layers.0"
        await pilot.press("left")
        assert tree.node_at(tree.cursor).name == "layers"
        await pilot.press("left")
        assert tree.line_count == 6
        await pilot.press("home", "left", "space")
        assert tree.line_count == 6
        await pilot.press("left")
        assert tree.line_count == 1
        await pilot.press("asterisk")
        assert tree.line_count == 16


async def test_a_new_tree_is_opened_until_there_is_something_to_see():
    app = Stage(ByteTree())
    async with app.run_test(size=(80, 20)):
        tree = app.query_one(ByteTree)
        tree.show([branch("model", [branch("inner", [leaf("a", 1), branch("b", [leaf("c"), leaf("d")])])])])
        assert names(tree) == ["model", "inner", "b", "c", "d", "a"]


async def test_columns_are_right_aligned_with_the_unit_in_the_header():
    app = Stage(ByteTree())
    async with app.run_test(size=(80, 8)):
        tree = app.query_one(ByteTree)
        tree.show([small()])
        rows = rows_of(tree)
    assert rows[0].split() == ["role,", "module", "disk", "GB", "token", "GB", "share"]
    assert rows[1].split()[:5] == ["▾", "model", "3.400", "2.500", "100.0"]
    end = rows[0].index("share") + len("share")
    assert [row[:end].rstrip()[-1] for row in rows[1:5]] == ["%"] * 4
    vision = next(row for row in rows if "visual" in row)
    assert vision.split() == ["V", "visual", "0.900", "0", "0", "%"]


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (100, "disk GB seed GB count GB graph GB share"),
        (60, "disk GB seed GB count GB graph GB"),
        (46, "disk GB count GB share"),
        (30, "count GB"),
    ],
)
async def test_columns_give_way_to_the_name(width, columns):
    app = Stage(ByteTree())
    async with app.run_test(size=(width, 8)):
        tree = app.query_one(ByteTree)
        tree.show([leaf("a", more=(10**9, 10**9))], extra_columns=("seed", "graph"))
        assert rows_of(tree)[0].split()[2:] == columns.split()


async def test_extra_columns_show_a_dash_where_nothing_is_known():
    app = Stage(ByteTree())
    async with app.run_test(size=(110, 8)):
        tree = app.query_one(ByteTree)
        tree.show([leaf("a", more=(10**9, None))], extra_columns=("seed", "graph"))
        rows = rows_of(tree)
    assert rows[0].split()[-5:] == ["count", "GB", "graph", "GB", "share"]
    assert rows[1].split()[-2:] == ["1.000", "–"]


async def test_narrow_trees_keep_the_name_and_what_a_token_reads():
    app = Stage(ByteTree())
    async with app.run_test(size=(34, 8)):
        tree = app.query_one(ByteTree)
        tree.show([small()])
        rows = rows_of(tree)
    assert "token GB" in rows[0]
    assert "disk" not in rows[0]
    assert all(len(row) == 34 for row in rows)


async def test_hostile_names_are_shown_as_text_and_do_nothing():
    app = Stage(ByteTree())
    async with app.run_test(size=(80, 12)):
        tree = app.query_one(ByteTree)
        tree.show([branch(name, [leaf(name)]) for name in HOSTILE])
        rows = rows_of(tree)
        assert not acting("".join(rows))
        assert any("[bold red]x[/]" in row for row in rows)
        assert any("(empty name)" in row for row in rows)
        assert any(r"\u202eevil" in row for row in rows)
        assert all(len(row) == 80 for row in rows)


async def test_a_hundred_thousand_tensors_open_and_scroll_without_lag():
    experts = [
        branch(f"layers.{i}", [leaf(f"experts.{e}.weight", 10**6) for e in range(1000)]) for i in range(100)
    ]
    app = Stage(ByteTree())
    async with app.run_test(size=(80, 40)) as pilot:
        tree = app.query_one(ByteTree)
        tree.focus()
        started = time.process_time()
        tree.show([branch("model", [branch("flat", [leaf(f"t.{i}") for i in range(100_000)]), *experts])])
        tree.cursor = 1
        tree.action_open()
        await pilot.pause()
        opened_s = time.process_time() - started
        started = time.process_time()
        for _ in range(20):
            tree.action_page(1)
            await pilot.pause()
        page_s = (time.process_time() - started) / 20
        tree.action_end(1)
        await pilot.pause()
        assert tree.cursor == tree.line_count - 1 == 100_101
    assert opened_s < 1.0
    assert page_s < 0.1


async def test_a_cursor_step_repaints_two_rows_only():
    app = Stage(ByteTree())
    async with app.run_test(size=(80, 12)) as pilot:
        tree = app.query_one(ByteTree)
        tree.show([small()])
        tree.focus()
        await pilot.pause()
        painted = []
        original = tree.render_line
        tree.render_line = lambda y: painted.append(y) or original(y)
        await pilot.press("down")
        await pilot.pause()
    assert set(painted) <= {1, 2}


async def test_nothing_to_show_says_what_to_do():
    app = Stage(ByteTree())
    async with app.run_test(size=(60, 4)) as pilot:
        tree = app.query_one(ByteTree)
        tree.empty_text = "choose a checkpoint: 1, then enter"
        tree.show([])
        tree.focus()
        await pilot.press("enter", "down", "left", "right", "space", "asterisk", "end")
        assert rows_of(tree)[0].strip() == "choose a checkpoint: 1, then enter"


def test_a_share_is_never_rounded_to_nothing():
    assert [share_text(x) for x in (None, 0, 0.0001, 0.5, 1)] == ["", "0 %", "<0.1 %", "50.0 %", "100.0 %"]
