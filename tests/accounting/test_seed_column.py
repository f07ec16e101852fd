"""The seed rule's column: over all tensors its own figure, over a module that module's part of it."""

import pytest

from tests.checkpoints import in_memory, names
from workbench.accounting.engine import count
from workbench.accounting.seedrow import seed_bytes

MIXTURE = "mlx-Qwen3.5-35B-A3B-4bit"


@pytest.mark.parametrize("name", [name for name in names() if not name.startswith("gguf")])
def test_over_all_tensors_it_is_the_seed_rules_own_figure(name):
    checkpoint = in_memory(name)
    counted = count(checkpoint)
    beside = sum(tensor.nbytes for tensor in checkpoint.skipped_tensors)
    if beside:
        assert seed_bytes(counted.rows, counted.seed) <= counted.seed.weight_bytes
    else:
        assert seed_bytes(counted.rows, counted.seed) == counted.seed.weight_bytes


def test_a_module_has_its_part():
    counted = count(in_memory(MIXTURE))
    experts = [row for row in counted.rows if "switch_mlp" in row.name]
    towers = [row for row in counted.rows if "vision" in row.name]
    table = [row for row in counted.rows if "embed_tokens" in row.name]
    assert seed_bytes(experts, counted.seed) == sum(row.disk_bytes for row in experts) * 8 // 256
    assert seed_bytes(towers, counted.seed) == seed_bytes(table, counted.seed) == 0
