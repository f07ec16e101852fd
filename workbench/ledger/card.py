"""The Mac card of the source documents: alias, date, build, versions, model, bits, bytes, prediction, gap.

Label and text pairs; whoever shows them chooses the form.
"""

from workbench.escape import visible
from workbench.ledger.energy import energy
from workbench.ledger.parts import FitEstimate
from workbench.ledger.record import Record
from workbench.ledger.status import COMPLETE
from workbench.ledger.words import LONGEST_REASON, NOT_MEASURED, gb, gbps, percent, rate, signed_percent

Line = tuple[str, str]


def card(record: Record, discarded_because: str | None = None) -> list[Line]:
    """The record's card, top to bottom. What was not measured says so."""
    lines = [
        ("alias", visible(record.alias or record.device or "unnamed")),
        ("date", visible(record.date) if record.date else NOT_MEASURED),
        ("build", build(record)),
        ("versions", versions(record)),
        ("model", visible(record.model) if record.model else "none"),
        ("bits", bits(record)),
        ("bytes per token", bytes_per_token(record)),
        ("prediction", prediction(record)),
        *([("order", order(record))] if record.predicted_at else []),
        ("ceiling", ceiling(record)),
        *([("the fit expected", fit_estimate(record))] if record.fit_estimate is not None else []),
        *([("warm-up", warm_up(record))] if record.warmup_passes is not None else []),
        ("measurement", measurement(record)),
        ("gap", gap(record)),
        *[("energy", energy(reading)) for reading in record.power],
        ("verdict", visible(record.verdict or "none")),
    ]
    lines += [("", visible(reason, LONGEST_REASON)) for reason in record.verdict_reasons]
    if record.status != "measured":
        because = f": {visible(record.reason)}" if record.reason else ""
        lines.append(("status", f"{visible(record.status)}{because}"))
    if discarded_because is not None:
        lines.append(("discarded", visible(discarded_because)))
    if record.synthetic_weights:
        lines.append(("weights", "synthetic"))
    lines.append(("record", visible(record.record_id)))
    return lines


def build(record: Record) -> str:
    """The chip, its memory, and the system's build."""
    chip = visible(record.device) if record.device else "device unknown"
    cores = f", {record.gpu_cores} GPU cores" if record.gpu_cores is not None else ""
    memory = f", {record.memory_gb:g} GB" if record.memory_gb is not None else ""
    system = record.macos or record.os or "system unknown"
    number = f" ({visible(record.os_build)})" if record.os_build and record.os_build not in system else ""
    return f"{chip}{cores}{memory}; {visible(system)}{number}"


def versions(record: Record) -> str:
    """The programs whose versions are known, the runtime's commit last."""
    known = programs_of(record)
    if record.runtime_commit:
        known.append(f"{visible(record.runtime, 60)} commit {visible(record.runtime_commit, 60)}")
    return ", ".join(known) or visible(record.runtime)


def programs_of(record: Record) -> list[str]:
    """The programs that measured, each with its version, as far as that is known."""
    programs = (("mlx", record.mlx), ("mlx-lm", record.mlx_lm), ("workbench", record.workbench))
    return [f"{name} {visible(version, 60)}" for name, version in programs if version]


def bits(record: Record, unit: str = "") -> str:
    """The quantization as config.json states it, else the type that the weights are stored in.

    `unit` stands behind the number of bits, where no label says what it is.
    """
    quantization = record.quantization
    if quantization is None or quantization.bits is None:
        if quantization is not None and quantization.mode:
            return visible(quantization.mode, 40)
        stored = visible(record.dtype.lower(), 20) if record.dtype else ""
        if record.format == "gguf":
            return stored or "as the GGUF file says"
        return f"not quantized, {stored}" if stored else "not quantized"
    group = f", groups of {quantization.group_size}" if quantization.group_size else ""
    mode = f", {visible(quantization.mode, 30)}" if quantization.mode else ""
    return f"{quantization.bits:g}{unit}{group}{mode}{', mixed' if quantization.mixed else ''}"


def bytes_per_token(record: Record) -> str:
    """Bytes per token in force, beside those on disk, with the rule."""
    if record.weight_bytes_per_token is None:
        return "not counted"
    disk = f" of {gb(record.weight_bytes_total)} on disk" if record.weight_bytes_total is not None else ""
    return f"{gb(record.weight_bytes_per_token)}{disk} (rule: {visible(record.rule or 'count')})"


def prediction(record: Record) -> str:
    """What people said before the model was loaded."""
    if record.predictions:
        return (
            ", ".join(
                f"{visible(said.name or 'somebody', 40)} {rate(said.tps)}" for said in record.predictions
            )
            + " tok/s"
        )
    if record.predicted_tps_human is None:
        return "none"
    by = f" by {visible(record.predicted_by, 40)}" if record.predicted_by else ""
    return f"{rate(record.predicted_tps_human)} tok/s{by}"


def order(record: Record) -> str:
    """What came first: the lock, then the load."""
    corrected = f", corrected {len(record.locks) - 1}x" if len(record.locks) > 1 else ""
    loaded = f"load began {visible(record.loaded_at)}" if record.loaded_at else "the model was never loaded"
    return f"predicted at {visible(record.predicted_at or 'no known time')}{corrected}; {loaded}"


def why_ended(record: Record) -> str:
    """Why a run ended before its time, without a full stop; empty for one that came to its end."""
    return "" if record.status in COMPLETE else (record.reason or "").rstrip(".")


def fit_estimate(record: Record) -> str:
    """What a fit over earlier records expected, with its range."""
    expected = record.fit_estimate
    if expected is None:
        return "none"
    return f"{rate(expected.tps)} tok/s ({estimate_range(expected)})"


def estimate_range(expected: FitEstimate) -> str:
    """The 95 % range of a fit's estimate in words, or that its fit has none."""
    if expected.low is None:
        return "no range: too few models"
    if expected.high is None:
        return f"95 %: {rate(expected.low)} or more"
    return f"95 %: {rate(expected.low)} to {rate(expected.high)}"


def ceiling(record: Record) -> str:
    """Every ceiling with its denominator and rule."""
    if not record.ceilings:
        if record.predicted_decode_tps is None:
            return "no bandwidth figure"
        return f"{rate(record.predicted_decode_tps)} tok/s ({bandwidth(record)})"
    return "; ".join(f"{rate(one.tps)} tok/s ({visible(one.name)})" for one in record.ceilings)


def bandwidth(record: Record) -> str:
    """The principal bandwidth figure with its kind and source."""
    if record.bandwidth_gbps is None:
        return "no bandwidth figure"
    source = f": {visible(record.bandwidth_source)}" if record.bandwidth_source else ""
    return f"{visible(record.bandwidth_kind or 'stated')} {record.bandwidth_gbps:g} GB/s{source}"


def warm_up(record: Record) -> str:
    """What was decoded and thrown away before the first repeat; as set, where only that is recorded."""
    passes, thrown, as_set = record.warmup_passes, record.warmup_tokens_actual, record.warmup_tokens
    if passes is None or thrown is None:
        return "not recorded" if as_set is None else f"{as_set} tokens to be thrown away"
    settled = {True: ", the last two at one rate", False: ", never at one rate"}
    ended = "" if record.warmup_steady is None else settled[record.warmup_steady]
    return f"{thrown} tokens thrown away in {passes} pass{'' if passes == 1 else 'es'}{ended}"


def measurement(record: Record) -> str:
    """The measured rate with its spread and its rule."""
    if record.generation_tps is None:
        return NOT_MEASURED
    spread = f" ± {rate(record.tps_sd)}" if record.tps_sd is not None else ""
    repeats = f" over {len(record.repeats_tps)} repeats" if len(record.repeats_tps) > 1 else ""
    rule = f", {visible(record.decode_rule)}" if record.decode_rule else ""
    effective = f", {gbps(record.effective_gbps)} effective" if record.effective_gbps is not None else ""
    return f"{rate(record.generation_tps)} tok/s{spread}{repeats}{rule}{effective}"


def gap(record: Record) -> str:
    """The fraction of each ceiling and how far the person was off."""
    parts = [f"{percent(one.value)} of {visible(one.of)}" for one in record.fractions]
    off = [(said.name, said.error) for said in record.predictions if said.error is not None]
    if len(off) > 1:
        parts += [f"{visible(name or 'somebody', 40)} {signed_percent(error)}" for name, error in off]
    elif (error := off[0][1] if off else record.prediction_error) is not None:
        parts.append(f"{signed_percent(error)} against the prediction")
    return "; ".join(parts) or NOT_MEASURED
