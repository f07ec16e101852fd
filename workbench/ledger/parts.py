"""The record's small parts: a file, a role's bytes, a lock, a fraction, a source's energy, a kernel's figure.

Units are in names; null where nothing was measured. What holds them together is `record`.
"""

from typing import Annotated, TypeAlias

import msgspec

Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer of 64 bits, as other programs read JSON: thousands of digits are damage, not a number."""


class Field(msgspec.Struct, frozen=True, omit_defaults=False):
    """Common form of the record's small parts."""


class FileEntry(Field, frozen=True):
    """One weight file the runtime loads."""

    name: str
    bytes: Whole


class Quantization(Field, frozen=True):
    """The quantization as config.json states it; `mixed` when layers differ."""

    bits: float | None = None
    group_size: Whole | None = None
    mode: str | None = None
    mixed: bool = False


class RoleBytes(Field, frozen=True):
    """One role's three byte totals."""

    on_disk: Whole
    resident: Whole
    per_token: Whole


class Witness(Field, frozen=True):
    """The graph's result beside the count, or why there is none."""

    bytes_per_token: Whole | None = None
    status: str = "not asked"  # agrees, differs, not witnessed, not asked
    reason: str | None = None
    at_context: Whole | None = None
    mlx_lm: str | None = None
    differs: list[str] = msgspec.field(default_factory=list)


class Warn(Field, frozen=True):
    """A finding of the reader or the count."""

    code: str
    message: str


class LockedPrediction(Field, frozen=True):
    """One lock of the run's prediction; a correction before load adds another."""

    at: str
    tps: float


class NamedPrediction(Field, frozen=True):
    """One person's number in a class round. `error` is measured / predicted - 1."""

    name: str
    tps: float
    error: float | None = None


class NamedCeiling(Field, frozen=True):
    """A ceiling with the name of its bandwidth figure and rule."""

    name: str
    gbps: float
    tps: float


class Fraction(Field, frozen=True):
    """Measured over a named ceiling; above 1 it is a counting error."""

    of: str
    value: float


class FitEstimate(Field, frozen=True):
    """What a fit over older records expected."""

    tps: float
    low: float | None
    high: float | None
    fit_id: str


class InterTokenMs(Field, frozen=True):
    """Inter-token latency in milliseconds."""

    p50: float
    p95: float
    p99: float
    max: float


class GpuClock(Field, frozen=True):
    """GPU clock in MHz over the run."""

    median: float | None = None
    min: float | None = None


class PowerReading(Field, frozen=True):
    """Energy by one source over one window, with what the source covers and what the claim is worth."""

    source: str
    scope: str
    source_version: str | None = None
    is_estimate: bool = True
    rails_j: dict[str, float] = msgspec.field(default_factory=dict)
    rails_missing: list[str] = msgspec.field(default_factory=list)
    window_s: float | None = None
    window_tokens: Whole | None = None
    samples: Whole | None = None
    interval_s_actual: float | None = None
    edge_uncertainty: float | None = None
    mean_w: float | None = None
    idle_w: float | None = None
    energy_gross_j: float | None = None
    energy_net_j: float | None = None
    mwh_per_token_gross: float | None = None
    mwh_per_token_net: float | None = None
    j_per_token_gross: float | None = None
    tps_in_window: float | None = None
    method: str | None = None  # counter or trapezoid
    claim: str = "none"  # valid, indicative, none
    claim_reasons: list[str] = msgspec.field(default_factory=list)


class KernelFigure(Field, frozen=True):
    """One kernel of a bandwidth probe."""

    kernel: str
    dtype: str
    bytes: Whole
    batched: Whole
    repeats: Whole
    best_gbps: float
    median_gbps: float
