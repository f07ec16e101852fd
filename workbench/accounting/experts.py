"""Routed experts: how they are recognised, how many there are, and which part of them one token reads.

Structure decides: a stack with leading dimension E or a list of E modules, outside the attention (multi-head
latent attention has 3-D tensors that are read in full), best beside a router. Names come last.
"""

from fractions import Fraction

from workbench.accounting.modules import is_attention, is_linear_attention
from workbench.accounting.names import Path, is_index, words_of
from workbench.accounting.survey import Group
from workbench.accounting.verdict import ONE
from workbench.checkpoint.model_config import ModelConfig

ROUTERS = frozenset(
    {"gate", "router", "gate_inp", "ffn_gate_inp", "classifier", "wg", "router_gate", "moe_gate"}
)
CORRECTIONS = frozenset(
    {"e_score_correction_bias", "expert_bias", "router_bias", "exp_probs_b", "moe_statics"}
)
SHARED_WORDS = frozenset({"shared", "share", "shexp"})


def expert_count(group: Group, siblings: frozenset[str], config: ModelConfig) -> int:
    """E of the routed experts that the group belongs to, as the headers show it; 0 if it is none.

    `siblings` are the path segments in the same block.
    """
    path, shape = group.pattern.path, group.pattern.shape
    named = in_expert_container(path)
    if is_shared(path) or is_correction(path) or "router" in path.inner_words:
        return 0
    mixes = is_attention(path.block, siblings) or is_linear_attention(path.block, siblings)
    if not named and (mixes or not ROUTERS.isdisjoint(path.inside)):
        return 0
    routed = not siblings.isdisjoint(ROUTERS)
    expected = config.experts or 0
    if any(map(is_index, path.inside)):
        listed = group.listed
        if config.experts_by_modality and listed == sum(config.experts_listed) > group.tensors:
            listed = config.experts_listed[0]
        return listed if named or (routed and listed == expected > 1 and len(shape) >= 2) else 0
    if not shape:
        return 0
    stacked = len(shape) >= 3 and 1 not in shape
    if stacked and (named or routed or shape[0] == expected > 1):
        return shape[0]
    return expected if named and expected and _folds(shape, expected) else 0


def expert_share(config: ModelConfig, experts: int) -> Fraction:
    """k/E, or 1 where no valid k is known (the count then refuses); shared ones within are always read."""
    k = config.experts_per_token
    if k is not None and holds_shared(config, experts):
        k += config.shared_experts
    return Fraction(k, experts) if k is not None and 0 < k <= experts else ONE


def holds_shared(config: ModelConfig, experts: int) -> bool:
    """Whether a stack is as long as all routed experts and the shared ones after them."""
    return config.experts is not None and experts == config.experts + config.shared_experts > config.experts


def is_of_other_modality(group: Group, siblings: frozenset[str], config: ModelConfig) -> bool:
    """The second part of a list that holds both modalities' experts, or `gate_1` beside `gate`."""
    if not config.experts_by_modality:
        return False
    if group.lowest and group.lowest >= config.experts_listed[0]:
        return group.listed == sum(config.experts_listed)
    inside = group.pattern.path.segments[(group.pattern.path.position or 0) + 1 :]
    return any(s.endswith("_1") and {s[:-2]} <= siblings | {"weight"} for s in inside)


def in_expert_container(path: Path) -> bool:
    """Whether a segment says `experts`, `exps` (GGUF) or `switch_...` (mlx-lm)."""
    return any(
        segment.startswith("switch_") or words_of(segment) & {"experts", "exps"} for segment in path.inside
    )


def is_shared(path: Path) -> bool:
    """Shared experts are read by every token."""
    return bool(path.inner_words & SHARED_WORDS)


def is_correction(path: Path) -> bool:
    """A router's correction: one number per expert, added to all scores."""
    return not CORRECTIONS.isdisjoint(path.segments)


def is_per_expert_vector(path: Path, shape: tuple[int, ...], experts: int) -> bool:
    """A vector with one entry per expert that is gathered by the chosen ones (`per_expert_scale`)."""
    return experts > 0 and shape == (experts,) and {"per", "expert"} <= words_of(path.segments[-1])


def is_router(path: Path, shape: tuple[int, ...], config: ModelConfig) -> bool:
    """Whether the tensor scores the experts: it has a row for each, or its module is called router."""
    if is_correction(path) or "router" in path.inner_words:
        return True
    experts = config.experts or 0
    rows = {experts, experts + config.zero_experts} - {0}
    return not ROUTERS.isdisjoint(path.inside) and not rows.isdisjoint(shape)


def _folds(shape: tuple[int, ...], experts: int) -> bool:
    """One entry per expert, or all experts' rows under each other in a 2-D matrix."""
    return shape[0] == experts or (len(shape) == 2 and shape[0] % experts == 0)
