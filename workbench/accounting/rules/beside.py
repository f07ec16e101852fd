"""Rules for what stands beside the language model: buffers, drafts, towers, projectors, encoders."""

from workbench.accounting.modules import is_draft, is_norm, modality
from workbench.accounting.names import words_of
from workbench.accounting.roles import Role
from workbench.accounting.rules.rule import Facts, Subject, rule
from workbench.accounting.survey import is_decoder
from workbench.accounting.verdict import Verdict, unread, whole
from workbench.accounting.vocabulary import HEAD_NAMES

ENCODED = frozenset({"k", "v", "k_proj", "v_proj", "cross_attn_k", "cross_attn_v"})
BUFFERS = frozenset({"inv_freq", "masked_bias", "position_ids", "rotary_emb", "cos_cached", "sin_cached"})


@rule("not-a-weight", "A table or mask that the runtime computes itself: it is not even loaded.")
def not_a_weight(subject: Subject, _: Facts) -> Verdict | None:
    """Rotary frequencies by name; causal masks by their square last dimensions."""
    last, shape = subject.path.segments[-1], subject.shape
    square = len(shape) >= 3 and shape[-1] == shape[-2] > 1
    mask = square and (last == "bias" or "mask" in words_of(last))
    return unread(Role.POSITION) if mask or last in BUFFERS else None


@rule("rotary-factors", "Factors of the rotary embedding: every token reads them.")
def rotary_factors(subject: Subject, _: Facts) -> Verdict | None:
    """What GGUF stores beside the layers."""
    return whole(Role.POSITION) if subject.path.last.startswith(("rope_freqs", "rope_factors")) else None


@rule("draft-module", "A multi-token prediction or draft module: plain decode never reads it.")
def draft_module(subject: Subject, _: Facts) -> Verdict | None:
    """`mtp`, `nextn`, `eh_proj` and their kin as whole words of a segment."""
    return unread(Role.DRAFT) if is_draft(subject.path) else None


@rule("draft-layer", "A layer beyond the model's depth predicts further tokens: plain decode never reads it.")
def draft_layer(subject: Subject, _: Facts) -> Verdict | None:
    """By position: layer N of a stack that the config says has N layers."""
    return unread(Role.DRAFT) if subject.beyond else None


@rule("projector-module", "A projector from another modality: text decode never reads it.")
def projector_module(subject: Subject, _: Facts) -> Verdict | None:
    """By whole path segments."""
    return unread(Role.PROJECTOR) if modality(subject.path) is Role.PROJECTOR else None


@rule("vision-module", "A vision module: text decode never reads it.")
def vision_module(subject: Subject, _: Facts) -> Verdict | None:
    """By whole path segments."""
    return unread(Role.VISION) if modality(subject.path) is Role.VISION else None


@rule("audio-module", "An audio module: text decode never reads it.")
def audio_module(subject: Subject, _: Facts) -> Verdict | None:
    """By whole path segments."""
    return unread(Role.AUDIO) if modality(subject.path) is Role.AUDIO else None


@rule("cross-attention-layer", "A cross-attention layer is skipped when there is no image.")
def cross_attention_layer(subject: Subject, facts: Facts) -> Verdict | None:
    """By the config's list of such layers."""
    crossing = facts.config.cross_attention_layers
    return unread(Role.VISION) if subject.main and subject.layer in crossing else None


@rule("encoder", "An encoder runs once per prompt: decode never reads it.")
def encoder(subject: Subject, facts: Facts) -> Verdict | None:
    """Only beside a decoder; some decoders are called encoder."""
    encodes = not {"encoder", "enc"}.isdisjoint(subject.path.segments)
    return unread(Role.OTHER, loaded=True) if encodes and is_decoder(facts.survey.stack) else None


@rule(
    "cross-attention-keys",
    "Makes keys and values of what was encoded, once per prompt: decode never reads it.",
)
def cross_attention_keys(subject: Subject, facts: Facts) -> Verdict | None:
    """The projections of a decoder's attention to its encoder, by their names."""
    path = subject.path
    crosses = "EncDecAttention" in path.inside or not path.inner_words.isdisjoint({"encoder", "cross"})
    if path.last in ENCODED and crosses and is_decoder(facts.survey.stack):
        return unread(Role.ATTENTION, loaded=True)
    return None


@rule(
    "beside-language-model", "Outside the language model of a multimodal checkpoint: decode never reads it."
)
def beside_language_model(subject: Subject, facts: Facts) -> Verdict | None:
    """By structure: not under the segment of the decoder stack. A head may stand by itself."""
    root, path = facts.survey.root, subject.path
    if not facts.config.modalities or path.segments[0] in HEAD_NAMES:
        return None
    first, _, inner = facts.survey.stack.partition(".")
    if root:
        outside = root not in path.segments
    else:
        final_norm = len(path.module) == 1 and is_norm(path.last)
        outside = bool(inner) and path.segments[0] != first and not final_norm
    return unread(Role.PROJECTOR) if outside else None
