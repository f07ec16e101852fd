"""Power: the sources of this machine; during an energy pass what they read; after it what it may claim."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from widgets.fact_list import Fact, FactList
from workbench.analysis.rates import decode_tps
from workbench.ledger.parts import PowerReading
from workbench.protocol.run import Phase, Run
from workbench.tui.desk import Desk
from workbench.tui.power_words import GAP, live_facts, reading_facts, source_facts, wish_fact

if TYPE_CHECKING:
    from workbench.power.choice import Choice
    from workbench.power.live import Live
    from workbench.power.meter import Meter

HOW = Fact("energy pass", "none", "E adds one to the run, and asks how long")


EVERY_S = 0.5
"""Watts are read, not watched: four rows of sources stay within a slow link's budget."""


class PowerPane(VerticalScroll):
    """Paints whichever of the three is there."""

    BORDER_TITLE = "5 power"
    DEFAULT_CLASSES = "pane"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._choice: Choice | None = None
        self._window: tuple[str, int] | None = None
        self._shown_s = 0.0

    def compose(self) -> ComposeResult:
        """One list."""
        yield FactList([Fact("", "", "looking for a power source ...")])

    def use(self, choice: Choice) -> None:
        """These sources measure; they are shown with the next `paint`."""
        self._choice = choice

    def paint(self, desk: Desk, meter: Meter | None, *, blind: bool = False) -> None:
        """Show the energy pass that is going on, or its readings once the record is there."""
        record = desk.record
        if record is not None and (record.power or desk.run is None or desk.run.energy is not None):
            self._list(reading_facts(record), _claims(record.power))
        elif meter is None or not desk.running or desk.run is None:
            self._show_sources(desk)
        elif blind:
            self._list([Fact("", "", "blind: nothing is shown until the run ends")], "")
        elif (now_s := time.monotonic()) - self._shown_s >= EVERY_S:
            self._shown_s = now_s
            self.show_live(self._live(meter, desk.run))

    def show_live(self, rows: tuple[Live, ...]) -> None:
        """The rows of a running pass. The subtitle holds still: a new one repaints the whole pane."""
        states = ", ".join(dict.fromkeys(str(row.state) for row in rows))
        self._list(live_facts(rows, self.content_size.width), states)

    def _live(self, meter: Meter, run: Run) -> tuple[Live, ...]:
        from workbench.power.live import live

        settings, now_ns = run.plan.settings, time.perf_counter_ns()
        now = run.now if run.phase is Phase.ENERGY else None
        opens_ns = None if now is None else self._opens(run, now_ns - round(now.elapsed_s * 1e9))
        is_open = opens_ns is not None and now_ns >= opens_ns
        return live(
            meter.trace(),
            now_ns,
            since_ns=opens_ns if is_open else None,
            tps=now.tps_mean if now is not None else None,
            expected_s=settings.energy_min_s,
            repeats_tps=_rate_of(run),
        )

    def _opens(self, run: Run, first_token_ns: int) -> int:
        """When the window opens, on the meter's clock: the run-in does not count."""
        if self._window is None or self._window[0] != run.plan.run_group_id:
            self._window = run.plan.run_group_id, first_token_ns + round(run.plan.settings.edge_s * 1e9)
        return self._window[1]

    def _show_sources(self, desk: Desk) -> None:
        choice = self._choice
        if choice is None:
            return
        asked = HOW if desk.energy is None else wish_fact(desk.energy)
        rows = len(choice.rows)
        subtitle = f"{rows} row{'' if rows == 1 else 's'}" if rows else "no source"
        self._list([asked, GAP, *source_facts(choice)], subtitle)

    def _list(self, facts: list[Fact], subtitle: str) -> None:
        self.query_one(FactList).show(facts)
        if self.border_subtitle != subtitle:
            self.border_subtitle = subtitle


def _rate_of(run: Run) -> float | None:
    """The mean rate of the repeats, None before one has a rate."""
    found = [tps for repeat in run.repeats if (tps := decode_tps(repeat.token_times_ns)) is not None]
    return fmean(found) if found else None


def _claims(readings: Sequence[PowerReading]) -> str:
    return ", ".join(dict.fromkeys(reading.claim for reading in readings))
