"""The byte tree: folded by module path, largest first or in model order, quick with 100,000 tensors."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkpoints import checkpoint, in_memory
from workbench.accounting.engine import count
from workbench.accounting.roles import Role
from workbench.accounting.tree import Order, build


@pytest.fixture(scope="module")
def big():
    return count(in_memory("mlx-Qwen3.5-35B-A3B-4bit"))


def names(node, order=Order.LARGEST):
    return [child.name for child in node.children(order)]


def child(node, *path):
    for name in path:
        node = next(part for part in node.children() if part.name == name)
    return node


def test_the_root_holds_everything(big):
    root = build(big.rows, "35B")
    assert (root.disk_bytes, root.weight_bytes) == (big.disk_bytes, big.weight_bytes)
    assert (root.resident_bytes, root.lookup_bytes) == (big.resident_bytes, big.lookup_bytes)
    assert root.roles[0] is Role.EXPERT
    assert not root.is_tensor


def test_largest_first_is_by_what_a_token_reads(big):
    root = build(big.rows)
    assert names(root) == ["language_model", "vision_tower"]
    layer = child(root, "language_model", "model", "layers", "0", "mlp")
    weights = [part.weight_bytes for part in layer.children()]
    assert weights == sorted(weights, reverse=True)
    assert layer.share == layer.weight_bytes / layer.disk_bytes


def test_model_order_follows_the_token_and_counts_layers_as_numbers(big):
    root = build(big.rows)
    inside = names(child(root, "language_model"), Order.MODEL)
    assert inside == ["model", "lm_head"]
    assert names(child(root, "language_model", "model"), Order.MODEL) == ["embed_tokens", "layers", "norm"]
    layers = names(child(root, "language_model", "model", "layers"), Order.MODEL)
    assert layers == [str(index) for index in range(40)]


def test_a_leaf_is_a_tensor_with_its_row(big):
    leaf = child(build(big.rows), "language_model", "lm_head", "weight")
    assert leaf.is_tensor
    assert leaf.row.rule == "head"
    assert leaf.path == "language_model.lm_head.weight"
    assert leaf.children() == ()


def test_a_name_may_be_a_module_too():
    stored = {name: ("BF16", [4]) for name in ("a", "a.b", "a.b.c", "", ".", "..", "a..b", "x.")}
    root = build(count(checkpoint(stored)).rows)

    def leaves(node):
        return [node.path] if node.is_tensor else [path for part in node.children() for path in leaves(part)]

    assert sorted(leaves(root)) == sorted(stored)


@given(st.lists(st.text(alphabet="ab.01\x1b", max_size=8), unique=True, max_size=20))
def test_no_name_is_lost_or_counted_twice(stored):
    root = build(count(checkpoint({name: ("BF16", [4]) for name in stored})).rows)

    def walk(node):
        if node.is_tensor:
            return [node.row.name]
        parts = node.children()
        assert sum(part.disk_bytes for part in parts) == node.disk_bytes
        assert sum(part.weight_bytes for part in parts) == node.weight_bytes
        return [name for part in parts for name in walk(part)]

    assert sorted(walk(root)) == sorted(stored)


def test_ninety_thousand_tensors_open_at_once():
    rows = count(in_memory("hf-DeepSeek-V3")).rows
    start = time.process_time()
    root = build(rows)
    for node in root.children():
        node.children()
    assert len(rows) == 91_991
    assert time.process_time() - start < 3  # a twentieth of that on an idle machine
