"""The whole protocol without a screen: one call from a plan and a prediction to a record and an exit code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.analysis.verdict import Word
from workbench.exits import ExitCode
from workbench.ledger.record import Record
from workbench.protocol.dossier import require_predictions
from workbench.protocol.plan import Plan, require_runnable
from workbench.protocol.recording import Status
from workbench.protocol.run import Run
from workbench.protocol.signals import ending_signals
from workbench.protocol.steps import Measurement


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `record` is None when a signal came before anything was locked."""

    record: Record | None
    run: Run
    exit_code: int


async def measured(
    plan: Plan,
    predictions: Sequence[tuple[str, float]],
    by: str | None = None,
    *,
    on_change: Callable[[Run], None] | None = None,
    make: Callable[..., Measurement] = Measurement,
) -> Outcome:
    """Stamp, predict, warm up, measure and record. ctrl+c, SIGTERM and SIGHUP cancel, and keep the record.

    Raises PredictionMissingError and CheckpointError before anything is started, and what `Measurement`
    raises.
    """
    require_predictions(predictions)
    require_runnable(plan)
    async with make(plan, on_change=on_change) as measurement:
        with ending_signals(measurement.cancel) as caught:
            await measurement.prepare()
            record = None
            if not measurement.cancelled:
                measurement.lock(predictions, by)
                record = await measurement.measure()
        return Outcome(record, measurement.run, caught.exit_code or exit_code_of(record))


def exit_code_of(record: Record | None) -> ExitCode:
    """What a script is told of a record: flagged by the validator, failed in the worker, or fine."""
    if record is None or record.status == Status.FAILED:
        return ExitCode.WORKER
    return ExitCode.FLAGGED if record.verdict == Word.COUNTING_ERROR else ExitCode.OK
