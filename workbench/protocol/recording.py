"""The record of a run that ended: the draft, the repeats' results, what they mean, and why it ended.

No file is touched here; a rate that no machine has never enters a record.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from statistics import fmean
from typing import Any

from msgspec.structs import replace

from workbench.analysis.excess import alternatives
from workbench.analysis.rates import DECODE_RULE, Rates, plausible_tps, rates, spread, tps_as_mlx_lm_counts
from workbench.analysis.token_times import differences, times
from workbench.analysis.verdict import judged
from workbench.ledger.record import Record
from workbench.machine.spoiled import spoiled_by
from workbench.machine.stamp import private_text
from workbench.protocol.decode_worker import on_cuda
from workbench.protocol.drafting import condition_fields_typed, with_reasons
from workbench.protocol.energy import EnergyPass, with_power_conditions
from workbench.protocol.run import Run
from workbench.worker.messages import Repeat


class Status(StrEnum):
    """How a run ended. `interrupted` is what a draft says until then."""

    MEASURED = "measured"
    CANCELLED = "cancelled"
    FAILED = "failed"


def completed(
    drafted: Record,
    run: Run,
    status: Status,
    reason: str | None,
    conditions: dict[str, Any],
    *,
    probe: Record | None = None,
) -> Record:
    """The record of `run` with results, derived fields and verdict.

    Repeats that completed count whatever the status; what a cancelled repeat had reached is in the reason.
    A measured run without one valid repeat has failed. `probe` is evidence for the verdict.
    """
    sound = [(repeat, found) for repeat in run.repeats if (found := rates(repeat.token_times_ns)) is not None]
    if status is Status.MEASURED and not sound:
        status, reason = Status.FAILED, "No repeat gave a rate that a machine can have."
    record = replace(
        drafted,
        status=str(status),
        reason=_reason(run, status, reason),
        loaded_at=loaded_at(run) or drafted.loaded_at,
        kernel_cache=kernel_cache(run),
        **_loaded_fields(run),
        **warm_up_fields(run),
        **condition_fields_typed(conditions),
        **(result_fields([repeat for repeat, _ in sound], [found for _, found in sound]) if sound else {}),
    )
    record = with_reasons(replace(record, scope=scope(record, run)))
    return judged(record, alternatives(run.plan.count), spoiled_by(record), probe)


def closed(
    drafted: Record,
    run: Run,
    status: Status,
    reason: str | None,
    *,
    conditions: dict[str, Any],
    energy: EnergyPass,
    probe: Record | None,
) -> Record:
    """The whole record of `run`, energy included: what `completed` makes, under what the power sources saw.

    A fault of this program in here costs the run its figures, not its record.
    """
    try:
        seen = with_power_conditions(conditions, energy.conditions(run))
        record = completed(drafted, run, status, reason, seen, probe=probe)
        readings, none_because = energy.readings(run, spoiled_by(record), record.generation_tps)
    except Exception as error:
        return replace(drafted, status=str(Status.FAILED), reason=fault_words(error))
    return replace(record, power=readings, energy_unavailable_reason=none_because)


def fault_words(error: Exception) -> str:
    """What a record says of an error that should not have happened."""
    return private_text(f"A fault of the workbench: {type(error).__name__}: {error}")


def result_fields(repeats: Sequence[Repeat], found: Sequence[Rates]) -> dict[str, Any]:
    """The record's results group from valid repeats and their rates.

    `generation_tps` is the mean of the repeats' rates; times and prefill are means too. Inter-token times,
    stalls and quarters are over all repeats' tokens in their order, so that heat between the first and the
    last repeat shows.
    """
    over = spread([one.tps for one in found])
    steps_ns = [differences(repeat.token_times_ns) for repeat in repeats]
    together = rates(times([step for steps in steps_ns for step in steps]))
    if over is None or together is None:
        return {}
    tokens = found[0].tokens
    own = [tps for repeat in repeats if (tps := plausible_tps(repeat.tps_mlx_lm)) is not None]
    return {
        "ttft_s": fmean(repeat.ttft_s for repeat in repeats),
        "prompt_tps": fmean(repeat.prompt_tps for repeat in repeats),
        "generation_tokens": tokens,
        "generation_tps": over.mean,
        "generation_tps_mlx_lm": fmean(own) if own else tps_as_mlx_lm_counts(over.mean, tokens),
        "decode_rule": DECODE_RULE,
        "decode_s": fmean(one.decode_s for one in found),
        "inter_token_ms": together.inter_token_ms,
        "tps_first_quarter": together.tps_first_quarter,
        "tps_last_quarter": together.tps_last_quarter,
        "stalls": together.stalls,
        "repeats_tps": [one.tps for one in found],
        "tps_median": over.median,
        "tps_mean": over.mean,
        "tps_sd": over.sd,
        "tps_cv": over.cv,
        "peak_memory_gb": max(repeat.peak_memory_gb for repeat in repeats),
        "token_times_ns": steps_ns,
    }


def loaded_at(run: Run) -> str | None:
    """When the model began to load: UTC, microseconds; None if it never did."""
    if run.loading_at_ns is None:
        return None
    seconds, rest_ns = divmod(run.loading_at_ns, 1_000_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest_ns // 1000)
    return moment.isoformat(timespec="microseconds")


def kernel_cache(run: Run) -> str | None:
    """Whether kernels were compiled before the first repeat: warm, cold, or None where no warm-up ended.

    CUDA goes on compiling after 8 tokens; only a warm-up that went on until stable makes it warm.
    """
    if not run.warmed:
        return None if run.repeat_index is None else "cold"
    return "cold" if on_cuda(run.stamp) and run.warmed[-1].passes < 2 else "warm"


def warm_up_fields(run: Run) -> dict[str, Any]:
    """What the warm-up threw away. Whether it ended steady is known only where passes were compared."""
    begun = run.repeat_index is not None
    if not run.warmed and not begun:
        return {}
    return {
        "warmup_passes": len(run.warmed),
        "warmup_tokens_actual": sum(one.tokens for one in run.warmed),
        "warmup_steady": run.warmed[-1].steady if len(run.warmed) > 1 and begun else None,
    }


def scope(record: Record, run: Run) -> str:
    """One sentence that says what the figures hold for: phase, prompt, machine, runtime."""
    backend = run.stamp.backend if run.stamp and run.stamp.backend else "unknown backend"
    weights = "synthetic weights of " if record.synthetic_weights else ""
    runtime = f"{record.runtime} {record.mlx_lm}" if record.mlx_lm else record.runtime
    prompt = f"a prompt of {record.prompt_tokens} tokens" if record.prompt_tokens else "a prompt"
    return (
        f"Decode phase only: batch 1, greedy, {record.max_tokens} tokens after {prompt}, "
        f"{weights}{record.model} with {runtime} on {record.device or 'an unnamed device'} ({backend})."
    )


def _loaded_fields(run: Run) -> dict[str, Any]:
    if run.loaded is None:
        return {}
    return {
        "load_s": run.loaded.load_s,
        "prompt_sha256": run.loaded.prompt_sha256,
        "prompt_tokens": run.loaded.prompt_tokens,
    }


def _reason(run: Run, status: Status, reason: str | None) -> str | None:
    if status is Status.MEASURED:
        return None
    sentences = [reason or f"The run was {status}."]
    if run.now is not None:
        repeats = run.plan.settings.repeats
        part = f"Repeat {run.now.index + 1} of {repeats}" if run.now.index < repeats else "The energy pass"
        mean = f" at {run.now.tps_mean:.1f} tok/s" if run.now.tps_mean is not None else ""
        sentences.append(f"{part} had reached {run.now.tokens} tokens{mean}.")
    return private_text(" ".join(sentences))
