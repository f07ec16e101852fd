"""Rules for the layers: experts and routers, projections that nobody reads, and the ordinary weights."""

from workbench.accounting.experts import (
    expert_count,
    expert_share,
    is_of_other_modality,
    is_per_expert_vector,
    is_router,
    is_shared,
)
from workbench.accounting.modules import FEED_FORWARD_WORDS, is_attention, is_linear_attention, is_norm
from workbench.accounting.names import words_of
from workbench.accounting.roles import Role
from workbench.accounting.rules.rule import Facts, Subject, rule
from workbench.accounting.verdict import ONE, Verdict, unread, whole

KEY_VALUE_MODULES = frozenset(
    {"k_proj", "v_proj", "k_norm", "v_norm", "attn_k", "attn_v", "attn_k_norm", "attn_v_norm"}
)


@rule(
    "other-modality-expert", "An expert or router for another modality's tokens: text decode never reads it."
)
def other_modality_expert(subject: Subject, facts: Facts) -> Verdict | None:
    """Where the config gives E per modality: the language's experts come first."""
    inside = subject.layer is not None
    other = inside and is_of_other_modality(subject.group, subject.siblings(facts), facts.config)
    return unread(Role.VISION, loaded=True) if other else None


@rule("expert-vector", "One number per expert, gathered for the chosen k of E.")
def expert_vector(subject: Subject, facts: Facts) -> Verdict | None:
    """`per_expert_scale`; a correction bias is the router's and read whole."""
    experts = facts.config.experts or 0
    if subject.layer is None or not is_per_expert_vector(subject.path, subject.shape, experts):
        return None
    return Verdict(Role.EXPERT, expert_share(facts.config, experts), experts=experts)


@rule("routed-expert", "A routed expert: k of E are read per token.")
def routed_expert(subject: Subject, facts: Facts) -> Verdict | None:
    """Stacks and lists of experts, by structure before names."""
    if subject.layer is None:
        return None
    experts = expert_count(subject.group, subject.beside_router(facts), facts.config)
    return Verdict(Role.EXPERT, expert_share(facts.config, experts), experts=experts) if experts else None


@rule("shared-expert", "A shared expert: every token reads it.")
def shared_expert(subject: Subject, _: Facts) -> Verdict | None:
    """Shared experts and their gates."""
    return whole(Role.SHARED_EXPERT) if is_shared(subject.path) else None


@rule("router", "The router scores all experts: read whole.")
def router(subject: Subject, facts: Facts) -> Verdict | None:
    """One row per expert (and per expert without weights), or a correction bias."""
    return (
        whole(Role.ROUTER)
        if subject.layer is not None and is_router(subject.path, subject.shape, facts.config)
        else None
    )


@rule("dead-kv", "The layer reads an earlier layer's keys and values: its own projections are never read.")
def dead_kv(subject: Subject, facts: Facts) -> Verdict | None:
    """By position (the config's last KV-shared layers), then by the projection.

    mlx-lm drops them on load, but loads layers with AltUp as they are; llama.cpp loads all.
    """
    if not subject.kv_shared or subject.path.last not in KEY_VALUE_MODULES:
        return None
    return unread(Role.ATTENTION, loaded=subject.in_gguf or "altup" in subject.layer_siblings(facts))


@rule("sparse-indexer", "A sparse attention's indexer: idle until the context passes its threshold.")
def sparse_indexer(subject: Subject, _: Facts) -> Verdict | None:
    """Its bytes stand in the context table, from the threshold on."""
    inside = subject.path.inside
    indexing = "indexer" in inside or any(segment.startswith("index_") for segment in inside)
    return unread(Role.ATTENTION, loaded=True) if indexing else None


@rule("read-twice", "AltUp's router weighs the streams before and after the layer: read twice per token.")
def read_twice(subject: Subject, _: Facts) -> Verdict | None:
    """A module that the layer itself calls twice."""
    inside = subject.path.inside
    router = inside[:2] == ("altup", "modality_router") or inside == ("altup_router",)
    twice = subject.layer is not None and router
    return Verdict(Role.ROUTER, 2 * ONE) if twice else None


@rule("norm", "A normalisation weight: every token reads it.")
def norm(subject: Subject, _: Facts) -> Verdict | None:
    """By the module's last segment, or the layer's part that it stands in."""
    path = subject.path
    within = subject.layer is not None and is_norm(path.block)
    return whole(Role.NORM) if within or is_norm(path.last) else None


@rule("linear-attention", "A linear attention, state-space or convolution weight: every token reads it.")
def linear_attention(subject: Subject, facts: Facts) -> Verdict | None:
    """By what stands in the same block (a decay, a convolution), then by its name."""
    linear = subject.layer is not None and is_linear_attention(subject.path.block, subject.siblings(facts))
    return whole(Role.LINEAR_ATTENTION) if linear else None


@rule("attention", "An attention weight: every token reads it.")
def attention(subject: Subject, facts: Facts) -> Verdict | None:
    """By what stands in the same block (query, key and value projections), then by its name."""
    path = subject.path
    attends = any(is_attention(segment, frozenset()) for segment in path.inside) or (
        subject.layer is not None and is_attention(path.block, subject.siblings(facts))
    )
    return whole(Role.ATTENTION) if attends else None


@rule("feed-forward", "A feed-forward weight: every token reads it.")
def feed_forward(subject: Subject, _: Facts) -> Verdict | None:
    """What is left under a known name."""
    path = subject.path
    known = any(
        words_of(segment) & FEED_FORWARD_WORDS for segment in path.module[:-1] or path.module
    ) or bool(path.inner_words & FEED_FORWARD_WORDS)
    by_itself = subject.layer is not None and (
        path.block == "mixer" or (subject.in_gguf and path.block == "proj")
    )
    return whole(Role.MLP) if known or by_itself else None


@rule("unclassified", "No rule knows this tensor: it is counted once, and named in a warning.")
def unclassified(_: Subject, __: Facts) -> Verdict | None:
    """Never silently."""
    return whole(Role.OTHER)
