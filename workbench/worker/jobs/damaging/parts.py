"""A group of tensors divided by what the graph says of them, so that every claim of the graph is tried."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.witness.result import TensorRead
from workbench.worker.jobs.tracing.headers import Header
from workbench.worker.jobs.tracing.loading import Built

Rows = frozenset[int] | None
"""Rows of a tensor's first axis; None is the whole tensor."""

EXPECTED = {
    "read": True,
    "chosen experts": True,
    "other experts": False,
    "looked-up rows": True,
    "other rows": False,
    "never read": False,
    "not loaded": False,
}
"""The parts, and whether damage to them should move a logit."""

_BY_KIND = {
    "full": ("read", "read"),
    "experts": ("chosen experts", "other experts"),
    "lookup": ("looked-up rows", "other rows"),
    "never": ("never read", "never read"),
    "dropped": ("not loaded", "not loaded"),
}


@dataclass(slots=True)
class Part:
    """Tensors (or rows of them) that are damaged together."""

    label: str
    part: str
    rows: dict[str, Rows] = field(default_factory=dict)
    damaged_bytes: int = 0


def divide(
    groups: Mapping[str, Sequence[str]],
    headers: Mapping[str, Header],
    reads: Mapping[str, TensorRead],
    built: Built,
    chosen: Mapping[str, frozenset[int]],
) -> list[Part]:
    """The groups' parts, in the order of the groups and of EXPECTED; empty parts are left out."""
    parts: dict[tuple[str, str], Part] = {}
    places = _places(built, chosen)
    for label, names in groups.items():
        for name in names:
            if name not in headers:
                continue
            for part, rows in _split(headers[name], reads[name].kind, places.get(name)):
                entry = parts.setdefault((label, part), Part(label, part))
                entry.rows[name] = rows
                of = 1.0 if rows is None else len(rows) / headers[name].shape[0]
                entry.damaged_bytes += int(headers[name].nbytes * of)
    order = list(EXPECTED)
    labels = list(groups)
    return sorted(parts.values(), key=lambda part: (labels.index(part.label), order.index(part.part)))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tensor went in an indexed parameter: it is the whole of it, or its row number `row`."""

    length: int  # rows of the parameter
    row: int | None
    chosen: frozenset[int]


def _places(built: Built, chosen: Mapping[str, frozenset[int]]) -> dict[str, _Place]:
    """For every tensor in a module whose indices were noted: its place there.

    Tensors of one expert each were stacked in the order of the experts, which is the order of the origins.
    """
    from mlx.utils import tree_flatten

    places = {}
    lengths = {name: array.shape[0] for name, array in tree_flatten(built.model.parameters()) if array.ndim}
    for parameter, origin in built.origins.items():
        module = parameter.rpartition(".")[0]
        length = lengths.get(parameter, 0)
        if module not in chosen or not length:
            continue
        per_row, rest = divmod(len(origin), length)
        for position, tensor in enumerate(origin):
            row = position // per_row if per_row and not rest else None
            places[tensor] = _Place(length, row if len(origin) > 1 else None, chosen[module])
    return places


def _split(header: Header, kind: str, place: _Place | None) -> Iterator[tuple[str, Rows]]:
    hit, missed = _BY_KIND[kind]
    if hit == missed or place is None:
        yield hit, None
    elif place.row is not None:
        yield (hit if place.row in place.chosen else missed), None
    elif header.shape and header.shape[0] == place.length:
        yield hit, place.chosen
        if others := frozenset(range(place.length)) - place.chosen:
            yield missed, others
    else:
        yield hit, None
