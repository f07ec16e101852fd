"""The record: one JSON object per run group, units in names, null where nothing was measured.

The first fields of the bytes and results groups keep the source documents' own names, so that their
scripts can read this ledger. A missing figure is null with a `*_reason` beside it, never 0.
"""

import hashlib
from typing import Any

import msgspec

from workbench.ledger.parts import (
    FileEntry,
    FitEstimate,
    Fraction,
    GpuClock,
    InterTokenMs,
    KernelFigure,
    LockedPrediction,
    NamedCeiling,
    NamedPrediction,
    PowerReading,
    Quantization,
    RoleBytes,
    Warn,
    Whole,
    Witness,
)

SCHEMA_VERSION = 1


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One run group, or one bandwidth probe, imported row or discarding: schema 1 of the ledger.

    What a list shows of a record comes first, whatever its group: a list need not read the rest of the line.
    """

    # headline
    record_id: str
    run_group_id: str
    experiment: str  # single, ladder, energy, bandwidth, demo, external
    status: str  # measured, cancelled, failed, interrupted, discarding, imported
    discards: str | None = None
    reason: str | None = None
    alias: str | None = None
    device: str | None = None
    date: str | None = None
    model: str | None = None
    quantization: Quantization | None = None
    rule: str | None = None  # count, seed, whole-file, all-bytes
    weight_bytes_per_token: Whole | None = None
    predicted_tps_human: float | None = None
    predicted_decode_tps: float | None = None
    bandwidth_gbps: float | None = None
    bandwidth_kind: str | None = None
    generation_tps: float | None = None
    achieved_gbps: float | None = None
    verdict: str | None = None
    # identity
    schema_version: Whole = SCHEMA_VERSION
    runtime: str = "mlx-lm"
    runtime_commit: str | None = None
    measured_by: str | None = None  # who measured an imported row elsewhere; null for our own
    scope: str | None = None
    synthetic_weights: bool = False
    sha256: str | None = None
    # stamp
    hw_model: str | None = None
    gpu_cores: Whole | None = None
    memory_gb: float | None = None
    memory_bytes: Whole | None = None
    recommended_working_set_gb: float | None = None
    last_level_cache_bytes: Whole | None = None
    os: str | None = None
    macos: str | None = None
    os_build: str | None = None
    python: str | None = None
    mlx: str | None = None
    mlx_lm: str | None = None
    transformers: str | None = None
    workbench: str | None = None
    command: list[str] | None = None
    ssh: bool | None = None
    # conditions
    power_source: str | None = None
    low_power_mode: bool | None = None
    thermal_start: str | None = None
    thermal_end: str | None = None
    thermal_worst: str | None = None
    load1_start: float | None = None
    top_other_process_cpu_pct: float | None = None
    swap_used_start_bytes: Whole | None = None
    swap_used_end_bytes: Whole | None = None
    memory_pressure_worst: str | None = None  # normal, warning, critical
    page_cache: str | None = None
    kernel_cache: str | None = None
    governor: str | None = None
    gpu_clock_mhz: GpuClock | None = None
    throttle_reasons: list[str] | None = None
    gpu_other_processes: Whole | None = None
    seconds_since_last_run: float | None = None
    cooldown_s: float | None = None
    clock_drift: float | None = None
    conditions_reasons: dict[str, str] | None = None  # field -> why it is null
    # model
    revision: str | None = None
    files: list[FileEntry] | None = None
    config_sha256: str | None = None
    architecture: str | None = None
    format: str | None = None
    dtype: str | None = None  # what most bytes are stored in, where `quantization` states no bits
    # bytes
    weight_bytes_total: Whole | None = None
    weight_bytes_resident: Whole | None = None
    weight_bytes_vision: Whole | None = None
    weight_bytes_embed: Whole | None = None
    weight_bytes_experts: Whole | None = None
    weight_bytes_draft: Whole | None = None
    weight_bytes_other_skipped: Whole | None = None
    tied_embeddings: bool | None = None
    experts: Whole | None = None
    experts_per_token: Whole | None = None
    lookup_row_bytes: Whole | None = None
    roles: dict[str, RoleBytes] | None = None
    seed_rule_bytes_per_token: Whole | None = None
    witness: Witness | None = None
    bus_bytes_per_token: Whole | None = None
    in_force: str | None = None  # count, graph, override
    weight_bytes_per_token_without_overrides: Whole | None = None
    rule_version: Whole | None = None
    overrides: list[dict[str, str | bool | Whole | float | None]] | None = None
    context_bytes_per_token_start: Whole | None = None
    context_bytes_per_token_end: Whole | None = None
    warnings: list[Warn] = msgspec.field(default_factory=list)
    # prediction
    lock_id: str | None = None
    locks: list[LockedPrediction] = msgspec.field(default_factory=list)
    loaded_at: str | None = None
    earlier_runs_seen: Whole | None = None
    predicted_by: str | None = None
    predicted_at: str | None = None
    predictions: list[NamedPrediction] = msgspec.field(default_factory=list)
    bandwidth_source: str | None = None
    ceilings: list[NamedCeiling] = msgspec.field(default_factory=list)
    fit_estimate: FitEstimate | None = None
    # settings
    prompt_sha256: str | None = None
    prompt_tokens: Whole | None = None
    max_tokens: Whole | None = None
    warmup_tokens: Whole | None = None
    repeats: Whole | None = None
    sampler: str | None = None
    seed: Whole | None = None
    eos_ignored: bool | None = None
    prefill_step_size: Whole | None = None
    kv_bits: Whole | None = None
    kv_group_size: Whole | None = None
    max_kv_size: Whole | None = None
    batch: Whole | None = None
    draft_model: str | None = None
    hosts: Whole | None = None
    ui_hz: float | None = None
    blind: bool | None = None
    # results
    warmup_passes: Whole | None = None  # passes that were decoded and thrown away before the first repeat
    warmup_tokens_actual: Whole | None = None  # their tokens together; `warmup_tokens` is the setting
    warmup_steady: bool | None = None  # the last two had one rate; null where passes were not compared
    load_s: float | None = None
    ttft_s: float | None = None
    prompt_tps: float | None = None
    generation_tokens: Whole | None = None
    generation_tps_mlx_lm: float | None = None
    decode_rule: str | None = None
    decode_s: float | None = None
    inter_token_ms: InterTokenMs | None = None
    tps_first_quarter: float | None = None
    tps_last_quarter: float | None = None
    stalls: Whole | None = None
    repeats_tps: list[float] = msgspec.field(default_factory=list)
    tps_median: float | None = None
    tps_mean: float | None = None
    tps_sd: float | None = None
    tps_cv: float | None = None
    peak_memory_gb: float | None = None
    token_times_ns: list[list[Whole]] | None = None  # per repeat: differences between successive tokens
    # derived
    effective_gbps: float | None = None
    fractions: list[Fraction] = msgspec.field(default_factory=list)
    prediction_error: float | None = None
    verdict_reasons: list[str] = msgspec.field(default_factory=list)
    excess_explained_by: list[str] = msgspec.field(default_factory=list)
    # energy
    power: list[PowerReading] = msgspec.field(default_factory=list)
    energy_unavailable_reason: str | None = None
    # probe
    kernels: list[KernelFigure] | None = None
    threads: Whole | None = None
    method: str | None = None


def sealed(record: Record) -> Record:
    """The record with `sha256` over its canonical JSON (keys sorted, that field left out)."""
    return msgspec.structs.replace(record, sha256=digest(record))


def digest(record: Record) -> str:
    """SHA-256 of the record's canonical JSON without the field `sha256`."""
    return digest_of_fields(msgspec.to_builtins(record))


def digest_of_fields(fields: dict[str, Any]) -> str:
    """The same over a line's decoded JSON: fields that this version does not know are sealed too."""
    unsealed = {name: value for name, value in fields.items() if name != "sha256"}
    return hashlib.sha256(msgspec.json.encode(unsealed, order="sorted")).hexdigest()
