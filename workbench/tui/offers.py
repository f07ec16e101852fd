"""The bandwidth figures that are known of this machine, as a list to choose from. Pure."""

from dataclasses import dataclass

from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.protocol.bandwidths import KnownFigures


@dataclass(frozen=True, slots=True)
class Offer:
    """One line to choose: `figures` are what it puts on the desk, the principal one first."""

    name: str
    source: str
    figures: tuple[BandwidthFigure, ...]


def offers_of(known: KnownFigures) -> list[Offer]:
    """Every known figure as the principal one, the others behind it; the candidates of an uncertain chip."""
    listed = [
        Offer(one.name, one.source, (one, *_of_other_kinds(known.figures, one))) for one in known.figures
    ]
    for candidate in known.candidates:
        first = candidate.figures[0]
        rest = _of_other_kinds((*candidate.figures, *known.figures), first)
        listed.append(Offer(f"{first.name}: {candidate.label}", first.source, (first, *rest)))
    return listed


def _of_other_kinds(
    figures: tuple[BandwidthFigure, ...], principal: BandwidthFigure
) -> tuple[BandwidthFigure, ...]:
    """The first figure of each other kind: two ceilings of one kind would be told apart by nothing."""
    kept: dict[BandwidthKind, BandwidthFigure] = {}
    for one in figures:
        if one.kind is not principal.kind:
            kept.setdefault(one.kind, one)
    return tuple(kept.values())
