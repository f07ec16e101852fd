"""Samples and traces made to measure for the energy tests: a source whose true power is known."""

from collections.abc import Callable, Sequence

from workbench.power.meter import RowTrace, Trace
from workbench.power.source import Method, Row, Sample, watts_of

S = 1_000_000_000
T0 = 50 * S


def row(
    method: Method = Method.COUNTER,
    *,
    key: str = "made",
    parts: tuple[str, ...] = ("cpu", "gpu", "ane"),
    cadence_s: float = 0.25,
    watched: tuple[str, ...] = ("cpu", "gpu"),
    whole_machine: bool = False,
    source: str | None = None,
) -> Row:
    return Row(
        key=key,
        source=source or key,
        area="whole machine" if whole_machine else "SoC",
        kind="made",
        parts=parts,
        method=method,
        cadence_s=cadence_s,
        watched=watched,
        whole_machine=whole_machine,
    )


def counted(
    elapsed_ns: Sequence[int],
    rails_w: dict[str, float] | Callable[[int, int], dict[str, float]],
    start_ns: int = T0,
    late_ns: Sequence[int] | None = None,
) -> list[Sample]:
    """Documents one after the other from `start_ns`; watts given, or a function of (start_ns, end_ns)."""
    samples = []
    at_ns = start_ns
    for index, elapsed in enumerate(elapsed_ns):
        watts = rails_w(at_ns, at_ns + elapsed) if callable(rails_w) else rails_w
        at_ns += elapsed
        energy_mj = {rail: w * elapsed / 1e6 for rail, w in watts.items()}
        shown = {rail: watts_of(mj, elapsed) for rail, mj in energy_mj.items()}
        delay = late_ns[index] if late_ns else 0
        samples.append(Sample(at_ns + delay, shown, elapsed, energy_mj))
    return samples


def every(interval_ns: int, count: int, rails_w: dict[str, float], start_ns: int = T0) -> list[Sample]:
    """`count` documents of `interval_ns` each."""
    return counted([interval_ns] * count, rails_w, start_ns)


def points(times_ns: Sequence[int], rails_w: Callable[[int], dict[str, float]]) -> list[Sample]:
    """Watts at these moments."""
    return [Sample(at_ns, rails_w(at_ns)) for at_ns in times_ns]


def steady(interval_ns: int, count: int, rails_w: dict[str, float], start_ns: int = T0) -> list[Sample]:
    """`count` equal readings, one every `interval_ns`."""
    return points([start_ns + index * interval_ns for index in range(count)], lambda _: dict(rails_w))


def trace(*rows: tuple[Row, Sequence[Sample]]) -> Trace:
    return Trace(tuple(RowTrace(one, tuple(samples)) for one, samples in rows))
