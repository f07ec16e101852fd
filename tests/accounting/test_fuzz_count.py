"""The count of anything: any names, shapes and configurations give a count, never an exception."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checkpoints import checkpoint
from workbench.accounting.compare import against_seed
from workbench.accounting.engine import count
from workbench.accounting.rules import RULES
from workbench.accounting.whatif import batch


def words(text):
    return text.split()


SEGMENTS = st.sampled_from(
    words("model layers blk 0 1 2 99999999999 self_attn mlp experts gate weight scales embed_tokens lm_head")
    + words(
        "visual mtp A_log conv1d switch_mlp k_proj qkv_proj kv_a_proj_with_mqa kv_b_proj indexer ssm_conv1d"
    )
    + words("per_expert_scale ffn_up_exps")
    + ["٣", "²", "", "\x1b[31m", "[red]"]
)
NAMES = st.lists(SEGMENTS, max_size=7).map(".".join) | st.text(max_size=12)
SHAPES = st.lists(st.sampled_from([0, 1, 2, 4, 8, 64, 512]), max_size=4)
DTYPES = st.sampled_from(["BF16", "F32", "U32", "U8", "F8_E4M3", "I32"])
NUMBERS = st.sampled_from([None, -1, 0, 1, 2, 4, 8, 10**18, 2.5, "4", True, [1, 2], float("nan")])
CONFIGS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        words("num_experts num_experts_per_tok num_hidden_layers vocab_size num_kv_shared_layers loop_num")
        + words("kv_lora_rank num_attention_heads head_dim hidden_size sliding_window index_topk layer_types")
        + words("sliding_window_pattern linear_num_value_heads linear_value_head_dim linear_key_head_dim")
        + words("zero_expert_num attention_chunk_size no_rope_layers cross_attention_layers"),
        NUMBERS,
    ),
)


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(NAMES, st.tuples(DTYPES, SHAPES), max_size=12), CONFIGS)
def test_anything_is_counted_and_the_sums_hold(tensors, config):
    found = count(checkpoint(tensors, config))
    rows = list(found.rows)
    assert [row.name for row in rows] == list(tensors)
    assert {row.rule for row in rows} <= RULES.keys()
    assert found.disk_bytes == sum(row.disk_bytes for row in rows)
    assert found.resident_bytes == sum(row.resident_bytes for row in rows)
    assert 0 <= found.weight_bytes - sum(row.weight_bytes for row in rows) < len(rows) + 1
    assert found.weight_bytes == sum(totals.per_token for totals in found.by_role.values())
    assert all(
        row.share >= 0 and row.weight_bytes >= 0 and row.lookup_bytes <= row.disk_bytes for row in rows
    )
    assert (
        sum(part.difference_bytes for part in against_seed(found))
        == found.seed.weight_bytes - found.weight_bytes
    )
    assert batch(found, 2).step_bytes >= 0
    assert found.context.at(1000).total_bytes >= 0


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(NAMES, st.tuples(DTYPES, SHAPES), max_size=8),
    st.dictionaries(st.text(max_size=20), NUMBERS),
)
def test_anything_with_gguf_metadata_is_counted(tensors, metadata):
    found = count(checkpoint(tensors, gguf=metadata | {"general.architecture": "x"}, format="gguf"))
    assert found.runtime == "llama.cpp"
    assert found.resident_bytes <= found.disk_bytes


@given(
    st.lists(st.sampled_from(["experts.0", "experts.1", "gate", "up"]), min_size=1, max_size=8, unique=True)
)
def test_shares_never_exceed_a_whole_without_loops(parts):
    tensors = {f"model.layers.0.mlp.{part}.weight": ("BF16", [2, 4]) for part in parts}
    found = count(checkpoint(tensors, {"num_experts": 2, "num_experts_per_tok": 1}))
    assert all(row.share <= Fraction(1) for row in found.rows)
