"""The graph as data: what flows where, without mlx."""

import pytest

from workbench.worker.jobs.tracing.graph import Graph, Node, origins, reaching
from workbench.worker.jobs.tracing.reads import reads


def graph(shapes, nodes, outputs):
    """A graph written by hand: `shapes` of all arrays (inputs first), nodes as (op, inputs, outputs)."""
    made = {output for _, _, outputs_ in nodes for output in outputs_.split()}
    return Graph(
        inputs=[name for name in shapes if name not in made],
        outputs=outputs.split(),
        nodes=[Node(op, tuple(inputs.split()), tuple(out.split())) for op, inputs, out in nodes],
        shapes=shapes,
    )


def test_a_transposed_weight_in_a_matmul_is_read_in_full_once():
    g = graph(
        {"w": (8, 4), "x": (1, 4), "t": (4, 8), "y": (1, 8)},
        [("Transpose", "w", "t"), ("Matmul", "x t", "y")],
        "y",
    )
    read = reads(g, ["y"], 1)[0]
    assert (read.kind, read.share, read.times) == ("full", 1.0, 1)


def test_a_weight_that_two_matmuls_use_is_read_twice():
    g = graph(
        {"w": (4, 4), "x": (1, 4), "y": (1, 4), "z": (1, 4)},
        [("Matmul", "x w", "y"), ("Matmul", "y w", "z")],
        "z",
    )
    read = reads(g, ["z"], 1)[0]
    assert (read.share, read.times) == (2.0, 2)


def test_three_slices_of_one_weight_are_one_read():
    g = graph(
        {
            "w": (6, 4),
            "x": (1, 4),
            "a": (2, 4),
            "b": (2, 4),
            "c": (2, 4),
            "p": (1, 2),
            "q": (1, 2),
            "y": (1, 2),
        },
        [
            ("Split", "w", "a b c"),
            ("Matmul", "x a", "p"),
            ("Matmul", "x b", "q"),
            ("Matmul", "x c", "y"),
            ("Add", "p q", "p2"),
            ("Add", "p2 y", "z"),
        ],
        "z",
    )
    g.shapes.update({"p2": (1, 2), "z": (1, 2)})
    read = reads(g, ["z"], 1)[0]
    assert read.share == pytest.approx(1.0)
    assert read.times == 1


def test_a_token_looks_up_a_row_and_routing_chooses_experts():
    g = graph(
        {
            "table": (100, 4), "router": (4, 8), "experts": (8, 4, 4), "bias": (8, 4), "token": (1,),
            "x": (1, 4), "scores": (1, 8), "chosen": (2,), "b": (2, 4), "y": (2, 4), "z": (2, 4),
        },
        [
            ("Gather", "table token", "x"),
            ("Matmul", "x router", "scores"),
            ("ArgPartition", "scores", "chosen"),
            ("Gather", "bias chosen", "b"),
            ("GatherMM", "x experts token chosen", "y"),
            ("Add", "y b", "z"),
        ],
        "z",
    )  # fmt: skip
    table, router, experts, bias = reads(g, ["z"], 4)[:4]
    assert (table.kind, table.rows, table.share) == ("lookup", 0.01, 0.0)
    assert (router.kind, router.share) == ("full", 1.0)
    assert (experts.kind, experts.share) == ("experts", 0.25)
    assert (bias.kind, bias.share) == ("experts", 0.25)


def test_a_table_that_is_also_the_head_is_read_in_full():
    g = graph(
        {"table": (100, 4), "token": (1,), "x": (1, 4), "t": (4, 100), "y": (1, 100)},
        [("Gather", "table token", "x"), ("Transpose", "table", "t"), ("Matmul", "x t", "y")],
        "y",
    )
    read = reads(g, ["y"], 1)[0]
    assert (read.kind, read.share) == ("full", 1.0)


def test_what_does_not_reach_the_target_is_never_read():
    g = graph(
        {"w": (4, 4), "dead": (4, 4), "x": (1, 4), "y": (1, 4), "k": (1, 4)},
        [("Matmul", "x w", "y"), ("Matmul", "x dead", "k")],
        "y k",
    )
    assert [read.kind for read in reads(g, ["y"], 2)[:2]] == ["full", "never"]
    assert [read.kind for read in reads(g, ["y", "k"], 2)[:2]] == ["full", "full"]
    assert "dead" not in reaching(g, ["y"])


def test_a_cache_is_read_as_far_as_it_is_filled_and_once_for_each_use():
    g = graph(
        {"cache": (1, 2, 256, 8), "new": (1, 2, 1, 8), "q": (1, 2, 1, 8), "kept": (1, 2, 256, 8),
         "used": (1, 2, 64, 8), "y": (1, 2, 1, 64), "z": (1, 2, 1, 8)},
        [
            ("SliceUpdate", "cache new", "kept"),
            ("Slice", "kept", "used"),
            ("Matmul", "q used", "y"),
            ("Matmul", "y used", "z"),
        ],
        "z",
    )  # fmt: skip
    assert reads(g, ["z"], 0)[0].share == pytest.approx(2 * 64 / 256)


def test_stacked_experts_come_from_their_tensors_in_order():
    g = graph(
        {"e0": (4, 4), "e1": (4, 4), "a": (1, 4, 4), "b": (1, 4, 4), "s": (2, 4, 4)},
        [("ExpandDims", "e0", "a"), ("ExpandDims", "e1", "b"), ("Concatenate", "a b", "s")],
        "s",
    )
    assert origins(g) == [{0: 1.0, 1: 1.0}]
    assert list(origins(g)[0]) == [0, 1]


def test_a_fused_tensor_gives_each_of_its_parameters_a_part():
    g = graph(
        {"qkv": (12, 4), "q": (8, 4), "k": (4, 4)}, [("Slice", "qkv", "q"), ("Slice", "qkv", "k")], "q k"
    )
    assert origins(g) == [{0: pytest.approx(2 / 3)}, {0: pytest.approx(1 / 3)}]


def test_block_scales_go_whole_to_one_parameter_and_in_parts_to_two():
    shapes = {"w": (100, 8), "scale": (1, 1), "padded": (128, 8), "spread": (128, 8), "m": (128, 8)}
    nodes = [("Pad", "w", "padded"), ("Broadcast", "scale", "spread"), ("Multiply", "padded spread", "m")]
    one = graph({**shapes, "out": (100, 8)}, [*nodes, ("Slice", "m", "out")], "out")
    assert origins(one) == [{0: 1.0, 1: 1.0}]
    two = graph(
        {**shapes, "a": (64, 8), "b": (64, 8)}, [*nodes, ("Slice", "m", "a"), ("Slice", "m", "b")], "a b"
    )
    assert origins(two)[0][1] == origins(two)[1][1] == 0.5
