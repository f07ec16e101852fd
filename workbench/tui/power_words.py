"""Power in words: this machine's sources, the rows of a running energy pass, the readings of a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from widgets.fact_list import LABEL_CELLS, Fact
from widgets.sparkline import sparkline
from workbench.ledger.parts import PowerReading
from workbench.ledger.record import Record

if TYPE_CHECKING:
    from workbench.power.choice import Choice
    from workbench.power.live import Live
    from workbench.power.source import Row
    from workbench.tui.energy_wish import EnergyWish

GAP = Fact("")


def source_facts(choice: Choice) -> list[Fact]:
    """What this machine can measure, each with its scope; what was looked for in vain, with the reason."""
    from workbench.power.choice import METER_HELPS

    lines = [Fact(row.key, row.scope(), _cadence(row)) for row in choice.rows]
    if not choice.sources:
        lines.append(Fact("no source", "", METER_HELPS, mark=True))
    lines += [Fact(name, "", why) for name, why in choice.looked_for]
    return lines


def wish_fact(wish: EnergyWish) -> Fact:
    """The energy pass that was asked for."""
    idle = f", after {duration(wish.idle_s)} of idle" if wish.idle_s else ""
    words = f"of steady decode after the repeats{idle} (E changes it)"
    return Fact("energy pass", duration(wish.window_s), words)


def live_facts(rows: Sequence[Live], cells: int) -> list[Fact]:
    """The rows of a running pass: watts, their course, energy so far, and whether a claim will hold."""
    from workbench.power.live import LiveState

    wrong = {LiveState.STALLED, LiveState.ERROR, LiveState.ENDED}
    lines: list[Fact] = []
    for row in rows:
        lines += [GAP] if lines else []
        lines.append(Fact(row.key, row.state, row.scope, mark=row.state in wrong))
        if row.watts_now is not None:
            mean = f"now, mean {watts(row.mean_w)}" if row.mean_w is not None else "now"
            lines.append(Fact("power", watts(row.watts_now), mean))
        if len(row.history_w) > 1:
            lines.append(Fact("course", "", sparkline(row.history_w, max(0, cells - LABEL_CELLS))))
        if row.mwh_per_token is not None and row.j_per_token is not None and row.state not in wrong:
            so_far = f"{row.j_per_token:.4g} J/token"
            lines.append(Fact("so far", f"{row.mwh_per_token:.4g} mWh/token", so_far))
        lines.append(Fact("samples", f"{row.samples:,}", row.outlook, mark=row.state in wrong))
    return lines


def reading_facts(record: Record) -> list[Fact]:
    """What a run's energy pass gave: every row with its scope and what it may claim, or why there is none."""
    lines: list[Fact] = []
    for reading in record.power:
        lines += [GAP] if lines else []
        lines.append(Fact(reading.source, reading.claim, reading.scope, mark=reading.claim == "none"))
        if reading.mean_w is not None:
            idle = f", idle {watts(reading.idle_w)}" if reading.idle_w is not None else ""
            seconds = f" over {reading.window_s:.0f} s" if reading.window_s else ""
            lines.append(Fact("power", watts(reading.mean_w), f"mean{seconds}{idle}"))
        lines += energy_facts(reading, scope=False)
        lines += [Fact("why", "", reason, mark=reading.claim == "none") for reason in reading.claim_reasons]
    if not record.power and record.energy_unavailable_reason:
        lines.append(Fact("energy", "not measured", record.energy_unavailable_reason))
    return lines


def energy_facts(reading: PowerReading, *, scope: bool = True) -> list[Fact]:
    """Energy a token with its claim and scope; without a claim there is no figure, only the reason.

    Without `scope` the line stands under one that has said claim and scope.
    """
    if reading.claim == "none" or reading.mwh_per_token_gross is None:
        if not scope:
            return []
        reason = reading.claim_reasons[0] if reading.claim_reasons else "no figure"
        return [Fact("energy", "no claim", f"{reason}; {reading.scope}")]
    tps, power_w, net = reading.tps_in_window, reading.mean_w, reading.mwh_per_token_net
    formula = f"= {watts(power_w)} / (3.6 x {tps:.1f} tok/s)" if tps and power_w is not None else ""
    joules = f"{reading.j_per_token_gross:.4g} J/token" if reading.j_per_token_gross is not None else ""
    less_idle = f"net of idle {round(net, 5) + 0.0:.4g} mWh/token" if net is not None else ""
    note = ", ".join(part for part in (formula, joules, less_idle) if part)
    if scope:
        note = f"{note}; {reading.claim}: {reading.scope}".removeprefix("; ")
    return [Fact("energy", f"{reading.mwh_per_token_gross:.4g} mWh/token", note)]


def duration(seconds: float) -> str:
    """Seconds as people say them: `4 s`, `3 min 20 s`."""
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60} s"


def watts(power_w: float) -> str:
    """Watts as screens write them."""
    return f"{power_w:,.1f} W"


def _cadence(row: Row) -> str:
    if row.is_typed:
        return "typed once: indicative at most"
    return f"every {row.cadence_s:g} s" if row.cadence_s else ""
