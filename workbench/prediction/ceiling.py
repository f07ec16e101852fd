"""The ceiling: how often per second the active weights can be read. The one place for these formulas.

Source: "The Decode Ceiling": ceiling = bandwidth / bytes per token.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class BandwidthKind(StrEnum):
    """How a bandwidth figure came to be."""

    SPEC = "spec"
    THEORETICAL = "theoretical"
    ACHIEVED = "achieved"
    STATED = "stated"


@dataclass(frozen=True, slots=True)
class BandwidthFigure:
    """GB/s (decimal) with its kind and its source in words: a number without these is a rumour."""

    gbps: float
    kind: BandwidthKind
    source: str

    @property
    def name(self) -> str:
        """How screens and records name it, for example `spec 819 GB/s`."""
        return f"{self.kind} {self.gbps:g} GB/s"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A ceiling in tok/s, named after its bandwidth figure and the rule that counted the bytes."""

    name: str
    gbps: float
    tps: float


def ceiling_tps(gbps: float, weight_bytes: int) -> float:
    """Tok/s that `gbps` GB/s allow when every token reads `weight_bytes` bytes."""
    return gbps * 1e9 / weight_bytes


def effective_gbps(tps: float, weight_bytes: int) -> float:
    """The bandwidth in GB/s that `tps` tok/s used: measured x weight bytes per token."""
    return tps * weight_bytes / 1e9


def fraction(measured_tps: float, ceiling: float) -> float:
    """Measured / a named ceiling, both in tok/s; above 1 it is a counting error."""
    return measured_tps / ceiling


def ceilings(figures: Iterable[BandwidthFigure], weight_bytes: Mapping[str, int]) -> list[Ceiling]:
    """Every figure's ceiling for every rule of `weight_bytes` ({rule: bytes per token}), in that order.

    The names read `spec 819 GB/s, count`; `figure_and_rule` takes them apart again. A rule without bytes has
    no ceiling.
    """
    return [
        Ceiling(f"{figure.name}, {rule}", figure.gbps, ceiling_tps(figure.gbps, bytes_per_token))
        for rule, bytes_per_token in weight_bytes.items()
        if bytes_per_token > 0
        for figure in figures
    ]


def figure_and_rule(name: str) -> tuple[BandwidthKind | None, str | None]:
    """The kind of bandwidth and the rule that a ceiling's name states; None where it states none."""
    figure, _, rule = name.partition(", ")
    kind = figure.split(" ", 1)[0]
    return BandwidthKind(kind) if kind in set(BandwidthKind) else None, rule or None
