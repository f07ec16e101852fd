"""The rules: small functions that look at one pattern of tensors and say its role and share, or pass.

They are asked in the order of RULES; the first that answers decides. Structure and configuration come before
names. A rule's sentence is what the screens print as the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.accounting import modules
from workbench.accounting.experts import (
    expert_count,
    is_correction,
    is_per_expert_vector,
    is_router,
    is_shared,
)
from workbench.accounting.names import words_of
from workbench.accounting.roles import Role
from workbench.accounting.survey import Pattern, Survey
from workbench.accounting.verdict import ONE, ZERO, Verdict
from workbench.accounting.vocabulary import NOT_TABLE_WORDS, TABLE_WORDS, Vocabulary
from workbench.checkpoint.model_config import ModelConfig


@dataclass(frozen=True, slots=True)
class Facts:
    """What all rules may know of the checkpoint."""

    config: ModelConfig
    survey: Survey
    vocabulary: Vocabulary
    gguf: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """One pattern at one kind of layer. `layer` is None outside the decoder stack; `listed` counts its tensors
    in that layer; `beyond` and `kv_shared` say where the layer stands."""

    pattern: Pattern
    layer: int | None = None
    kind: int = -1
    listed: int = 1
    beyond: bool = False
    kv_shared: bool = False

    @property
    def block(self) -> str:
        """The layer's part that the tensor stands in, for example `self_attn`."""
        inside = self.pattern.path.inside
        return inside[0] if inside else ""


Judge = Callable[[Subject, Facts], Verdict | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's id, its plain sentence, and its function (None for rules that the engine applies itself)."""

    id: str
    sentence: str
    judge: Judge | None = None


def not_a_weight(subject: Subject, _: Facts) -> Verdict | None:
    """Rotary frequencies and causal masks that old checkpoints store."""
    path, shape = subject.pattern.path, subject.pattern.shape
    buffer = path.segments[-1] in {"inv_freq", "masked_bias", "rotary_emb", "position_ids"}
    mask = path.segments[-1] == "bias" and len(shape) >= 3 and shape[-1] == shape[-2] > 1
    return Verdict(Role.POSITION, ZERO, "not-a-weight", loaded=False) if buffer or mask else None


def draft_module(subject: Subject, _: Facts) -> Verdict | None:
    """Multi-token prediction by name."""
    if modules.is_draft(subject.pattern.path):
        return Verdict(Role.DRAFT, ZERO, "draft-module", loaded=False)
    return None


def draft_layer(subject: Subject, _: Facts) -> Verdict | None:
    """Multi-token prediction by position in the stack."""
    return Verdict(Role.DRAFT, ZERO, "draft-layer", loaded=False) if subject.beyond else None


def vocabulary_matrix(subject: Subject, facts: Facts) -> Verdict | None:
    """The head, or the table that serves as the head."""
    module = ".".join(subject.pattern.path.module)
    vocabulary = facts.vocabulary
    if module not in vocabulary.rows:
        return None
    if vocabulary.refusal is not None:
        return Verdict(Role.HEAD if module in vocabulary.heads else Role.EMBEDDING, ONE, "vocabulary-head")
    if module == vocabulary.read:
        tied = Verdict(Role.EMBEDDING, ONE, "tied-embedding")
        return tied if vocabulary.tied else Verdict(Role.HEAD, ONE, "vocabulary-head")
    if module in vocabulary.heads:
        return Verdict(Role.HEAD, ZERO, "unused-head", loaded=False)
    return Verdict(Role.EMBEDDING, ZERO, "input-embedding", rows=vocabulary.rows[module])


def modality(subject: Subject, _: Facts) -> Verdict | None:
    """Vision, audio and projectors by whole path segments."""
    role = modules.modality(subject.pattern.path)
    return Verdict(role, ZERO, f"{role}-module", loaded=False) if role else None


def beside_language_model(subject: Subject, facts: Facts) -> Verdict | None:
    """In a multimodal checkpoint, what stands outside the language model's own subtree."""
    root = facts.survey.root
    segments = subject.pattern.path.segments
    if not root or root in segments or not facts.config.modalities:
        return None
    return Verdict(Role.PROJECTOR, ZERO, "beside-language-model", loaded=False)


def lookup_table(subject: Subject, facts: Facts) -> Verdict | None:
    """Per-layer, n-gram and position tables: one row per token each."""
    pattern = subject.pattern
    path = pattern.path
    words = words_of(path.last)
    position = bool(words & {"position", "positions", "pos", "wpe", "posembd"})
    table = words & TABLE_WORDS and (not words & NOT_TABLE_WORDS or {"per", "layer"} <= words)
    if (
        len(pattern.shape) != 2
        or not (position or table)
        or subject.layer is not None
        and not _ngram(path.inner_words)
    ):
        return None
    if words & {"norm", "proj", "projection"}:
        return None
    rows = max(pattern.shape) if facts.gguf else max(1, pattern.shape[0])
    if position:
        return Verdict(Role.POSITION, ZERO, "position-table", rows=rows)
    return Verdict(Role.EMBEDDING, ZERO, "lookup-table", rows=rows)


def routed_expert(subject: Subject, facts: Facts) -> Verdict | None:
    """k of E."""
    pattern, config = subject.pattern, facts.config
    if subject.layer is None:
        return None
    if is_per_expert_vector(pattern, config):
        return Verdict(
            Role.EXPERT,
            expert_share(config, config.experts or 0),
            "expert-vector",
            experts=config.experts or 0,
        )
    experts = expert_count(pattern, subject.listed, subject.kind, facts.survey, config)
    if not experts:
        return None
    return Verdict(Role.EXPERT, expert_share(config, experts), "routed-expert", experts=experts)


def expert_share(config: ModelConfig, experts: int) -> Fraction:
    """k/E, or 1 where no valid k is known (the count then refuses)."""
    k = config.experts_per_token
    return Fraction(k, experts) if k is not None and 0 < k <= experts else ONE


def shared_expert(subject: Subject, _: Facts) -> Verdict | None:
    """Shared experts are read whole."""
    return Verdict(Role.SHARED_EXPERT, ONE, "shared-expert") if is_shared(subject.pattern.path) else None


def router(subject: Subject, facts: Facts) -> Verdict | None:
    """The scores of all experts are computed for every token."""
    path, shape, config = subject.pattern.path, subject.pattern.shape, facts.config
    if subject.layer is None or not is_router(path):
        return None
    rows = {config.experts, (config.experts or 0) + config.zero_experts}
    if is_correction(path) or (config.experts and rows & set(shape)) or "router" in path.inner_words:
        return Verdict(Role.ROUTER, ONE, "router")
    return None


def dead_kv(subject: Subject, _: Facts) -> Verdict | None:
    """Layers that use an earlier layer's cache keep projections nobody reads."""
    if subject.kv_shared and subject.pattern.path.last in {
        "k_proj", "v_proj", "k_norm", "v_norm", "attn_k", "attn_v", "attn_k_norm", "attn_v_norm",
    }:  # fmt: skip
        return Verdict(Role.ATTENTION, ZERO, "dead-kv", loaded=False)
    return None


def sparse_indexer(subject: Subject, _: Facts) -> Verdict | None:
    """Sparse attention's indexer is idle below its threshold."""
    inside = subject.pattern.path.inside
    if "indexer" in inside or any(segment.startswith("index_") for segment in inside):
        return Verdict(Role.ATTENTION, ZERO, "sparse-indexer")
    return None


def norm(subject: Subject, _: Facts) -> Verdict | None:
    """Normalisation weights."""
    last = subject.pattern.path.last.lower()
    if (
        last.rstrip("0123456789_").endswith("norm")
        or last.startswith(("ln_", "norm_"))
        or last in {"ln", "layer_norm"}
    ):
        return Verdict(Role.NORM, ONE, "norm")
    return None


def linear_attention(subject: Subject, facts: Facts) -> Verdict | None:
    """State-space, convolution and linear-attention blocks."""
    if subject.layer is None:
        return None
    siblings = facts.survey.siblings.get((subject.kind, subject.block), frozenset())
    if (
        words_of(subject.block) & modules.LINEAR_WORDS
        or "linear_attn" in subject.block
        or siblings & modules.LINEAR_MARKS
    ):
        return Verdict(Role.LINEAR_ATTENTION, ONE, "linear-attention")
    return None


def attention(subject: Subject, facts: Facts) -> Verdict | None:
    """Attention blocks."""
    siblings = facts.survey.siblings.get((subject.kind, subject.block), frozenset())
    if subject.pattern.path.inner_words & modules.ATTENTION_WORDS or (
        subject.layer is not None and modules.is_attention(subject.block, siblings)
    ):
        return Verdict(Role.ATTENTION, ONE, "attention")
    return None


def feed_forward(subject: Subject, _: Facts) -> Verdict | None:
    """Feed-forward blocks and their gates."""
    if (
        subject.pattern.path.inner_words & modules.FEED_FORWARD_WORDS
        or subject.layer is not None
        and subject.block == "mixer"
    ):
        return Verdict(Role.MLP, ONE, "feed-forward")
    return None


def unclassified(_: Subject, __: Facts) -> Verdict:
    """No rule knows it: counted once, and named in a warning."""
    return Verdict(Role.OTHER, ONE, "unclassified")


def _ngram(words: frozenset[str]) -> bool:
    return bool(words & {"ngram", "engram"})


_ORDER = (
    Rule("not-a-weight", "Not a weight: a table of rotary frequencies or a mask that the runtime computes itself.", not_a_weight),
    Rule("draft-module", "A multi-token prediction or draft module: plain decode never reads it.", draft_module),
    Rule("draft-layer", "A layer beyond the model's own depth predicts further tokens: plain decode never reads it.", draft_layer),
    Rule("vocabulary-head", "The output head is multiplied by every token: the whole matrix is read.", vocabulary_matrix),
    Rule("modality", "A vision, audio or projector module: text decode never reads it.", modality),
    Rule("beside-language-model", "Stands outside the language model of a multimodal checkpoint: text decode never reads it.", beside_language_model),
    Rule("lookup-table", "A table that is looked up: one row per token.", lookup_table),
    Rule("routed-expert", "A routed expert: k of E are read per token.", routed_expert),
    Rule("shared-expert", "A shared expert is read by every token.", shared_expert),
    Rule("router", "The router scores all experts: read whole.", router),
    Rule("dead-kv", "The layer uses an earlier layer's keys and values: its own projections are never read.", dead_kv),
    Rule("sparse-indexer", "A sparse attention's indexer: idle until the context passes its threshold.", sparse_indexer),
    Rule("norm", "A normalisation weight, read once per token.", norm),
    Rule("linear-attention", "A linear attention, state-space or convolution weight, read once per token.", linear_attention),
    Rule("attention", "An attention weight, read once per token.", attention),
    Rule("feed-forward", "A feed-forward weight, read once per token.", feed_forward),
    Rule("unclassified", "No rule knows this tensor: counted once, and named in a warning.", unclassified),
)  # fmt: skip

_NAMED = (
    Rule("tied-embedding", "The embedding is also the output head: the whole matrix is read."),
    Rule("input-embedding", "The input embedding is looked up: one row per token."),
    Rule("unused-head", "A head beside a tied embedding: one of the two is read, and this one is not."),
    Rule("vision-module", "A vision module: text decode never reads it."),
    Rule("audio-module", "An audio module: text decode never reads it."),
    Rule("projector-module", "A projector from another modality: text decode never reads it."),
    Rule("position-table", "A position table is looked up: one row per token."),
    Rule("expert-vector", "One number per expert, gathered for the chosen k of E."),
    Rule("looped", "The layer stack runs several times per token, and reads this weight each time."),
    Rule("override", "Set by an override, with its reason."),
)

RULES: Mapping[str, Rule] = {rule.id: rule for rule in (*_ORDER, *_NAMED)}


def judge(subject: Subject, facts: Facts) -> Verdict:
    """Ask the rules in their order."""
    for rule in _ORDER:
        if rule.judge is not None and (verdict := rule.judge(subject, facts)) is not None:
            return verdict
    return unclassified(subject, facts)
