"""Rules chosen on purpose, the seed rule's own ways, comparisons by role, and what-if rows."""

import pytest

from tests.checkpoints import checkpoint, in_memory
from workbench.accounting.compare import against_seed, compare
from workbench.accounting.engine import count
from workbench.accounting.overrides import Override
from workbench.accounting.roles import Role
from workbench.accounting.ruling import weight_bytes_by_rule
from workbench.accounting.seedrule import seed_count
from workbench.accounting.whatif import batch, distinct_part, speculative
from workbench.checkpoint.checkpoint import SkippedFile, Tensor

BIG = "mlx-Qwen3.5-35B-A3B-4bit"


def test_each_rule_has_its_figure():
    found = in_memory(BIG)
    counted = count(found)
    assert weight_bytes_by_rule("count", found, counted) == 1_659_035_776
    assert weight_bytes_by_rule("seed", found, counted) == 1_659_035_776
    assert weight_bytes_by_rule("all-bytes", found, counted) == 20_391_405_152
    assert weight_bytes_by_rule("whole-file", found, counted) == 20_391_405_152
    with pytest.raises(ValueError, match="guess"):
        weight_bytes_by_rule("guess", found, counted)


def test_the_graph_is_in_force_over_the_count_and_an_override_over_both():
    found = in_memory("mlx-Qwen3.5-0.8B-4bit")
    assert weight_bytes_by_rule("count", found, count(found), graph_bytes=7) == 7
    assert weight_bytes_by_rule("seed", found, count(found), graph_bytes=7) == 423_938_240
    overridden = count(found, [Override("*", "all of it", Role.OTHER)])
    assert weight_bytes_by_rule("count", found, overridden, graph_bytes=7) == overridden.weight_bytes


def test_the_seed_rule_reads_every_safetensors_file_but_no_folder_below():
    stored = {"model.embed_tokens.weight": ("BF16", [8, 8])}
    beside = checkpoint(
        stored,
        skipped=(
            SkippedFile("consolidated.safetensors", 100, "x"),
            SkippedFile("original/a.safetensors", 100, "x"),
        ),
        skipped_tensors=(Tensor("output.weight", "BF16", (50,), 100, 0), Tensor("w", "BF16", (50,), 100, 1)),
    )
    assert seed_count(beside).total_bytes == 128 + 100


def test_the_seed_rule_goes_by_substrings():
    stored = {
        "a.revision_proj": ("BF16", [1]),  # "vision" is in it
        "model.embed_tokens_per_layer.weight": ("BF16", [2]),
        "x.experts.0": ("BF16", [4]),
        "x.shared_experts.0": ("BF16", [8]),
        "x.switch_mlp.0": ("BF16", [16]),
        "rest": ("BF16", [32]),
    }
    found = seed_count(checkpoint(stored, {"num_local_experts": 4, "num_experts_per_tok": 1}))
    assert (found.vision_bytes, found.embedding_bytes, found.expert_bytes) == (2, 4, 40)
    assert found.weight_bytes == 16 + 64 + 40 // 4


@pytest.mark.parametrize("config", [{"num_experts": "8"}, {"text_config": []}, {"num_experts": True}, {}])
def test_the_seed_rule_survives_any_config(config):
    found = seed_count(checkpoint({"x.experts.0": ("BF16", [4])}, config))
    assert (found.experts, found.weight_bytes) == (0, 8)


def test_the_difference_to_the_seed_rule_is_explained_by_role():
    found = count(in_memory("mlx-gemma-4-e4b-it-4bit"))
    parts = {part.role: part for part in against_seed(found)}
    assert (
        sum(part.difference_bytes for part in parts.values()) == found.seed.weight_bytes - found.weight_bytes
    )
    assert parts.keys() == {Role.EMBEDDING, Role.AUDIO, Role.ATTENTION, Role.PROJECTOR} - {Role.PROJECTOR}
    assert parts[Role.EMBEDDING].difference_bytes == 1_585_446_912
    assert parts[Role.AUDIO].rules == ("audio-module",)
    assert next(iter(parts)) is Role.EMBEDDING


@pytest.mark.parametrize("name", [BIG, "mlx-DeepSeek-R1-4bit", "hf-Devstral-Small-2507-consolidated"])
def test_the_difference_is_whole(name):
    found = count(in_memory(name))
    total = sum(part.difference_bytes for part in against_seed(found))
    assert total == found.seed.weight_bytes - found.weight_bytes


def test_two_checkpoints_compare_by_role_largest_gap_first():
    parts = compare(count(in_memory("mlx-Qwen3.5-2B-4bit")), count(in_memory("mlx-Qwen3.5-2B-8bit")))
    gaps = [abs(part.difference_bytes) for part in parts]
    assert gaps == sorted(gaps, reverse=True)
    assert sum(part.right_bytes for part in parts) == 1_999_954_112


def test_a_batch_touches_more_experts():
    found = count(in_memory(BIG))
    experts = found.by_role[Role.EXPERT].on_disk
    dense = found.weight_bytes - experts // 32
    assert batch(found, 1).step_bytes == pytest.approx(found.weight_bytes)
    assert batch(found, 8).step_bytes == pytest.approx(dense + experts * (1 - (31 / 32) ** 8))
    assert batch(found, 8).bytes_per_token == batch(found, 8).step_bytes / 8


@pytest.mark.parametrize(
    ("tokens", "distinct"), [(2, 7.75), (4, 14.56), (8, 25.81), (16, 41.21), (32, 55.89)]
)
def test_distinct_experts_of_sixty_four_with_four_a_token(tokens, distinct):
    # E(1 - (1 - k/E)^B), checked against a random router's choices when the formula was written down.
    assert 64 * distinct_part(4 / 64, tokens) == pytest.approx(distinct, abs=0.005)


def test_a_dense_batch_reads_its_weights_once():
    found = count(in_memory("mlx-Qwen3-1.7B-bf16"))
    assert batch(found, 8).bytes_per_token == found.weight_bytes / 8


def test_a_verified_draft_divides_by_the_tokens_it_yields():
    found = count(in_memory("mlx-Qwen3-1.7B-bf16"))
    what = speculative(found, drafted=4, accepted=0.5, draft_bytes=1000)
    assert what.tokens == pytest.approx((1 - 0.5**5) / 0.5)
    assert what.step_bytes == found.weight_bytes + 4000
    assert speculative(found, 4, 1.0).tokens == 5
    assert speculative(found, 4, 0.0).tokens == 1
