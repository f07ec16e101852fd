"""What a power source is: the rows it offers, the samples it gives, and how it is opened and closed.

A row states its scope; rows of different scope stand side by side and are never added. Nothing is computed
here: arithmetic over a window is `window.py`, claims are `claim.py`.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Method(StrEnum):
    """How energy over a window comes about: summed counters, or watts integrated by the trapezoid rule."""

    COUNTER = "counter"
    TRAPEZOID = "trapezoid"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of figures and what it covers.

    `key` is the row's own name, also in records; `source` is the same for all rows of one source. `parts` are
    the rails whose sum is the row's power; `usual` those that today's systems give; `never` what the row
    cannot see at all; `watched` the rails that a running decode never leaves at exactly 0. `cadence_s` is how
    often new figures are published (not how often they are asked for).
    """

    key: str
    source: str
    area: str
    kind: str
    parts: tuple[str, ...]
    method: Method
    cadence_s: float
    is_estimate: bool = True
    needs_root: bool = False
    whole_machine: bool = False
    usual: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    tells_throttle: bool = False
    version: str | None = None
    notes: tuple[str, ...] = ()

    def scope(self, rails: Collection[str] | None = None) -> str:
        """In words, for the rails seen (at first the usual ones): `SoC CPU+GPU, Apple estimate, no DRAM`."""
        seen = rails if rails else (self.usual or self.parts)
        named = "+".join(word(rail) for rail in self.parts if rail in seen)
        absent = [word(rail) for rail in (*self.parts, *self.never) if rail not in seen]
        area = f"{self.area} {named}".strip() if len(self.parts) > 1 else self.area
        return ", ".join([area, self.kind] + ([f"no {' or '.join(absent)}"] if absent else []))

    def missing(self, rails: Collection[str]) -> list[str]:
        """Rails of this row that `rails` lacks, and what the row never sees."""
        return [rail for rail in (*self.parts, *self.never) if rail not in rails]

    @property
    def is_typed(self) -> bool:
        """One figure that a person typed: nothing new is ever published."""
        return math.isinf(self.cadence_s)

    @property
    def window_needed_s(self) -> float:
        """Seconds of steady decode that a valid claim needs: 10 s, or 20 times the cadence if more."""
        return max(10.0, round(self.cadence_s / 0.05, 3))


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading, with its monotonic arrival (`time.perf_counter_ns`).

    `rails_w` holds watts: at this instant, or the mean over the `elapsed_ns` before it when the source counts
    energy; then `rails_mj` holds the millijoules of that interval. `after_loss` marks the first sample after
    a document that arrived damaged or not at all.
    """

    at_ns: int
    rails_w: Mapping[str, float]
    elapsed_ns: int = 0
    rails_mj: Mapping[str, float] = field(default_factory=dict)
    after_loss: bool = False
    gpu_mhz: float | None = None
    thermal: str | None = None
    throttle: tuple[str, ...] = ()


def watts_of(energy_mj: float, elapsed_ns: int) -> float:
    """Mean watts of `energy_mj` millijoules over `elapsed_ns` nanoseconds."""
    return energy_mj * 1e6 / elapsed_ns


class Sink(Protocol):
    """Where an open source puts what it has; called from the source's own threads."""

    def sample(self, key: str, sample: Sample) -> None:
        """One sample of the row `key`."""

    def ended(self, why: str, key: str | None = None) -> None:
        """No more samples come (of one row, or of all): why, in words a user can act on."""

    def version(self, text: str) -> None:
        """The source's version, once known."""


class Feed(Protocol):
    """An open source."""

    def close(self) -> None:
        """Stop it and everything it started, within seconds; a second call does nothing."""


class PowerSource(Protocol):
    """One way to read power on this machine. Making one is cheap and starts nothing."""

    @property
    def name(self) -> str:
        """The word that screens and records use."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """What it can give, each with its scope."""

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """Start reading into `sink`; whatever is started ends by itself after about `limit_s` seconds."""


def word(rail: str) -> str:
    """A rail's name as words show it: `dram` -> `DRAM`, `system` -> `system`."""
    return rail.upper() if rail in {"cpu", "gpu", "ane", "dram", "psu"} else rail
