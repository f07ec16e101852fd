"""A row that a person types: somebody else's number, with everything that keeps it from being a rumour."""

from datetime import datetime
from uuid import uuid4

from workbench.errors import UsageError
from workbench.escape import visible
from workbench.ledger.moments import moment_of, utc_text
from workbench.ledger.parts import NamedCeiling, Quantization
from workbench.ledger.record import Record
from workbench.ledger.words import gb
from workbench.prediction.ceiling import BandwidthFigure, ceilings

LARGEST_BYTES = 1e15
WIDEST_BITS = 64


def external_row(
    *,
    model: str,
    device: str,
    runtime: str,
    measured_by: str,
    figure: BandwidthFigure | None,
    weight_bytes: int | None,
    tps: float | None,
    rule: str = "whole-file",
    runtime_commit: str | None = None,
    command: str | None = None,
    date: str | None = None,
    bits: float | None = None,
    prompt_tps: float | None = None,
    peak_memory_gb: float | None = None,
    now: datetime | None = None,
) -> Record:
    """A row that a person types: somebody else's number with its device, runtime, bytes and source.

    `weight_bytes` is what a token reads by `rule` (the bandwidth ledger's own rule is the whole file).
    Raises `UsageError` where the row would be a rumour: no device, no runtime, nobody who measured, or a
    figure that cannot be one.
    """
    for name, text in (
        ("model", model),
        ("device", device),
        ("runtime", runtime),
        ("person who measured", measured_by),
    ):
        if not text.strip():
            raise UsageError(f"The row names no {name}.", "A number without these is a rumour.")
    if weight_bytes is not None and not 0 < weight_bytes < LARGEST_BYTES:
        raise UsageError(f"{weight_bytes:g} bytes per token is no size.", "Give the bytes of the weights.")
    if bits is not None and not 0 < bits <= WIDEST_BITS:
        raise UsageError(f"{bits:g} bits per weight is no format.", "Formats have up to 64: 4, 4.5 or 16.")
    if date is not None and moment_of(date) is None:
        raise UsageError(f"{visible(date, 40)} is no date.", "ISO 8601, as 2026-09-15.")
    made = ceilings([figure], {rule: weight_bytes}) if figure is not None and weight_bytes else []
    moment = utc_text(now)
    return Record(
        record_id=str(uuid4()),
        run_group_id=str(uuid4()),
        experiment="external",
        status="imported",
        reason=f"Typed in on {moment[:10]}: not measured here.",
        runtime=runtime,
        runtime_commit=runtime_commit,
        measured_by=measured_by,
        scope=_external_scope(measured_by, device, runtime, weight_bytes, rule),
        device=device,
        date=date or moment,
        command=command.split() if command else None,
        model=model,
        quantization=Quantization(bits=bits) if bits is not None else None,
        weight_bytes_total=weight_bytes if rule == "whole-file" else None,
        weight_bytes_per_token=weight_bytes,
        rule=rule,
        bandwidth_gbps=figure.gbps if figure is not None else None,
        bandwidth_kind=str(figure.kind) if figure is not None else None,
        bandwidth_source=figure.source if figure is not None else None,
        predicted_decode_tps=made[0].tps if made else None,
        ceilings=[NamedCeiling(one.name, one.gbps, one.tps) for one in made],
        batch=1,
        prompt_tps=prompt_tps,
        generation_tps=tps,
        peak_memory_gb=peak_memory_gb,
        energy_unavailable_reason="Not part of the row.",
    )


def _external_scope(measured_by: str, device: str, runtime: str, weight_bytes: int | None, rule: str) -> str:
    size = f", {gb(weight_bytes)} per token by the rule {rule}" if weight_bytes else ""
    return f"Decode phase, batch 1{size}, on {device} with {runtime}: measured by {measured_by}, not here."
