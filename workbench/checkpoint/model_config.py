"""config.json (or GGUF metadata) as a typed view: how many layers, experts, vocabulary rows, which ties.

Only what a configuration says; what the headers say is the accounting room's business. Values of the wrong
type are treated as absent: a hostile config never raises here.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from workbench.checkpoint.config_keys import (
    EXPERT_KEYS,
    EXPERTS_PER_TOKEN_KEYS,
    GGUF_KEYS,
    HIDDEN_KEYS,
    LAYER_KEYS,
    LOOP_KEYS,
    MODALITY_WORDS,
    NEXTN_KEYS,
    SHARED_EXPERT_KEYS,
    TEXT_CONFIG_KEYS,
    TIE_KEYS,
    VOCABULARY_KEYS,
)


class Quantization(NamedTuple):
    """How config.json says the weights are stored; None where it does not. `mixed`: layers differ."""

    bits: int | None
    group_size: int | None
    mode: str
    mixed: bool


class ModelConfig(NamedTuple):
    """What a configuration says of the language model. None = it does not say.

    `layers` is the depth of the decoder stack (without next-n layers); `empty_layers` are those that hold no
    weights. `experts` is E, `experts_per_token` k, and `experts_per_token_said` what each of its keys says;
    `experts_listed` are the values where the config gives E per layer or per modality; `zero_experts` are
    router rows without weights. `tie` is None where the config is silent or contradicts itself
    (`tie_conflict`). `loops` is how often the stack runs per token (`loops_assumed`: the config speaks of
    loops without their number). `modalities`: the config describes a vision or audio part, or nests its
    language model as one part of several.
    `text` is the language model's own mapping, for readers that need more.
    """

    model_type: str = ""
    architecture: str = ""
    layers: int | None = None
    hidden: int | None = None
    vocab: int | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    experts_per_token_said: tuple[int, ...] = ()
    experts_listed: tuple[int, ...] = ()
    shared_experts: int = 0
    zero_experts: int = 0
    tie: bool | None = None
    tie_conflict: bool = False
    nextn_layers: int = 0
    kv_shared_layers: int = 0
    loops: int = 1
    loops_assumed: bool = False
    empty_layers: frozenset[int] = frozenset()
    cross_attention_layers: frozenset[int] = frozenset()
    modalities: bool = False
    quantization: Quantization | None = None
    text: Mapping[str, Any] = MappingProxyType({})

    @property
    def experts_by_modality(self) -> bool:
        """Whether E is given twice: for the language's tokens, and for another modality's."""
        return len(self.experts_listed) == 2 != self.layers


def view(config: Mapping[str, Any]) -> ModelConfig:
    """The typed view of a config.json, nested or flat."""
    text = text_config(config)
    layers = [value for key in LAYER_KEYS if (value := as_int(text.get(key))) is not None and value > 0]
    experts, listed = _experts(text)
    tie, conflict = _tie(config, text)
    loops, assumed = _loops(text)
    architectures = config.get("architectures") or text.get("architectures")
    return ModelConfig(
        model_type=_text(config.get("model_type")) or _text(text.get("model_type")),
        architecture=_text(architectures[0]) if isinstance(architectures, list) and architectures else "",
        layers=max(layers, default=None),
        hidden=first_int(text, HIDDEN_KEYS),
        vocab=first_int(text, VOCABULARY_KEYS) or first_int(config, VOCABULARY_KEYS),
        experts=experts,
        experts_per_token=_experts_per_token(text),
        experts_per_token_said=tuple(
            k for key in EXPERTS_PER_TOKEN_KEYS if (k := as_int(text.get(key))) is not None
        ),
        experts_listed=listed,
        shared_experts=_shared_experts(text),
        zero_experts=max(0, as_int(text.get("zero_expert_num")) or 0),
        tie=tie,
        tie_conflict=conflict,
        nextn_layers=max(0, first_int(text, NEXTN_KEYS) or 0),
        kv_shared_layers=max(0, as_int(text.get("num_kv_shared_layers")) or 0),
        loops=loops,
        loops_assumed=assumed,
        empty_layers=_empty_layers(text),
        cross_attention_layers=frozenset(ints(text.get("cross_attention_layers"))),
        modalities=_modalities(text, text is not config),
        quantization=_quantization(config, text),
        text=MappingProxyType(dict(text)),
    )


def view_gguf(metadata: Mapping[str, Any]) -> ModelConfig:
    """The typed view of GGUF metadata (`<architecture>.block_count` and its siblings)."""
    arch = _text(metadata.get("general.architecture"))

    def get(key: str) -> Any:
        return metadata.get(f"{arch}.{key}")

    blocks = as_int(get("block_count"))
    nextn = max(0, as_int(get("nextn_predict_layers")) or 0)
    tokens = metadata.get("tokenizer.ggml.tokens")
    vocab = as_int(get("vocab_size"))
    if vocab is None and isinstance(tokens, Sequence) and not isinstance(tokens, str | bytes):
        vocab = len(tokens)
    return ModelConfig(
        model_type=arch,
        architecture=arch,
        layers=None if blocks is None else max(0, blocks - nextn) or None,
        hidden=as_int(get("embedding_length")),
        vocab=vocab,
        experts=as_int(get("expert_count")),
        experts_per_token=as_int(get("expert_used_count")),
        nextn_layers=nextn,
        kv_shared_layers=max(0, as_int(get("attention.shared_kv_layers")) or 0),
        text=MappingProxyType(_gguf_text(metadata, arch)),
    )


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The language model's configuration: the nested one over the top level's values, or the flat one."""
    for key in TEXT_CONFIG_KEYS:
        nested = config.get(key)
        if isinstance(nested, Mapping):
            inner = text_config(nested)
            if key == "thinker_config" or any(k in inner for k in (*LAYER_KEYS, *HIDDEN_KEYS)):
                return {**config, **inner}
    return config


def as_int(value: Any) -> int | None:
    """`value` as an integer if it is one (3, 3.0), else None; booleans are not numbers."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def ints(value: Any) -> Iterator[int]:
    """The integers of a list value; nothing for anything else."""
    if isinstance(value, list | tuple):
        for item in value:
            if (number := as_int(item)) is not None:
                yield number


def first_int(config: Mapping[str, Any], keys: Sequence[str], index: int | None = None) -> int | None:
    """The first of `keys` that holds an integer; with `index`, a list's entry for that layer counts too."""
    for key in keys:
        value = config.get(key)
        if index is not None and isinstance(value, list) and index < len(value):
            value = value[index]
        if (number := as_int(value)) is not None:
            return number
    return None


def _modalities(text: Mapping[str, Any], nested: bool) -> bool:
    """Whether the language model is one part of several; a text_config by itself (a draft's, say) is not."""
    told = [key for key in text if not MODALITY_WORDS.isdisjoint(str(key).lower().split("_"))]
    parts = {
        key for key, value in text.items() if isinstance(value, Mapping) and str(key).endswith("_config")
    }
    alone = "text_config" in text and not told and parts <= {"text_config", "quantization_config"}
    return (nested and not alone) or any(isinstance(text[key], Mapping) for key in told)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _moe_parts(text: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield text
    for key in ("ffn_config", "moe_config", "moe"):
        nested = text.get(key)
        if isinstance(nested, Mapping):
            yield nested


def _experts(text: Mapping[str, Any]) -> tuple[int | None, tuple[int, ...]]:
    for part in _moe_parts(text):
        for key in EXPERT_KEYS:
            if (value := as_int(part.get(key))) is not None:
                widths = part.get("moe_intermediate_size")
                by_modality = isinstance(widths, list) and len(widths) == 2
                return value, (value, value) if by_modality else ()
            if listed := tuple(ints(part.get(key))):
                return max(listed), listed
    return None, ()


def _experts_per_token(text: Mapping[str, Any]) -> int | None:
    for part in _moe_parts(text):
        for key in EXPERTS_PER_TOKEN_KEYS:
            if (value := as_int(part.get(key))) is not None:
                return value
            if listed := set(ints(part.get(key))):
                return listed.pop() if len(listed) == 1 else None
    return None


def _shared_experts(text: Mapping[str, Any]) -> int:
    """Their number; one where only its width is given."""
    said = first_int(text, SHARED_EXPERT_KEYS)
    return max(0, said) if said is not None else int((as_int(text.get("shared_intermediate_size")) or 0) > 0)


def _tie(config: Mapping[str, Any], text: Mapping[str, Any]) -> tuple[bool | None, bool]:
    nested = [value for key in TEXT_CONFIG_KEYS if isinstance(value := config.get(key), Mapping)]
    flags = {
        bool(value)
        for part in (config, text, *nested)
        for key in TIE_KEYS
        if isinstance(value := part.get(key), bool | int)
    }
    if len(flags) == 1:
        return flags.pop(), False
    return None, len(flags) > 1


def _loops(text: Mapping[str, Any]) -> tuple[int, bool]:
    losses = text.get("loop_loss_weights")
    if isinstance(losses, list) and losses:
        return len(losses) + 1, False
    loops = first_int(text, LOOP_KEYS)
    if loops is not None:
        return max(1, loops), False
    if as_int(text.get("loop_window_size")) is not None:
        return 2, True
    return 1, False


def _empty_layers(text: Mapping[str, Any]) -> frozenset[int]:
    """Layers whose attention and feed-forward a pruned architecture's `block_configs` both switch off."""
    blocks = text.get("block_configs")
    return frozenset(
        index
        for index, block in enumerate(blocks if isinstance(blocks, list) else [])
        if isinstance(block, Mapping)
        and all(
            isinstance(part := block.get(key), Mapping) and part.get("no_op") is True
            for key in ("attention", "ffn")
        )
    )


def _quantization(config: Mapping[str, Any], text: Mapping[str, Any]) -> Quantization | None:
    for part in (config, text):
        for key in ("quantization", "quantization_config", "compression_config"):
            found = part.get(key)
            if isinstance(found, Mapping) and found:
                return _quantization_of(found)
    return None


def _quantization_of(found: Mapping[str, Any]) -> Quantization:
    bits = as_int(found.get("bits"))
    group_size = as_int(found.get("group_size"))
    overrides = [value for value in found.values() if isinstance(value, Mapping) and "bits" in value]
    exempt = any(value is False for key, value in found.items() if "." in key)
    mixed = exempt or any(
        (value.get("bits"), value.get("group_size", group_size)) != (bits, group_size) for value in overrides
    )
    mode = _text(found.get("mode")) or _text(found.get("quant_method"))
    if not mode and bits is not None:
        mode = "affine"
    return Quantization(bits, group_size, mode, mixed)


def _gguf_text(metadata: Mapping[str, Any], arch: str) -> dict[str, Any]:
    """GGUF keys under the names that Hugging Face configurations use."""
    found = {
        ours: metadata[f"{arch}.{theirs}"]
        for theirs, ours in GGUF_KEYS.items()
        if f"{arch}.{theirs}" in metadata
    }
    return {"model_type": arch, **found}
