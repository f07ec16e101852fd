"""The low question: a fraction under 15 % on a large model was not warmed up, or busy, or is kernel-bound.

Source of the threshold: "Write the Prediction Before the Number" (15 %, models larger than 4B).
"""

from workbench.analysis.counting_error import JudgedCeiling
from workbench.checkpoint.dtypes import bits_per_value
from workbench.ledger.parts import KernelFigure
from workbench.ledger.record import Record
from workbench.ledger.words import gbps, percent
from workbench.machine.spoiled import BUSY_PCT

LOW_FRACTION = 0.15
LARGE_PARAMETERS = 4e9
STEADY_CV = 0.05
"""Repeats that spread less than this (sd / mean) are stable."""
STEADY_QUARTERS = 0.05
"""Quarters of a run that differ by less than this are level."""
BUSY_LOAD = 2.0


def low_reason(record: Record, bus: JudgedCeiling | None, probe: Record | None = None) -> str:
    """The question, or what answers it; empty where the fraction is not low or the model not large.

    `bus` is the spec (else the theoretical) ceiling.
    """
    size = parameters(record)
    if bus is None or size is None or bus.fraction >= LOW_FRACTION or size <= LARGE_PARAMETERS:
        return ""
    said = (
        f"{percent(bus.fraction)} of the ceiling at {bus.name} is low for about {size / 1e9:.1f} billion"
        " parameters"
    )
    doubts = unsteady(record)
    if doubts:
        return f"{said}: was it warmed up, was the machine busy? ({'; '.join(doubts)}.) Repeat it."
    return (
        f"{said}; the repeats and the quarters are steady and no other process was seen busy, so it is"
        f" bound by overhead or kernels{_evidence(record, probe)}."
    )


def parameters(record: Record) -> float | None:
    """How many parameters the checkpoint holds, from its bytes and bits per weight; None without either.

    A group of quantized weights carries a 16-bit scale, and a 16-bit bias unless the mode has none (mxfp4,
    nvfp4 and mxfp8: an 8-bit scale); a vision tower beside them stays in 16 bits. Where nothing says how
    weights are stored, they are taken for 16 bits.
    """
    bits = _bits_per_weight(record)
    if record.weight_bytes_total is None or bits is None:
        return None
    is_quantized = record.quantization is not None and bool(record.quantization.bits)
    vision = (record.weight_bytes_vision or 0) if is_quantized else 0
    return (record.weight_bytes_total - vision) * 8 / bits + vision * 8 / 16


def unsteady(record: Record) -> list[str]:
    """What speaks against a clean run, or was not measured."""
    doubts = []
    if record.tps_cv is None:
        doubts.append("there is no second repeat to compare with")
    elif record.tps_cv > STEADY_CV:
        doubts.append(f"the repeats spread by {percent(record.tps_cv)}")
    if record.warmup_steady is False:
        doubts.append("its warm-up never came to one rate")
    first, last = record.tps_first_quarter, record.tps_last_quarter
    if first and last and abs(last / first - 1) > STEADY_QUARTERS:
        doubts.append(f"the last quarter ran at {percent(last / first)} of the first")
    busy, load = record.top_other_process_cpu_pct, record.load1_start
    if busy is None and load is None:
        doubts.append("the machine's load was not measured")
    elif busy is not None and busy > BUSY_PCT:
        doubts.append(f"another process used {busy:.0f} % of a core")
    elif busy is None and load is not None and load > BUSY_LOAD:
        doubts.append(f"the load was {load:.1f} at the start")
    return doubts


def _bits_per_weight(record: Record) -> float | None:
    quantization = record.quantization
    if quantization is None or not quantization.bits:
        if record.dtype is not None:
            return bits_per_value(record.dtype)
        return 16.0 if quantization is None else None
    group = quantization.group_size or 64
    mode = quantization.mode or "affine"
    return quantization.bits + (32 if mode == "affine" else 8) / group


def _evidence(record: Record, probe: Record | None) -> str:
    kernel = _kernel_of(record, (probe.kernels or []) if probe is not None else [])
    if kernel is None or probe is None or not probe.achieved_gbps:
        return ""
    share = percent(kernel.best_gbps / probe.achieved_gbps)
    return (
        f" (the probe's {kernel.kernel} in {kernel.dtype} stops at {gbps(kernel.best_gbps)},"
        f" {share} of the {gbps(probe.achieved_gbps)} that this memory gave)"
    )


def _kernel_of(record: Record, kernels: list[KernelFigure]) -> KernelFigure | None:
    """The probe's fastest product in the checkpoint's own format: a decode step is made of products."""
    quantization = record.quantization
    if quantization is not None and quantization.bits:
        dtype = f"{quantization.bits:g}-bit"
    else:
        dtype = _PROBED_AS.get(record.dtype or "BF16", "")
    matching = [one for one in kernels if one.kernel == "matvec" and dtype and one.dtype.startswith(dtype)]
    return max(matching, key=lambda one: one.best_gbps, default=None)


_PROBED_AS = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
