"""What is wrong with a checkpoint is said: refusals where no honest figure exists, warnings elsewhere."""

import pytest

from tests.checkpoints import checkpoint
from workbench.accounting.engine import count

CONFIG = {
    "vocab_size": 100,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "tie_word_embeddings": False,
}
MODEL = {
    "model.embed_tokens.weight": ("BF16", [100, 64]),
    "lm_head.weight": ("BF16", [100, 64]),
    "model.norm.weight": ("BF16", [64]),
    "model.layers.0.mlp.gate.weight": ("BF16", [8, 64]),
    "model.layers.0.mlp.switch_mlp.up_proj.weight": ("BF16", [8, 32, 64]),
    "model.layers.1.mlp.gate.weight": ("BF16", [8, 64]),
    "model.layers.1.mlp.switch_mlp.up_proj.weight": ("BF16", [8, 32, 64]),
}
EXPERT_BYTES = 2 * 8 * 32 * 64 * 2


def counted(config=(), without=(), **more):
    tensors = {name: entry for name, entry in MODEL.items() if name not in without}
    return count(checkpoint(tensors | more.get("tensors", {}), CONFIG | dict(config)))


def codes(found):
    return [finding.code for finding in found.findings]


def test_a_sound_checkpoint_gets_neither():
    found = counted()
    assert (found.refusal, found.findings) == (None, ())


@pytest.mark.parametrize(
    "config",
    [
        {"num_experts_per_tok": None},
        {"num_experts": 0, "num_experts_per_tok": 0},
        {"num_experts_per_tok": "2"},
    ],
)
def test_experts_without_a_k_get_a_range_and_no_figure(config):
    found = counted(config)
    assert found.refusal.code == "experts_without_k"
    least, most = found.weight_bytes - EXPERT_BYTES * 7 // 8, found.weight_bytes
    assert f"{least:,} (k = 1) to {most:,}" in found.refusal.message
    assert f"{EXPERT_BYTES:,} bytes of routed experts (E = 8)" in found.refusal.message


def test_more_experts_per_token_than_experts():
    found = counted({"num_experts_per_tok": 12})
    assert found.refusal.code == "k_exceeds_experts"
    assert "12 experts per token, but only 8 exist" in found.refusal.message


@pytest.mark.parametrize("said", [4, 16, 0])
def test_another_number_of_experts_than_the_tensors_show(said):
    refusal = counted({"num_experts": said}).refusal
    assert refusal.code in {"experts_mismatch", "k_exceeds_experts"}
    assert counted({"num_experts": said, "num_experts_per_tok": 1}).refusal.code == "experts_mismatch"


def test_experts_missing_from_a_list_of_them():
    listed = {f"model.layers.0.mlp.experts.{i}.up_proj.weight": ("BF16", [32, 64]) for i in range(7)}
    found = counted(without=["model.layers.0.mlp.switch_mlp.up_proj.weight"], tensors=listed)
    assert found.refusal.code == "experts_mismatch"


def test_an_expert_that_lacks_one_of_its_weights():
    parts = {
        f"model.layers.0.mlp.experts.{i}.{part}.weight": ("BF16", [32, 64])
        for i in range(8)
        for part in ("up_proj", "gate_proj")
    }
    assert counted(without=["model.layers.0.mlp.switch_mlp.up_proj.weight"], tensors=parts).refusal is None
    del parts["model.layers.0.mlp.experts.3.gate_proj.weight"]
    refusal = counted(without=["model.layers.0.mlp.switch_mlp.up_proj.weight"], tensors=parts).refusal
    assert refusal.code == "experts_mismatch"
    assert "model.layers.0.mlp.experts.#.gate_proj has weights for 7 of its 8 experts" in refusal.message


def test_the_number_of_experts_may_come_from_the_tensors():
    found = counted({"num_experts": None})
    assert (found.refusal, codes(found), found.experts) == (None, ["experts_from_headers"], 8)
    assert found.weight_bytes == counted().weight_bytes


def test_two_heads_are_one_too_many():
    found = counted(tensors={"output.weight": ("BF16", [100, 64])})
    assert found.refusal.code == "two_heads"
    assert "lm_head, output" in found.refusal.message


def test_a_head_beside_a_tie_flag_is_said_and_one_matrix_counted():
    found = counted({"tie_word_embeddings": True})
    assert (found.refusal, codes(found), found.tied) == (None, ["tie_flag"], True)
    assert found.weight_bytes == counted().weight_bytes


def test_a_missing_head_against_the_flag_is_said():
    found = counted(without=["lm_head.weight"])
    assert (found.refusal, codes(found), found.tied) == (None, ["tie_flag"], True)


def test_a_contradiction_about_the_tie_is_said_and_the_headers_decide():
    found = count(checkpoint(MODEL, CONFIG | {"text_config": CONFIG | {"tie_word_embeddings": True}}))
    assert (found.refusal, codes(found), found.tied) == (None, ["tie_conflict"], False)


def test_no_vocabulary_no_model():
    found = counted(without=["lm_head.weight", "model.embed_tokens.weight"])
    assert found.refusal.code == "no_vocabulary"


def test_no_tensors_no_ceiling():
    assert count(checkpoint({}, CONFIG)).refusal.code == "no_tensors"
    empty = count(checkpoint({"model.embed_tokens.weight": ("BF16", [0, 64])}, CONFIG))
    assert empty.refusal.code == "no_tensors"


def test_only_towers_nothing_read():
    found = count(checkpoint({"vision_tower.blocks.0.weight": ("BF16", [8, 8])}, {}))
    assert found.refusal.code == "nothing_read"


def test_a_head_with_fewer_rows_than_the_table_is_said_but_padding_is_not():
    for rows, expected in ((50, ["short_head"]), (99, [])):
        found = counted(tensors={"lm_head.weight": ("BF16", [rows, 64])})
        assert codes(found) == expected


def test_a_head_without_a_table_is_said():
    assert codes(counted(without=["model.embed_tokens.weight"])) == ["no_table"]


def test_a_head_alone_is_no_model_of_two_layers():
    found = counted(without=[name for name in MODEL if name != "lm_head.weight"])
    assert found.refusal.code == "layers_missing"


def test_ordinary_layers_past_the_depth_are_told_and_next_n_layers_are_not():
    more = {name.replace("layers.1", "layers.2"): entry for name, entry in MODEL.items()}
    assert codes(counted(tensors=more)) == ["layers_beyond_depth"]
    assert codes(counted({"num_nextn_predict_layers": 1}, tensors=more)) == []
    draft = {"model.layers.2.eh_proj.weight": ("BF16", [64, 128])}
    assert codes(counted(tensors=more | draft)) == []


DENSE = {
    f"model.layers.{layer}.{name}.weight": ("BF16", [64, 64])
    for layer in range(2, 6)
    for name in ("mixer.in_proj", "mixer.out_proj", "mlp.up_proj", "mlp.down_proj")
}


@pytest.mark.parametrize("gone", ["mixer.in_proj", "mlp.down_proj"])
def test_one_layer_that_lacks_what_its_like_have_is_named(gone):
    tensors = {name: entry for name, entry in DENSE.items() if name != f"model.layers.3.{gone}.weight"}
    found = counted({"num_hidden_layers": 6}, tensors=tensors)
    (finding,) = found.findings
    assert finding.code == "layer_lacks_weights"
    assert f"Layer 3 lacks weights that other layers have (model.layers.#.{gone})" in finding.message


def test_a_router_without_the_experts_of_its_like_is_named():
    more = {name.replace("layers.0", f"layers.{n}"): entry for n in (2, 3) for name, entry in MODEL.items()}
    del more["model.layers.3.mlp.switch_mlp.up_proj.weight"]
    assert codes(counted({"num_hidden_layers": 4}, tensors=more)) == ["layer_lacks_weights"]


def test_a_last_layer_without_a_part_that_the_others_have_lacks_nothing():
    part = {f"model.layers.{n}.mixer.compressor.w.weight": ("BF16", [64, 64]) for n in range(2, 5)}
    assert codes(counted({"num_hidden_layers": 6}, tensors=DENSE | part)) == []


def test_layers_that_differ_by_design_lack_nothing():
    two = [f"model.layers.{layer}.mixer.in_proj.weight" for layer in (2, 4)]
    tensors = {name: entry for name, entry in DENSE.items() if name not in two}
    assert codes(counted({"num_hidden_layers": 6}, tensors=tensors)) == []


def test_experts_without_a_router_are_told():
    gates = [f"model.layers.{layer}.mlp.gate.weight" for layer in range(2)]
    assert codes(counted(without=gates)) == ["router_missing"]


def test_two_values_of_k_are_told():
    assert codes(counted({"moe_topk": 4})) == ["k_conflict"]
    assert codes(counted({"moe_topk": 2})) == []


@pytest.mark.parametrize(("scales", "expected"), [("BF16", ["biases_missing"]), ("U8", [])])
def test_affine_weights_without_biases_are_told(scales, expected):
    block = "model.layers.0.mlp.up_proj"
    packed = {f"{block}.weight": ("U32", [32, 8]), f"{block}.scales": (scales, [32, 1])}
    assert codes(counted(tensors=packed)) == expected


@pytest.mark.parametrize(
    ("depth", "missing"), [(4, "2, 3"), (100, "2, 3, 4, 5, 6, 7, ..."), (10**12, "2, 3, 4")]
)
def test_missing_layers_are_named(depth, missing):
    refusal = counted({"num_hidden_layers": depth}).refusal
    assert refusal.code == "layers_missing"
    assert missing in refusal.message
    assert f"{depth - 2:,} of {depth:,} layers" in refusal.message


def test_a_hole_in_the_stack_is_named():
    moved = {name.replace("layers.1", "layers.2"): entry for name, entry in MODEL.items()}
    refusal = count(checkpoint(moved, CONFIG | {"num_hidden_layers": 3})).refusal
    assert refusal.code == "layers_missing"
    assert "(1)" in refusal.message


def test_layers_that_a_pruned_model_switches_off_are_not_missing():
    off = {"attention": {"no_op": True}, "ffn": {"no_op": True}}
    config = {"num_hidden_layers": 3, "block_configs": [{}, {}, off]}
    assert counted(config).refusal is None


def test_layers_may_stand_in_two_lists():
    more = {"model.kv_reuse_layers.0.mlp.up_proj.weight": ("BF16", [64, 64])}
    assert counted({"num_hidden_layers": 3}, tensors=more).refusal is None


@pytest.mark.parametrize(
    ("packed", "scales"),
    [("weight", "scales"), ("qweight", "scales"), ("weight_packed", "weight_scale")],
)
def test_a_packed_weight_without_scales_is_refused(packed, scales):
    dtype = "U32" if packed == "weight" else "I32"
    module = "model.layers.{}.mlp.down_proj."
    both = {module.format(i) + packed: (dtype, [64, 8]) for i in (0, 1)}
    first = {module.format(0) + scales: ("BF16", [64, 1])}
    second = {module.format(1) + scales: ("BF16", [64, 1])}
    assert counted(tensors=both | first | second).refusal is None
    refusal = counted(tensors=both | first).refusal
    assert refusal.code == "scales_missing"
    assert f"model.layers.1.mlp.down_proj.{packed}" in refusal.message


def test_a_module_may_be_packed_in_one_layer_and_dense_in_the_next():
    module = "model.layers.{}.mlp.down_proj."
    packed = {module.format(0) + "weight": ("U32", [64, 8]), module.format(0) + "scales": ("BF16", [64, 1])}
    dense = {module.format(1) + "weight": ("BF16", [64, 64])}
    assert counted(tensors=packed | dense).refusal is None
    del packed[module.format(0) + "scales"]
    assert counted(tensors=packed | dense).refusal.code == "scales_missing"


@pytest.mark.parametrize("dense", [(), (0,), (1, 3)])
def test_a_list_in_a_layer_may_mix_packed_and_dense(dense):
    tensors = {}
    for i in range(4):
        name = f"model.layers.0.attn.lora.{i}."
        tensors[name + "weight"] = ("BF16", [64, 64]) if i in dense else ("U32", [64, 8])
        if i not in dense:
            tensors[name + "scales"] = ("BF16", [64, 1])
    assert counted(tensors=tensors).refusal is None
    del tensors["model.layers.0.attn.lora.2.scales"]
    assert counted(tensors=tensors).refusal.code == "scales_missing"


def test_mxfp4_blocks_need_their_scales():
    experts = "model.layers.0.mlp.experts.gate_up_proj_"
    blocks = {experts + "blocks": ("U8", [8, 64, 2, 16])}
    assert counted(tensors=blocks | {experts + "scales": ("U8", [8, 64, 2])}).refusal is None
    refusal = counted(tensors=blocks).refusal
    assert refusal.code == "scales_missing"
    assert refusal.message.startswith("model.layers.0.mlp.experts.gate_up_proj_blocks is packed")


def test_unclassified_tensors_are_counted_once_and_named():
    found = counted(tensors={"model.layers.0.mystery.w": ("BF16", [64, 64])})
    assert codes(found) == ["unclassified"]
    assert found.findings[0].message == (
        "1 tensor (8,192 bytes) in no rule, counted once as other: model.layers.#.mystery.w"
    )
    assert found.weight_bytes == counted().weight_bytes + 8192


def test_identity_experts_make_the_count_an_upper_bound():
    assert codes(counted({"zero_expert_num": 4})) == ["zero_experts"]


def test_experts_in_the_config_and_none_among_the_tensors_are_said():
    dense = [name for name in MODEL if "switch_mlp" in name]
    merged = {"model.layers.0.block_sparse_moe.w1": ("BF16", [8 * 32, 64])}
    assert codes(counted(without=dense, tensors=merged)) == ["experts_not_found"]
    assert codes(counted({"num_experts": 0, "num_experts_per_tok": 0}, without=dense)) == []


@pytest.mark.parametrize("key", ["mean_recurrence", "H_cycles", "n_recurrent_loops"])
def test_a_recurrence_without_a_rule_is_said(key):
    assert codes(counted({key: 32})) == ["loops_unknown"]
    assert codes(counted({"mean_recurrence": "32"})) == []


def test_loops_without_their_number_are_assumed_aloud():
    assert codes(counted({"loop_window_size": 64})) == ["loops_assumed"]


def test_group_indices_are_not_loadable():
    more = {
        "model.layers.0.mlp.down_proj.qweight": ("I32", [8, 64]),
        "model.layers.0.mlp.down_proj.scales": ("F16", [1, 64]),
        "model.layers.0.mlp.down_proj.g_idx": ("I32", [64]),
    }
    assert "group_indices" in codes(counted(tensors=more))


def test_names_in_messages_are_made_safe():
    found = counted(tensors={"model.\x1b[31mred\n.weight": ("BF16", [4, 4])})
    assert "\x1b" not in found.findings[0].message
    assert "\n" not in found.findings[0].message


def test_several_refusals_are_all_told():
    found = counted({"num_experts_per_tok": None, "num_hidden_layers": 9})
    assert found.refusal.code == "experts_without_k"
    assert "layers_missing" in codes(found)
