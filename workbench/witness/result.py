"""What the decode graph said, as data: it travels from the worker, is cached, and is held to the count.

Nothing is decided here, and nothing of mlx may enter.
"""

import msgspec


class TensorRead(msgspec.Struct, frozen=True, array_like=True):
    """How one decode step reads one tensor of the file. `kind`: full, experts, lookup, never, dropped.

    `weight_bytes` are bytes of the *file* that the step reads in full or by share, `lookup_bytes` those of
    the rows it looks up; `reads` is how many times.
    """

    name: str
    kind: str
    weight_bytes: int
    lookup_bytes: int
    resident_bytes: int
    reads: int


class GraphReading(msgspec.Struct, frozen=True):
    """One decode step after `context` tokens, by the graph of mlx-lm's own model. Totals in bytes.

    `context_read_bytes` is what the step reads of KV cache and recurrent state. `unknown` tensors have no
    place in the model (mlx-lm refuses to load such a checkpoint); `cache_only` ones do not reach this step's
    logits, but what they write to the cache may reach a later one's. `assumed_routing` says that the model
    asks for the values of its routing, and that experts 0 to k-1 were assumed. `cpu_s` and `peak_rss_bytes`
    are the whole worker process's, up to this reading.
    """

    context: int
    weight_bytes: int
    lookup_bytes: int
    resident_bytes: int
    context_read_bytes: int
    reads: list[TensorRead]
    unknown: list[str] = []
    cache_only: list[str] = []
    assumed_routing: bool = False
    mlx_lm: str = ""
    cpu_s: float = 0.0
    peak_rss_bytes: int = 0
