"""The Desk in words: facts, ceilings, the live line, the verdict. Pure text; the panes only place it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from widgets.chart import Chart, Level, round_up
from widgets.fact_list import Fact
from widgets.sizes import sized
from widgets.visible import visible
from workbench.ledger.card import estimate_range, why_ended
from workbench.ledger.parts import NamedPrediction
from workbench.ledger.record import Record
from workbench.ledger.status import COMPLETE
from workbench.ledger.words import percent, rate
from workbench.prediction.ceiling import BandwidthFigure, Ceiling, ceiling_tps
from workbench.protocol.plan import expected_seconds
from workbench.protocol.run import Phase, Run
from workbench.tui.desk import Desk
from workbench.tui.power_words import duration, energy_facts, wish_fact

if TYPE_CHECKING:
    from workbench.accounting.count import Count
    from workbench.analysis.calibration import Placed
    from workbench.analysis.reference import Beside


def facts(desk: Desk) -> list[Fact]:
    """What is known of the checkpoint before anything is measured. No quotient is among it."""
    checkpoint, count = desk.checkpoint, desk.count
    if checkpoint is None or count is None:
        return []
    lines = [Fact("note", "", notice, mark=True) for notice in (desk.run.notices if desk.run else ())]
    if desk.synthetic:
        lines.append(Fact("weights", "synthetic", "random numbers of a real shape", mark=True))
    if desk.weight_bytes is None and count.refusal is not None:
        lines.append(Fact("a token reads", "no honest figure", count.refusal.message, mark=True))
    else:
        rule = _in_force(desk)
        lines.append(Fact("a token reads", sized(desk.weight_bytes or 0), rule, mark=bool(rule)))
    lines += override_facts(count)
    seed = count.seed.weight_bytes
    same = "what the rules say" if count.is_overridden else "the same"
    note = same if seed == count.weight_bytes_by_rules else "differs from the count"
    lines.append(Fact("on disk", sized(count.disk_bytes)))
    if count.resident_bytes:  # a recorded run may not say
        lines.append(Fact("resident", sized(count.resident_bytes)))
    if seed:
        lines.append(Fact("seed rule", sized(seed), note))
    if count.lookup_bytes:
        lines.append(Fact("look-up rows", sized(count.lookup_bytes), "not in the ceiling"))
    if count.experts:
        lines.append(Fact("experts", f"{count.experts_per_token} of {count.experts}", "per token and layer"))
    lines.append(Fact("counted for", count.runtime, "batch 1"))
    if desk.energy is not None:
        lines.append(wish_fact(desk.energy))
    lines += [Fact("warning", "", finding.message, mark=True) for finding in checkpoint.findings]
    lines += [Fact("warning", "", finding.message, mark=True) for finding in count.findings]
    return lines


def _in_force(desk: Desk) -> str:
    """Which account the ceiling uses, where it is not the count's."""
    if desk.rule != "count":
        return f"by the rule {desk.rule}, on purpose"
    if desk.plan is not None and desk.plan.in_force == "graph":
        return f"by the decode graph; the count says {sized(desk.plan.count.weight_bytes)}"
    if desk.count is not None and desk.count.is_overridden:
        return f"by your override; the rules say {sized(desk.count.weight_bytes_by_rules)}"
    return ""


def override_facts(count: Count) -> list[Fact]:
    """Every override that names a tensor here: what it says, of how many, and why."""
    lines = []
    for one in count.overrides:
        if one.tensors:
            role = one.role.replace("_", " ") if one.role else ""
            share = f"share {one.share}" if one.share is not None else ""
            said = ", ".join(filter(None, (role, share)))
            many = f"{one.tensors:,} tensor{'' if one.tensors == 1 else 's'}"
            lines.append(
                Fact("override", one.pattern, f"{said or 'applied'} ({many}): {one.reason}", mark=True)
            )
    return lines


def ceilings(desk: Desk) -> tuple[Ceiling, ...]:
    """The ceilings that may be shown: none before a prediction is locked."""
    weight_bytes = desk.weight_bytes
    if not desk.locked or desk.run is None or not weight_bytes:
        return ()
    figures = desk.run.plan.bandwidths
    return tuple(Ceiling(f.name, f.gbps, ceiling_tps(f.gbps, weight_bytes)) for f in figures)


def ceiling_facts(desk: Desk) -> list[Fact]:
    """Each ceiling, and where the locked numbers stand to it."""
    run = desk.run
    if run is None:
        return []
    lines = []
    for ceiling in ceilings(desk):
        lines.append(Fact("ceiling", f"{rate(ceiling.tps)} tok/s", ceiling.name))
        for said in run.predictions:
            over = said.tps > ceiling.tps
            note = f"{percent(said.tps / ceiling.tps)} of it" + (
                ": above what the bus carries" if over else ""
            )
            lines.append(Fact(said.name or "your number", f"{rate(said.tps)} tok/s", note, mark=over))
        if desk.rule == "count" and run.plan.count.is_overridden:
            untouched = ceiling_tps(ceiling.gbps, run.plan.count.weight_bytes_by_rules)
            lines.append(Fact("by the rules", f"{rate(untouched)} tok/s", "without your override"))
    expected = run.plan.fit_estimate if desk.locked else None
    if expected is not None:
        range_words = f"{estimate_range(expected)}, by earlier runs"
        lines.append(Fact("the fit", f"{rate(expected.tps)} tok/s", range_words))
    if desk.locked and desk.record is None and run.predictions and not run.load_begun:
        seconds = expected_seconds(run.plan, run.predictions[0].tps)
        lines.append(Fact("will take", duration(seconds), "by your number, loading aside"))
    return lines


def locked_words(run: Run) -> str:
    """The lock in one line: what, when, and whether it may still be corrected."""
    if not run.locks:
        return ""
    at = clock(run.locks[-1].at)
    alone = len(run.predictions) == 1
    said = ", ".join(rate(p.tps) if alone else f"{p.name} {rate(p.tps)}" for p in run.predictions)
    again = "" if run.load_begun else "  (n corrects it until the model loads)"
    corrected = f", correction {len(run.locks) - 1}" if len(run.locks) > 1 else ""
    return f"locked {said} tok/s at {at}{corrected}{again}"


def clock(utc: str) -> str:
    """The time of day of an ISO time: `14:03:22Z`; the text itself where it is none."""
    try:
        return datetime.fromisoformat(utc).strftime("%H:%M:%SZ")
    except ValueError:
        return utc


PHASE_WORDS = {
    Phase.STARTING: "the worker imports its libraries",
    Phase.PREDICTING: "ready: nothing is loaded before a number is locked",
    Phase.LOCKED: "locked: r runs",
    Phase.LOADING: "loading the model",
    Phase.WARMING: "warming up: these tokens are thrown away",
    Phase.PREFILL: "prefill",
    Phase.DECODING: "decoding",
    Phase.COOLING: "between repeats",
    Phase.IDLE: "idle window, the model loaded",
    Phase.ENERGY: "energy pass",
    Phase.ENDED: "ended",
}


def live_line(run: Run) -> str:
    """One row: phase, repeat, tokens, rates. The first token's rate is never among them."""
    settings = run.plan.settings
    if run.record is not None:
        return f"{run.record.status}: {len(run.repeats)} of {settings.repeats} repeats"
    words = [PHASE_WORDS[run.phase] if run.phase is not Phase.STARTING or run.locked else ""]
    if run.phase in {Phase.PREFILL, Phase.DECODING, Phase.COOLING} and run.repeat_index is not None:
        words = [f"{run.phase} {run.repeat_index + 1}/{settings.repeats}"]
    if run.now is not None:
        if run.now.tps_now is not None:
            words.append(f"now {rate(run.now.tps_now)}")
        if run.now.tps_mean is not None:
            words.append(f"mean {rate(run.now.tps_mean)} tok/s")
        words.append(f"token {run.now.tokens}/{settings.max_tokens}")
    return "  ".join(words)


def chart_of(desk: Desk) -> Chart | None:
    """The plot of the running (or last) repeat, on axes that the lock has fixed; None before there is one."""
    run = desk.run
    if run is None or not run.locked:
        return None
    levels = [Level(c.tps, f"ceiling {rate(c.tps)}: {c.name}", "ceiling") for c in ceilings(desk)] + [
        Level(p.tps, f"{p.name or 'predicted'} {rate(p.tps)}", "prediction") for p in run.predictions[:3]
    ]
    index = run.points[-1].index if run.points else 0
    points = [point for point in run.points if point.index == index]
    now = tuple((float(p.tokens), p.tps_now) for p in points if p.tps_now is not None)
    mean = tuple((float(p.tokens), p.tps_mean) for p in points if p.tps_mean is not None)
    highest = max([level.y for level in levels] + [y for _, y in (*now, *mean)], default=0.0)
    return Chart(
        x_max=float(run.plan.settings.max_tokens),
        y_max=round_up(highest * 1.05),
        now=now,
        mean=mean,
        levels=tuple(levels),
    )


def outcome_facts(record: Record) -> list[Fact]:
    """What became of the predictions; for a run that gave no rate, why."""
    if record.status not in COMPLETE:
        return [Fact(record.status, "", record.reason or "", mark=True)]
    if len(record.predictions) > 1 and record.generation_tps is not None:
        from workbench.analysis.calibration import rank

        placed = rank(record.predictions, record.generation_tps)
        return [Fact(f"{one.place}. {one.name}", f"{rate(one.tps)} tok/s", off_words(one)) for one in placed]
    said = [(p.name or "you", p.tps, p.error) for p in record.predictions]
    if not said and record.predicted_tps_human is not None:
        said = [(record.predicted_by or "you", record.predicted_tps_human, record.prediction_error)]
    return [Fact(name, f"{rate(tps)} tok/s", _off(error)) for name, tps, error in said]


def measured_facts(record: Record) -> list[Fact]:
    """The further figures of a measured run, and what was not measured, with the reason."""
    lines = []
    if record.fit_estimate is not None:
        expected = record.fit_estimate
        lines.append(Fact("fit expected", f"{rate(expected.tps)} tok/s", estimate_range(expected)))
    if record.effective_gbps is not None:
        lines.append(Fact("effective", f"{record.effective_gbps:,.1f} GB/s", "measured x bytes per token"))
    if record.repeats_tps:
        lines.append(Fact("repeats", ", ".join(map(rate, record.repeats_tps)), "tok/s each"))
    if record.ttft_s is not None:
        lines.append(Fact("first token", f"{record.ttft_s * 1000:,.0f} ms"))
    if record.peak_memory_gb is not None:
        lines.append(Fact("peak memory", f"{record.peak_memory_gb:,.2f} GB"))
    lines += [line for reading in record.power for line in energy_facts(reading)]
    if not record.power and record.energy_unavailable_reason:
        first, _, _ = record.energy_unavailable_reason.partition(". ")
        lines.append(Fact("energy", "not measured", first))
    return lines


def beside_facts(rows: Sequence[Beside]) -> list[Fact]:
    """Other runs to set the fraction beside: one line a run, each fraction with its denominator, the date."""
    found: dict[tuple[str, str, str], list[Beside]] = {}
    for row in rows:
        found.setdefault((row.model, row.machine, row.date), []).append(row)
    lines = []
    for (model, machine, date), same in found.items():
        fractions = ", ".join(f"{percent(row.fraction)} of {row.of}" for row in same)
        note = f"{sized(same[0].weight_bytes)} a token: {fractions}; {machine}, {date}"
        lines.append(Fact("beside", model, note))
    return lines


def off_words(one: Placed) -> str:
    """How far off, as people say it: `exact`, `5.7 % too high`, `3.2x too high`."""
    if not math.isfinite(one.factor):
        return "no rate"
    if one.factor < 1.0005:
        return "exact"
    side = "too low" if one.error > 0 else "too high"
    return f"{percent(one.factor - 1)} {side}" if one.factor < 2 else f"{one.factor:.1f}x {side}"


def _off(error: float | None) -> str:
    if error is None:
        return ""
    if abs(error) < 0.0005:
        return "exactly what was measured"
    return f"measured {percent(abs(error))} {'above' if error > 0 else 'below'} it"


def verdict_sentences(record: Record) -> Sequence[str]:
    """The validator's sentences, and what explains an excess where no sentence says so yet.

    Without the one that only repeats why the run ended: `outcome_facts` says that.
    """
    said = " ".join(record.verdict_reasons)
    unsaid = [words for words in record.excess_explained_by if words not in said]
    ended = why_ended(record)
    sentences = [words for words in record.verdict_reasons if not ended or ended not in words]
    return [*sentences, *(f"This would explain the excess: {words}." for words in unsaid)]


def figure_text(figure: BandwidthFigure) -> str:
    """The figure as a person would type it."""
    return f"{figure.gbps:g} {figure.kind} {visible(figure.source)}"


def predictions_text(predictions: Sequence[NamedPrediction]) -> str:
    """Predictions as a person would type them: a number alone, else each with its name."""
    if len(predictions) == 1:
        return f"{predictions[0].tps:g}"
    return " ".join(f"{visible(said.name or 'you', 40)}={said.tps:g}" for said in predictions)
