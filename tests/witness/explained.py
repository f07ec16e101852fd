"""Where graph and truth, or graph and count, differ on purpose: each with its explanation."""

TRUTH = {
    "longcat_flash": "a slot that is routed to an identity expert is sent to expert 0 with weight 0: it is "
    "read, but its value changes nothing, which is what the truth went by",
    "deepseek_v41": "after 3 tokens this step closes a group of the compressor; after 36, where the truth "
    "was found, it does not",
    "minimax_m3_vl": "its indexer runs above a context of 8 only; there the newest key's index is read, and "
    "cannot change which block is chosen",
}
"""Architecture -> why the graph after 3 tokens reads other bytes than the truth."""

COUNT = {
    "deepseek_v41": "compressor and indexer run on every fourth token only, and the count takes the others",
    "muse_spark": "add_attn_alpha, a vector, is used twice in a layer (0.10 % at this small width)",
}
"""Architecture -> why count and graph differ by more than 0.1 % after 3 tokens."""

NOT_WITNESSED = {"prism_hadamard_qwen35": "evaluates"}
"""Architecture -> the reason's code."""
