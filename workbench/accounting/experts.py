"""Routed experts: how they are recognised, how many there are, and which part of them one token reads.

Structure decides: a stack with leading dimension E, or a list of E modules, in a block with a router and outside
the attention (multi-head latent attention has 3-D tensors that are read in full). Names come last.
"""

from workbench.accounting.modules import is_attention
from workbench.accounting.names import Path, is_index, words_of
from workbench.accounting.survey import Pattern, Survey
from workbench.checkpoint.model_config import ModelConfig

ROUTERS = frozenset(
    {"gate", "router", "gate_inp", "ffn_gate_inp", "classifier", "wg", "router_gate", "moe_gate"}
)
SHARED_WORDS = frozenset({"shared", "share", "shexp"})
CORRECTION_WORDS = frozenset({"correction", "bias"})


def expert_count(pattern: Pattern, listed: int, kind: int, survey: Survey, config: ModelConfig) -> int:
    """E of the routed experts that the pattern belongs to, as the headers show it; 0 if it is none.

    `listed` is how many tensors of the pattern the layer has, `kind` the layer's kind.
    """
    path, shape = pattern.path, pattern.shape
    if is_shared(path) or is_correction(path):
        return 0
    named = in_named_container(path)
    block = path.inside[0] if path.inside else ""
    siblings = survey.siblings.get((kind, block), frozenset())
    if is_attention(block, siblings) and not named:
        return 0
    routed = not siblings.isdisjoint(ROUTERS)
    expected = config.experts or 0
    if any(is_index(segment) for segment in path.inside):
        if named or (routed and listed == expected > 1 and len(shape) >= 2):
            return listed
        return 0
    stacked = _leading(shape, expected)
    if len(shape) >= 3 and 1 not in shape and (named or routed or (expected > 1 and stacked == expected)):
        return stacked
    if not named or not shape:
        return 0
    if stacked == expected or (expected and len(shape) == 2 and shape[0] % expected == 0):
        return expected
    return 0


def in_named_container(path: Path) -> bool:
    """Whether a segment says `experts`, `exps` (GGUF) or `switch_...` (mlx-lm)."""
    return any(
        segment.startswith("switch_") or words_of(segment) & {"experts", "exps"} for segment in path.inside
    )


def is_shared(path: Path) -> bool:
    """Shared experts are read by every token."""
    return bool(path.inner_words & SHARED_WORDS)


def is_correction(path: Path) -> bool:
    """A router's correction bias: one number per expert, read whole."""
    last = path.segments[-1].lower()
    return (
        "correction_bias" in last
        or last in {"expert_bias", "router_bias", "exp_probs_b"}
        or ("exp_probs_b" in path.segments)
    )


def is_per_expert_vector(pattern: Pattern, config: ModelConfig) -> bool:
    """A vector with one entry per expert that is gathered by the chosen ones (`per_expert_scale`)."""
    words = words_of(pattern.path.segments[-1])
    return pattern.shape == (config.experts,) and {"per", "expert"} <= words


def is_router(path: Path) -> bool:
    """Whether the tensor scores the experts."""
    return any(segment in ROUTERS for segment in path.inside) or is_correction(path)


def _leading(shape: tuple[int, ...], expected: int) -> int:
    """The stack's dimension: the first one, or the last where a GGUF header gives them the other way round."""
    if expected and shape and shape[0] != expected and shape[-1] == expected:
        return expected
    return shape[0] if shape else 0
