"""Each rule by itself: what it takes, and the near misses that it must leave to others."""

from fractions import Fraction

import pytest

from tests.checkpoints import checkpoint
from workbench.accounting.engine import count
from workbench.accounting.roles import Role
from workbench.accounting.rules import ORDER, RULES

CONFIG = {
    "vocab_size": 512,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "num_kv_shared_layers": 1,
}
MODEL = {
    "model.embed_tokens.weight": [512, 64],
    "lm_head.weight": [512, 64],
    "model.layers.0.self_attn.q_proj.weight": [64, 64],
    "model.layers.1.self_attn.q_proj.weight": [64, 64],
    "model.layers.0.mlp.gate.weight": [8, 64],
}

# Pairs: a tensor that a rule takes, and a near miss that another one takes instead.
PAIRS = """
not-a-weight       8        model.layers.0.self_attn.rotary_emb.inv_freq
attention          64       model.layers.0.self_attn.bias

rotary-factors     8        rope_factors_long.weight
unclassified       8        rope.weight

draft-module       64x128   mtp.fc.weight
attention          64x64    model.layers.0.self_attn.mtpx.weight

draft-layer        64x64    model.layers.2.mlp.up_proj.weight
feed-forward       64x64    model.layers.1.mlp.up_proj.weight

projector-module   64x32    multi_modal_projector.linear_1.weight
feed-forward       64x64    model.layers.0.mlp.o_project.weight

vision-module      32x32    vision_tower.blocks.0.mlp.weight
attention          64x64    model.layers.0.self_attn.provisional.weight

audio-module       32x32    model.audio_tower.layers.0.fc.weight
feed-forward       64x64    model.layers.0.mlp.audiox.weight

head-bias          512      output.bias
norm               64       output_norm.weight

position-table     128x64   model.embed_positions.weight
attention          8x64     model.layers.0.self_attn.position_bias.weight

lookup-table       512x32   model.embed_tokens_per_layer.weight
norm               64       model.embedding_norm.weight

expert-vector      8        model.layers.0.router.per_expert_scale
router             64       model.layers.0.router.scale

routed-expert      8x32x64  model.layers.0.mlp.switch_mlp.up_proj.weight
attention          8x16x8   model.layers.0.self_attn.embed_q.weight

shared-expert      32x64    model.layers.0.mlp.shared_experts.up_proj.weight
feed-forward       32x64    model.layers.0.mlp.up_proj.weight

router             8        model.layers.1.mlp.gate.e_score_correction_bias
feed-forward       8x64     model.layers.0.mlp.gate_proj.weight

dead-kv            32x64    model.layers.1.self_attn.k_proj.weight
attention          32x64    model.layers.0.self_attn.k_proj.weight

sparse-indexer     32x64    model.layers.0.self_attn.indexer.wk.weight
attention          32x64    model.layers.0.self_attn.index.weight

read-twice         4x64     model.layers.0.altup.modality_router.weight
feed-forward       16x4     model.layers.0.altup.prediction_coefs.weight

norm               64       model.layers.0.input_layernorm.weight
feed-forward       64x64    model.layers.0.mlp.normal.weight

linear-attention   8        model.layers.0.linear_attn.A_log
attention          64x64    model.layers.0.self_attn.o_proj.weight

attention          64x64    model.layers.0.self_attn.o_proj.weight
feed-forward       64x64    model.layers.0.mlp.down_proj.weight

feed-forward       64x64    model.layers.0.mlp.down_proj.weight
unclassified       64x64    model.layers.0.something.weight

unclassified       64x64    model.something.weight
norm               64       model.norm.weight
"""
TAKEN = [tuple(line.split()) for line in PAIRS.splitlines() if line]


def rows(config=CONFIG, **tensors):
    stored = {name: ("BF16", shape) for name, shape in (MODEL | tensors.pop("more", {})).items()}
    return {row.name: row for row in count(checkpoint(stored, config)).rows}


@pytest.mark.parametrize(("rule", "shape", "name"), TAKEN)
def test_a_rule_takes_its_own_and_leaves_the_near_misses(rule, shape, name):
    assert rows(more={name: [int(size) for size in shape.split("x")]})[name].rule == rule


def test_every_rule_is_tested_somewhere_here():
    elsewhere = {"head", "tied-embedding", "unused-head", "input-embedding"}
    structural = {"cross-attention-layer", "encoder", "cross-attention-keys", "beside-language-model"}
    structural |= {"other-modality-expert"}
    applied = {"looped", "override"}
    assert RULES.keys() == {rule for rule, _, _ in TAKEN} | elsewhere | structural | applied


def test_experts_of_another_modality_are_told_by_the_config_not_by_their_names_alone():
    more = {
        f"model.layers.{layer}.mlp.{name}": shape
        for layer in range(3)
        for name, shape in {"switch_mlp.up_proj": [8, 32, 64], "switch_mlp_1.up_proj": [8, 16, 64]}.items()
    }
    twice = CONFIG | {"num_hidden_layers": 3, "num_experts": [8, 8]}
    other = "model.layers.0.mlp.switch_mlp_1.up_proj"
    assert rows(twice, more=more)[other].rule == "other-modality-expert"
    assert rows(twice | {"num_experts": 8}, more=more)[other].rule == "routed-expert"
    assert rows(twice, more=more)[other.replace("_1", "")].share == Fraction(1, 4)


def test_what_a_decoder_makes_of_its_encoder_once_per_prompt_is_not_read():
    block = "decoder.layers.0.encoder_attn."
    more = {block + f"{part}_proj.weight": [64, 64] for part in "qkv"}
    encoder = {"encoder.layers.0.self_attn.k_proj.weight": [64, 64]}
    found = rows(
        more={name.replace("model.", "decoder."): shape for name, shape in MODEL.items()} | more | encoder
    )
    assert [found[name].rule for name in more] == ["attention", *2 * ["cross-attention-keys"]]
    assert found["decoder.layers.0.self_attn.q_proj.weight"].rule == "attention"
    alone = rows(more={name.replace("decoder.", "model."): shape for name, shape in more.items()})
    assert {alone[name.replace("decoder.", "model.")].rule for name in more} == {"attention"}


@pytest.mark.parametrize(
    ("name", "shape"), [("attn.causal_mask", [1, 1, 32, 32]), ("attn.bias", [1, 1, 32, 32])]
)
def test_masks_are_no_weights(name, shape):
    stored = f"model.layers.0.{name}"
    assert rows(more={stored: shape})[stored].rule == "not-a-weight"
    assert rows(more={stored: [1, 1, 32, 16]})[stored].rule == "attention"


def test_the_head_is_read_and_the_table_looked_up():
    found = rows()
    assert (found["lm_head.weight"].role, found["lm_head.weight"].share) == (Role.HEAD, 1)
    table = found["model.embed_tokens.weight"]
    assert (table.rule, table.share, table.lookup_bytes) == ("input-embedding", 0, 128)


def test_a_tie_flag_makes_the_table_the_head_and_drops_the_stored_one():
    found = rows(CONFIG | {"tie_word_embeddings": True})
    assert found["model.embed_tokens.weight"].rule == "tied-embedding"
    head = found["lm_head.weight"]
    assert (head.rule, head.weight_bytes, head.resident_bytes) == ("unused-head", 0, 0)


def test_without_a_head_the_table_is_one():
    stored = {name: ("BF16", shape) for name, shape in MODEL.items() if name != "lm_head.weight"}
    found = {row.name: row for row in count(checkpoint(stored, CONFIG)).rows}
    assert found["model.embed_tokens.weight"].share == 1


def test_a_matrix_with_as_many_rows_as_the_table_is_the_head_whatever_its_name():
    stored = {"model.embed_tokens.weight": [512, 64], "model.strange.weight": [512, 64]}
    found = count(checkpoint({name: ("BF16", shape) for name, shape in stored.items()}, CONFIG))
    assert [(row.rule, row.role) for row in found.rows] == [
        ("input-embedding", Role.EMBEDDING),
        ("head", Role.HEAD),
    ]


def test_a_vocabulary_inside_a_tower_is_found_when_there_is_no_other():
    stored = {
        "mm_whisper_embeddings.tok_embeddings.weight": ("BF16", [512, 64]),
        "mm_whisper_embeddings.whisper_encoder.layers.0.wq.weight": ("BF16", [32, 32]),
        "layers.0.attention.wq.weight": ("BF16", [64, 64]),
    }
    found = count(checkpoint(stored, {"vocab_size": 512, "n_layers": 1}))
    assert {row.name.split(".")[1]: row.share for row in found.rows} == {
        "tok_embeddings": 1,
        "whisper_encoder": 0,
        "0": 1,
    }


def test_cross_attention_layers_are_the_configs_word():
    found = rows(CONFIG | {"cross_attention_layers": [1]})
    assert found["model.layers.1.self_attn.q_proj.weight"].rule == "cross-attention-layer"
    assert found["model.layers.0.self_attn.q_proj.weight"].rule == "attention"


def test_an_encoder_is_only_skipped_beside_a_decoder():
    stored = {
        "model.decoder.embed_tokens.weight": [512, 64],
        "model.decoder.layers.0.fc1.weight": [64, 64],
        "model.encoder.layers.0.fc1.weight": [999, 64],
    }
    found = count(checkpoint({name: ("BF16", shape) for name, shape in stored.items()}, {"vocab_size": 512}))
    assert [row.rule for row in found.rows] == ["tied-embedding", "feed-forward", "encoder"]


def test_a_stack_with_as_many_members_as_experts_is_no_expert_without_a_router():
    more = {f"model.layers.0.mlps.{i}.up_proj.weight": [32, 64] for i in range(8)}
    assert {rows(more=more)[name].share for name in more} == {Fraction(1)}
    routed = {f"model.layers.0.mlp.parts.{i}.up_proj.weight": [32, 64] for i in range(8)}
    assert {rows(more=routed)[name].share for name in routed} == {Fraction(1, 4)}


def test_a_stack_in_any_block_is_experts_if_its_first_dimension_is_their_number():
    stack, kernel = "model.layers.0.strange.weight", "model.layers.0.strange.conv.weight"
    found = rows(more={stack: [8, 32, 64], kernel: [8, 1, 4]})
    assert found[stack].share == Fraction(1, 4)
    assert found[kernel].share == 1


def test_all_parts_of_a_quantized_weight_share_their_share():
    stored = {name: ("BF16", shape) for name, shape in MODEL.items()} | {
        "model.layers.0.mlp.switch_mlp.up_proj.weight": ("U32", [8, 32, 8]),
        "model.layers.0.mlp.switch_mlp.up_proj.scales": ("BF16", [8, 32, 1]),
        "model.layers.0.mlp.switch_mlp.up_proj.biases": ("BF16", [8, 32, 1]),
        "model.layers.0.mlp.switch_mlp.up_proj.bias": ("BF16", [8, 32]),
    }
    found = [row for row in count(checkpoint(stored, CONFIG)).rows if "switch" in row.name]
    assert {(row.share, row.rule) for row in found} == {(Fraction(1, 4), "routed-expert")}


def test_every_rule_has_a_sentence_that_stands_alone():
    assert len({rule.id for rule in ORDER}) == len(ORDER)
    for rule in RULES.values():
        assert rule.sentence.endswith(".")
        assert rule.sentence[0].isupper()
        assert len(rule.sentence) < 110


def test_no_rule_knows_the_name_of_a_model():
    from pathlib import Path

    import workbench.accounting.rules as package

    sources = "".join(path.read_text() for path in Path(package.__file__).parent.glob("*.py"))
    assert "model_type" not in sources
    assert "architecture ==" not in sources
