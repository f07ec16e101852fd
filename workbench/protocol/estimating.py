"""What the fit over earlier records expects of a plan: computed before the lock, told only after it.

Whoever shows it asks a locked run (`Run.plan.fit_estimate`), which has none before; the record keeps it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from workbench.analysis.fit_groups import estimate_for
from workbench.ledger.parts import FitEstimate
from workbench.ledger.record import Record
from workbench.machine.stamp import MachineStamp
from workbench.protocol.accounts import bytes_fields, model_fields, settings_fields
from workbench.protocol.plan import Plan


def estimate_of(
    plan: Plan, stamp: MachineStamp, records: Iterable[Record], discarded: Mapping[str, str]
) -> FitEstimate | None:
    """The estimate in tok/s, with a range where the group's fit has intervals; None where it has no fit.

    The group is that of the plan's own machine, runtime, model family and weight format. `discarded` records
    are not fitted.
    """
    drafted = Record(
        record_id="",
        run_group_id=plan.run_group_id,
        experiment=plan.experiment,
        status="interrupted",
        **asdict(stamp),
        **model_fields(plan.checkpoint),
        **bytes_fields(plan),
        **settings_fields(plan),
        prompt_tokens=plan.settings.prompt_tokens,
    )
    return estimate_for(drafted, records, discarded)
