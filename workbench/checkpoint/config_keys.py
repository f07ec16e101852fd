"""The keys under which configurations say the same thing: depth, experts, vocabulary, ties, loops.

Data only, in the order in which they are looked for; model_config.py reads them.
"""

TEXT_CONFIG_KEYS = (
    "text_config",
    "llm_config",
    "language_config",
    "text_cfg",
    "lm_config",
    "language_model_config",
    "text",
    "decoder",
    "thinker_config",
)
"""Keys under which multimodal configurations nest their language model's."""

MODALITY_WORDS = frozenset({"vision", "visual", "image", "video", "vit", "audio", "speech"})
"""Words of the keys under which configurations describe another modality's part."""

LAYER_KEYS = (
    "num_hidden_layers",
    "n_layer",
    "n_layers",
    "num_layers",
    "num_transformer_layers",
    "num_decoder_layers",
    "decoder_layers",
)
EXPERT_KEYS = (
    "num_experts",
    "n_routed_experts",
    "num_local_experts",
    "moe_num_experts",
    "num_routed_experts",
    "n_experts",
    "num_moe_experts",
    "moe_num_primary_experts",
)
EXPERTS_PER_TOKEN_KEYS = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "moe_topk",
    "moe_top_k",
    "moe_k",
    "top_k_experts",
    "num_selected_experts",
    "n_experts_per_tok",
    "n_activated_experts",
    "moe_router_topk",
    "moe_num_active_primary_experts",
)
SHARED_EXPERT_KEYS = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
VOCABULARY_KEYS = ("vocab_size", "padded_vocab_size", "n_vocab")
HIDDEN_KEYS = ("hidden_size", "n_embd", "d_model", "hidden_dim", "model_dim", "dim")
TIE_KEYS = ("tie_word_embeddings", "tie_embeddings", "weight_tying", "share_input_output_layers")
LOOP_KEYS = ("loop_num", "num_loops", "total_ut_steps", "num_loop")
NEXTN_KEYS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "num_mtp_modules")

GGUF_KEYS = {
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.value_length": "v_head_dim",
    "attention.sliding_window": "sliding_window",
    "attention.sliding_window_pattern": "sliding_window_pattern",
    "attention.kv_lora_rank": "kv_lora_rank",
    "attention.shared_kv_layers": "num_kv_shared_layers",
    "rope.dimension_count": "qk_rope_head_dim",
    "full_attention_interval": "full_attention_interval",
    "ssm.conv_kernel": "ssm_conv_kernel",
    "ssm.inner_size": "ssm_inner_size",
    "ssm.state_size": "ssm_state_size",
    "ssm.group_count": "ssm_group_count",
    "ssm.time_step_rank": "ssm_time_step_rank",
    "wkv.head_size": "wkv_head_size",
}
"""GGUF's keys, without the architecture before them, and what Hugging Face configurations call the same."""
