"""Judge a number that somebody shows: a README, a post, a benchmark. The first check on any decode number.

It is never a measurement of ours: the record says external, and who said it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from workbench.analysis.excess import Alternative
from workbench.analysis.observations import PROMPT_CACHE
from workbench.analysis.rates import NO_MACHINE_TPS, plausible_tps
from workbench.analysis.verdict import judged
from workbench.errors import UsageError
from workbench.ledger.moments import utc_text
from workbench.ledger.parts import Warn
from workbench.ledger.record import Record

NOBODY = "nobody named"
CACHED = Warn(PROMPT_CACHE, "The claim was made with a prompt cache in use.")


def check(
    fields: Mapping[str, Any],
    measured_tps: float,
    *,
    alternatives: Sequence[Alternative] = (),
    measured_by: str | None = None,
    device: str | None = None,
    runtime: str = "unknown",
    batch: int | None = 1,
    draft_model: str | None = None,
    prompt_cache: bool = False,
    hosts: int = 1,
    now: datetime | None = None,
) -> Record:
    """The judged external record of a claimed rate in tok/s.

    `fields` are the record's model, bytes and bandwidth groups for the checkpoint and the figures it is
    judged by; `alternatives` are its count's. Nothing is written. Raises `UsageError` for a rate that no
    machine has.
    """
    if plausible_tps(measured_tps) is None:
        raise UsageError(
            f"{measured_tps:g} tok/s is no rate that a machine decodes one stream at.",
            f"Give tok/s above 0 and at most {NO_MACHINE_TPS:,.0f}.",
            code="rate",
        )
    who = measured_by or NOBODY
    where = device or "an unnamed device"
    record = Record(
        **{
            **fields,
            "record_id": str(uuid4()),
            "run_group_id": str(uuid4()),
            "experiment": "external",
            "status": "imported",
            "reason": "A number that was shown to us: not measured here.",
            "runtime": runtime,
            "measured_by": who,
            "scope": f"Decode phase as claimed, on {where}: said by {who}, not measured here.",
            "device": device,
            "date": utc_text(now),
            "batch": batch,
            "draft_model": draft_model,
            "hosts": hosts,
            "warnings": [*fields.get("warnings", ()), *([CACHED] if prompt_cache else [])],
            "generation_tps": measured_tps,
            "energy_unavailable_reason": "Not part of the claim.",
        }
    )
    return judged(record, alternatives)
