"""Tensor names taken apart: path segments, their words, the numbered list they stand in, the parameter.

A name is untrusted text; nothing here raises. No rule lives here, only how to read a path.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

PARAMETERS = frozenset(
    {
        "weight", "bias", "scales", "biases", "scale", "global_scale", "blocks",
        "qweight", "qzeros", "g_idx", "qscale_weight", "qscale_act",
        "weight_scale", "weight_scale_inv", "weight_scale_2", "weight_packed", "weight_shape",
        "weight_zero_point", "weight_g_idx", "weight_global_scale",
        "input_scale", "input_global_scale", "activation_scale", "lora_a", "lora_b",
    }
)  # fmt: skip
"""Last segments that name a part of a module's weight; any other last segment is the module itself."""
WEIGHTS = frozenset({"", "weight", "qweight", "weight_packed"})
"""Parameters that are a module's weight itself."""

_INDEX = re.compile(r"\.([0-9]{1,9})(?=\.|$)")


def folded(name: str) -> str:
    """The name with its list indices left out: equal for all layers and all experts."""
    return _INDEX.sub(".#", name)


def at_first_index(name: str) -> list[str]:
    """What stands before the first list index, the index, and what follows; the name alone without one."""
    return _INDEX.split(name, 1)


@lru_cache(maxsize=8192)
def words_of(segment: str) -> frozenset[str]:
    """A segment's words in lower case: `mtp_layers` is {mtp, layers}, `norm_1` is {norm}."""
    return frozenset(word.rstrip("0123456789") for word in segment.lower().split("_")) - {""}


def is_index(segment: str) -> bool:
    """Whether a path segment is a plain list index."""
    return segment.isascii() and segment.isdecimal() and len(segment) < 10


@dataclass(frozen=True)
class Path:
    """One name's parts. `position` is where its first list index stands in `segments`, None without one."""

    name: str
    segments: tuple[str, ...]
    position: int | None

    @cached_property
    def parameter(self) -> str:
        """`weight`, `scales`, ... or an empty string where the last segment is the module itself."""
        return self.segments[-1] if len(self.segments) > 1 and self.segments[-1] in PARAMETERS else ""

    @cached_property
    def module(self) -> tuple[str, ...]:
        """The segments without the parameter."""
        return self.segments[:-1] if self.parameter else self.segments

    @cached_property
    def stack(self) -> str:
        """The path of the numbered list that the tensor stands in, for example `model.layers`; or empty."""
        return "" if self.position is None else ".".join(self.segments[: self.position])

    @cached_property
    def inner_position(self) -> int | None:
        """Where the index of a list inside the layer stands (an expert's number), None without one."""
        if self.position is None:
            return None
        after = enumerate(self.segments[self.position + 1 :], self.position + 1)
        return next((i for i, segment in after if is_index(segment)), None)

    @cached_property
    def inside(self) -> tuple[str, ...]:
        """The module's segments after the layer's index (all of them outside a list)."""
        return self.module if self.position is None else self.module[self.position + 1 :]

    @cached_property
    def block(self) -> str:
        """The layer's part that the tensor stands in, for example `self_attn`."""
        return self.inside[0] if self.inside else ""

    @cached_property
    def last(self) -> str:
        """The module's last segment that is not an index."""
        return next((segment for segment in reversed(self.module) if not is_index(segment)), "")

    @cached_property
    def inner_words(self) -> frozenset[str]:
        """All words of `inside`."""
        return frozenset[str]().union(*map(words_of, self.inside))


def path_of(name: str) -> Path:
    """Take a name apart. GGUF's `blk.0` and Hugging Face's `model.layers.0` read alike."""
    segments = tuple(name.split("."))
    position = next((i for i, segment in enumerate(segments) if i and is_index(segment)), None)
    return Path(name, segments, position)
