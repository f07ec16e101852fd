"""Energy over a window, by pure arithmetic: counters with a share of the two edge documents, or trapezoids.

Both refuse, in words, when the samples do not bracket the window or leave a gap in it. Times are
`perf_counter_ns` of the sampling process; energy is in joules.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from workbench.power.source import Method, Row, Sample

MAX_GAP_INTERVALS = 2.5
NEIGHBOURS = 4  # documents on each side that may show that one was merely read late


@dataclass(frozen=True, slots=True)
class Integral:
    """One row over one window.

    `mean_w` is the mean of the samples inside the window, reached without the edges: an independent way to
    the same power. `edge_s` is how many seconds of energy the edges may be wrong by. `partial` rails were
    missing from some samples and have no energy. When `refused` says why, there are no figures.
    """

    rails_j: dict[str, float] = field(default_factory=dict)
    mean_w: float | None = None
    inside: int = 0
    interval_s: float | None = None
    edge_s: float = 0.0
    partial: tuple[str, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A counted interval on the clock: `rails_mj` from `start_ns` to `end_ns`; read `late_ns` after that."""

    start_ns: int
    end_ns: int
    rails_mj: dict[str, float]
    late_ns: int

    def share(self, start_ns: int, end_ns: int) -> float:
        """How much of this document lies in the window, 0 to 1."""
        inside_ns = min(self.end_ns, end_ns) - max(self.start_ns, start_ns)
        return max(0, inside_ns) / (self.end_ns - self.start_ns)


def integrate(row: Row, samples: Sequence[Sample], start_ns: int, end_ns: int) -> Integral:
    """Energy of `row` from `start_ns` to `end_ns` by the row's own method."""
    if end_ns <= start_ns:
        return Integral(refused="the window is empty")
    if not samples:
        return Integral(refused="no samples")
    if row.method is Method.COUNTER:
        return counted(row, samples, start_ns, end_ns)
    return trapezoid(row, samples, start_ns, end_ns)


def counted(row: Row, samples: Sequence[Sample], start_ns: int, end_ns: int) -> Integral:
    """Documents wholly inside, and of the two at the edges the share of their time that lies inside."""
    run = _run_around(samples, start_ns, end_ns)
    if isinstance(run, str):
        return Integral(refused=run)
    touched = [document for document in run if document.end_ns > start_ns and document.start_ns < end_ns]
    interval_ns = median(document.end_ns - document.start_ns for document in touched)
    if _late_by_a_document(run, interval_ns):
        return Integral(refused="the documents do not cover the window's time: one is missing")
    rails, partial = _common_rails(document.rails_mj for document in touched)
    inside = [d for d in touched if d.start_ns >= start_ns and d.end_ns <= end_ns]
    rails_j = {
        rail: sum(d.rails_mj[rail] * d.share(start_ns, end_ns) for d in touched) / 1e3 for rail in rails
    }
    parts = [rail for rail in row.parts if rail in rails]
    published_ns = max(
        (_published_every_ns(touched, rail) for rail in parts if rail in row.watched), default=0
    )
    edge_ns = max(*(d.end_ns - d.start_ns for d in (touched[0], touched[-1])), published_ns)
    late_ns = median(document.late_ns for document in touched)
    return Integral(
        rails_j=rails_j,
        mean_w=_mean_of_documents(inside or touched, parts),
        inside=len(inside),
        interval_s=interval_ns / 1e9,
        edge_s=max(row.cadence_s, edge_ns / 1e9) + late_ns / 1e9,
        partial=partial,
    )


def trapezoid(row: Row, samples: Sequence[Sample], start_ns: int, end_ns: int) -> Integral:
    """Watts integrated by the trapezoid rule, clipped to the window, which samples must bracket."""
    points = sorted(samples, key=lambda sample: sample.at_ns)
    before = [index for index, point in enumerate(points) if point.at_ns <= start_ns]
    after = [index for index, point in enumerate(points) if point.at_ns >= end_ns]
    if not before or not after:
        return Integral(refused=_not_bracketed(points[0].at_ns, points[-1].at_ns, start_ns, end_ns))
    used = points[before[-1] : after[0] + 1]
    gaps_ns = [b.at_ns - a.at_ns for a, b in pairwise(used)]
    interval_ns = median(gaps_ns) if gaps_ns else 0.0
    if gaps_ns and max(gaps_ns) > MAX_GAP_INTERVALS * interval_ns:
        gap, usual = max(gaps_ns) / 1e9, interval_ns / 1e9
        return Integral(refused=f"a gap of {gap:.2f} s between samples that come every {usual:.2f} s")
    rails, partial = _common_rails(point.rails_w for point in used)
    inside = [point for point in used if start_ns <= point.at_ns <= end_ns]
    parts = [rail for rail in row.parts if rail in rails]
    watts = [sum(point.rails_w[rail] for rail in parts) for point in (inside or used)]
    return Integral(
        rails_j={rail: _area_j(used, rail, start_ns, end_ns) for rail in rails},
        mean_w=sum(watts) / len(watts) if parts else None,
        inside=len(inside),
        interval_s=interval_ns / 1e9,
        edge_s=max(row.cadence_s, interval_ns / 1e9),
        partial=partial,
    )


def placed(samples: Sequence[Sample]) -> list[Document]:
    """One unbroken run of documents on the clock.

    They follow each other without a gap, and none ends after it arrived: the run is laid so that the most
    punctual one ends at its arrival. A document that was read late moves nothing.
    """
    ends_ns = []
    end_ns = 0
    for sample in samples:
        end_ns += sample.elapsed_ns
        ends_ns.append(end_ns)
    offset_ns = min((s.at_ns - end for s, end in zip(samples, ends_ns, strict=True)), default=0)
    return [
        Document(
            start_ns=offset_ns + end - sample.elapsed_ns,
            end_ns=offset_ns + end,
            rails_mj=dict(sample.rails_mj),
            late_ns=sample.at_ns - offset_ns - end,
        )
        for sample, end in zip(samples, ends_ns, strict=True)
    ]


def _run_around(samples: Sequence[Sample], start_ns: int, end_ns: int) -> list[Document] | str:
    """The unbroken run of documents around the window, or why there is none.

    Only documents near the window take part: should the documents leave a little time out, they still lie
    right here, and the rest shows as lateness.
    """
    margin_ns = (2 * NEIGHBOURS + 1) * max((sample.elapsed_ns for sample in samples), default=0)
    runs: list[list[Sample]] = []
    for sample in samples:
        if sample.elapsed_ns <= 0 or not start_ns - margin_ns <= sample.at_ns <= end_ns + margin_ns:
            continue
        if sample.after_loss or not runs:
            runs.append([])
        runs[-1].append(sample)
    laid = [placed(run) for run in runs]
    for run in laid:
        if run[0].start_ns <= start_ns and run[-1].end_ns >= end_ns:
            return run
    if not laid:
        return "no samples near the window"
    first_ns, last_ns = laid[0][0].start_ns, laid[-1][-1].end_ns
    if first_ns <= start_ns and last_ns >= end_ns:
        return "a document inside the window was damaged or lost"
    return _not_bracketed(first_ns, last_ns, start_ns, end_ns)


def _not_bracketed(first_ns: int, last_ns: int, start_ns: int, end_ns: int) -> str:
    if first_ns > start_ns:
        return f"the samples begin {(first_ns - start_ns) / 1e9:.2f} s after the window does"
    return f"the samples end {(end_ns - last_ns) / 1e9:.2f} s before the window does"


def _late_by_a_document(run: list[Document], interval_ns: float) -> bool:
    """Whether from some document on all arrive later than those before, by most of an interval.

    One that was merely read late has punctual neighbours. The last document alone proves nothing.
    """
    late_ns = [document.late_ns for document in run]
    for index in range(1, len(run) - 1):
        before = min(late_ns[max(0, index - NEIGHBOURS) : index])
        after = min(late_ns[index : index + NEIGHBOURS])
        if after - before > 0.75 * interval_ns:
            return True
    return False


def _published_every_ns(documents: list[Document], rail: str) -> int:
    """How far apart a rail's new figures lie when most of its documents read 0 between batches; else 0."""
    ends_ns = [document.end_ns for document in documents if document.rails_mj[rail] > 0]
    if len(ends_ns) < 2 or len(ends_ns) > 2 / 3 * len(documents):
        return 0
    return max(b - a for a, b in pairwise(ends_ns))


def _mean_of_documents(documents: list[Document], parts: list[str]) -> float | None:
    if not parts:
        return None
    elapsed_ns = sum(document.end_ns - document.start_ns for document in documents)
    return sum(document.rails_mj[rail] for document in documents for rail in parts) * 1e6 / elapsed_ns


def _area_j(points: Sequence[Sample], rail: str, start_ns: int, end_ns: int) -> float:
    """The area under one rail between the window's edges; the ends are interpolated."""
    joules = 0.0
    for a, b in pairwise(points):
        left_ns, right_ns = max(a.at_ns, start_ns), min(b.at_ns, end_ns)
        if right_ns <= left_ns:
            continue
        slope = (b.rails_w[rail] - a.rails_w[rail]) / (b.at_ns - a.at_ns)
        middle_w = a.rails_w[rail] + slope * ((left_ns + right_ns) / 2 - a.at_ns)
        joules += middle_w * (right_ns - left_ns) / 1e9
    return joules


def _common_rails(groups: Iterable[Iterable[str]]) -> tuple[list[str], tuple[str, ...]]:
    """The rails in every sample, and those in only some."""
    sets = [set(group) for group in groups]
    everywhere = set.intersection(*sets)
    return sorted(everywhere), tuple(sorted(set.union(*sets) - everywhere))
