"""From what is wrong with a checkpoint to its state and the one sentence that says why."""

from collections.abc import Iterable
from typing import NamedTuple

from workbench.checkpoint.checkpoint import Finding, State
from workbench.checkpoint.integrity import REFUSED, TRUNCATED
from workbench.errors import CheckpointError, IncompleteCheckpointError

_WORST_FIRST = (State.UNREADABLE, State.INCOMPLETE, State.NOT_LOADABLE)


class Problem(NamedTuple):
    """A finding that keeps a checkpoint from being complete."""

    state: State
    finding: Finding


def of_error(error: CheckpointError) -> Problem:
    """What a file without a readable header makes of its checkpoint."""
    state = State.INCOMPLETE if isinstance(error, IncompleteCheckpointError) else State.UNREADABLE
    message = f"{error.message}. {error.hint}" if error.hint else error.message
    return Problem(state, Finding(error.code, message))


def of_findings(findings: Iterable[Finding]) -> list[Problem]:
    """The findings after which the bytes cannot be trusted, or are not all there."""
    return [
        Problem(State.UNREADABLE if finding.code in REFUSED else State.INCOMPLETE, finding)
        for finding in findings
        if finding.code in REFUSED | TRUNCATED
    ]


def worst(problems: Iterable[Problem]) -> tuple[State, str]:
    """The gravest state and the first sentence that gives it; COMPLETE and "" without problems."""
    ordered = sorted(problems, key=lambda problem: _WORST_FIRST.index(problem.state))
    return (ordered[0].state, ordered[0].finding.message) if ordered else (State.COMPLETE, "")


def with_problems(findings: Iterable[Finding], problems: Iterable[Problem]) -> tuple[Finding, ...]:
    """All findings, those of the problems included, each once."""
    return tuple(dict.fromkeys([*findings, *(problem.finding for problem in problems)]))
