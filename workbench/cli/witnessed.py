"""The decode graph asked from the command line: one trace, an agreement with the count for each context."""

import asyncio
from collections.abc import Sequence

from workbench.accounting.count import Count
from workbench.accounting.engine import count as counted
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.protocol.witnessing import DEFAULT_CONTEXT, witness
from workbench.witness.agreement import Agreement, compare
from workbench.witness.reasons import NotWitnessed


def agreements(
    checkpoint: Checkpoint, count: Count, contexts: Sequence[int] = (DEFAULT_CONTEXT,)
) -> list[Agreement]:
    """The count held against the graph; one agreement, with the reason, where there is no graph.

    Overrides are a person's word: the graph is held against what the rules alone say.
    """
    found = asyncio.run(witness(checkpoint, contexts))
    by_rules = counted(checkpoint) if count.overrides else count
    readings = [found] if isinstance(found, NotWitnessed) else found.readings
    return [compare(by_rules, reading) for reading in readings]
