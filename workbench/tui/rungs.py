"""The rungs of a ladder as the screens show them: what is known, what was said, what came of it. Pure.

No ceiling is shown before every rung's number is locked: one rung's would give its neighbour's away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from widgets.fact_list import Fact
from widgets.ledger_table import Cell, Column
from widgets.sizes import sized
from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.ledger.record import Record
from workbench.ledger.words import percent, rate, signed_percent
from workbench.prediction.ceiling import ceiling_tps
from workbench.protocol.plan import Plan, expected_seconds
from workbench.protocol.run import Phase, Run
from workbench.tui.power_words import duration
from workbench.tui.seal import Looked, seal_words
from workbench.tui.words import PHASE_WORDS, locked_words, override_facts, verdict_sentences

COLUMNS = (
    Column("model", 16, stretch=True),
    Column("a token", 10, "right"),
    Column("said", 7, "right"),
    Column("ceiling", 8, "right", rank=2),
    Column("tok/s", 8, "right"),
    Column("fraction", 8, "right", rank=1),
    Column("off", 8, "right", rank=3),
    Column("state", 14),
)


@dataclass(frozen=True, slots=True)
class Rung:
    """One checkpoint of a ladder. `problem` says why it cannot be climbed; `said` waits for its lock."""

    name: str
    path: Path
    synthetic: bool = False
    checkpoint: Checkpoint | None = None
    count: Count | None = None
    looked: Looked | None = None
    plan: Plan | None = None
    run: Run | None = None
    said: str = ""
    problem: str = ""

    @property
    def locked(self) -> bool:
        """Whether its number is on disk."""
        return self.run is not None and self.run.locked

    @property
    def record(self) -> Record | None:
        """Its record, None before its end."""
        return self.run.record if self.run is not None else None

    @property
    def is_open(self) -> bool:
        """Whether it can be climbed and nobody has said its number."""
        return not self.problem and not self.said and not self.locked


def all_locked(rungs: Sequence[Rung]) -> bool:
    """Whether every rung that can be climbed has its number, and there is one."""
    able = [rung for rung in rungs if not rung.problem]
    return bool(able) and all(rung.locked for rung in able)


def cells(rung: Rung, shown: bool, blind: bool = False) -> list[Cell]:
    """A rung's row; `shown` once every number is locked, `blind` while it runs."""
    plan, record = rung.plan, rung.record
    reads = sized(plan.weight_bytes) if plan is not None else "–"
    ceiling = _ceiling_tps(plan) if plan is not None and shown else None
    measured = record.generation_tps if record is not None else None
    now = rung.run.now.tps_mean if rung.run is not None and rung.run.now is not None and not blind else None
    rated = measured or (now if record is None else None)
    fraction = measured / ceiling if measured and ceiling else None
    error = record.prediction_error if record is not None else None
    bad = bool(rung.problem) or (record is not None and _is_bad(record))
    state = state_words(rung)
    return [
        rung.name,
        reads,
        _said(rung),
        rate(ceiling) if ceiling is not None else "–",
        (rate(rated), "quiet") if rated and not measured else rate(rated) if rated else "–",
        percent(fraction) if fraction is not None else "–",
        signed_percent(error) if error is not None else "–",
        (state, "marked") if bad else state,
    ]


def state_words(rung: Rung) -> str:
    """Where a rung is, in a word or two."""
    run, record = rung.run, rung.record
    if rung.problem:
        return "left out"
    if record is not None:
        return (record.verdict or record.status) if record.status == "measured" else record.status
    if rung.count is None:
        return "counting"
    if rung.looked is None:
        return "reading graph"
    if run is None:
        return "waiting" if rung.said else "number?"
    if run.phase in {Phase.STARTING, Phase.PREDICTING}:
        return "said" if rung.said else "number?"
    if run.phase in {Phase.PREFILL, Phase.DECODING, Phase.COOLING} and run.repeat_index is not None:
        return f"{run.phase} {run.repeat_index + 1}/{run.plan.settings.repeats}"
    return str(run.phase)


def facts(rung: Rung, shown: bool) -> list[Fact]:
    """The rung under the cursor in full; rates only once every number is locked."""
    lines = [Fact("model", rung.name)]
    if rung.synthetic:
        lines.append(Fact("weights", "synthetic", "random numbers of a real shape", mark=True))
    if rung.problem:
        return [*lines, Fact("left out", "", rung.problem, mark=True)]
    if rung.count is None:
        return lines
    if rung.record is not None:
        why = [rung.record.reason] if rung.record.reason else verdict_sentences(rung.record)
        lines += [Fact("verdict" if not i else " ", "", sentence) for i, sentence in enumerate(why)]
    if rung.run is not None and rung.locked:
        lines.append(Fact("prediction", "", locked_words(rung.run)))
        if shown and rung.plan is not None and rung.plan.bandwidths:
            figure = rung.plan.bandwidths[0]
            lines.append(Fact("ceiling", f"{rate(_ceiling_tps(rung.plan) or 0)} tok/s", figure.name))
    if rung.plan is not None:
        lines += override_facts(rung.count)
        on_disk = f"on disk {sized(rung.count.disk_bytes)}, seed rule {sized(rung.count.seed.weight_bytes)}"
        lines.append(Fact("a token reads", sized(rung.plan.weight_bytes), on_disk))
        lines.append(
            Fact("seal", "", seal_words(rung.looked, rung.plan.rule, overridden=rung.count.is_overridden))
        )
    return lines


def ladder_line(rungs: Sequence[Rung], *, climbing: bool, ended: bool, problem: str) -> str:
    """What the ladder waits for, or where it is."""
    if problem:
        return problem
    able = [rung for rung in rungs if not rung.problem]
    if ended:
        done = sum(rung.record is not None and rung.record.status == "measured" for rung in able)
        return f"{done} of {len(able)} measured: enter shows a record, esc leaves"
    if climbing:
        at = next((rung for rung in able if rung.record is None), None)
        words = PHASE_WORDS[at.run.phase] if at is not None and at.run is not None else ""
        return f"climbing{f': {at.name}, {words}' if at is not None and words else ''} (s stops)"
    if any(rung.count is None or rung.looked is None for rung in able):
        return "counting and reading the decode graphs (s: without); numbers may be said meanwhile (n)"
    missing = sum(rung.is_open for rung in able)
    if missing:
        return f"{missing} number{'' if missing == 1 else 's'} still to be said (n): nothing loads before"
    if not all_locked(rungs):
        return "locking ..."
    seconds = sum(
        expected_seconds(rung.plan, rung.run.predictions[0].tps)
        for rung in able
        if rung.plan is not None and rung.run is not None
    )
    return f"every number is locked: r climbs, about {duration(seconds)} by your numbers, loading aside"


def _said(rung: Rung) -> Cell:
    if rung.run is not None and rung.run.predictions:
        many = len(rung.run.predictions) > 1
        return f"{rate(rung.run.predictions[0].tps)}{' +' if many else ''}"
    return (rung.said, "quiet") if rung.said else "–"


def _ceiling_tps(plan: Plan) -> float | None:
    return ceiling_tps(plan.bandwidths[0].gbps, plan.weight_bytes) if plan.bandwidths else None


def _is_bad(record: Record) -> bool:
    return record.status != "measured" or record.verdict == "counting error"
