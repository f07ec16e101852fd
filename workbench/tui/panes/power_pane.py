"""Power: the sources of this machine; during an energy pass what they read; after it what it may claim."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from widgets.fact_list import Fact, FactList
from workbench.ledger.record import PowerReading
from workbench.protocol.run import Phase, Run
from workbench.tui.desk import Desk
from workbench.tui.power_words import GAP, live_facts, reading_facts, source_facts, watts

if TYPE_CHECKING:
    from workbench.power.choice import Choice
    from workbench.power.live import Live
    from workbench.power.meter import Meter

HOW = Fact("E", "", "adds an energy pass to the run, or takes it out: it asks how long")


class PowerPane(VerticalScroll):
    """Paints whichever of the three is there."""

    BORDER_TITLE = "5 power"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._choice: Choice | None = None
        self._since: tuple[str, int] | None = None

    def compose(self) -> ComposeResult:
        """One list."""
        yield FactList([Fact("", "", "looking for a power source ...")])

    def show(self, choice: Choice) -> None:
        """These sources were found."""
        self._choice = choice
        self._show_sources()

    def paint(self, desk: Desk, meter: Meter | None, *, blind: bool = False) -> None:
        """Show the energy pass that is going on, or its readings once the record is there."""
        record = desk.record
        if record is not None and (record.power or desk.run is None or desk.run.energy is not None):
            self._list(reading_facts(record), _claims(record.power))
        elif meter is None or not desk.running or desk.run is None:
            self._show_sources()
        elif blind:
            self._list([Fact("", "", "blind: nothing is shown until the run ends")], "")
        else:
            self.show_live(self._live(meter, desk.run))

    def show_live(self, rows: tuple[Live, ...]) -> None:
        """The rows of a running pass."""
        from workbench.power.live import headline

        first = headline(rows)
        self._list(
            live_facts(rows, self.content_size.width),
            watts(first.watts_now or 0) if first is not None else "",
        )

    def _live(self, meter: Meter, run: Run) -> tuple[Live, ...]:
        from workbench.power.live import live

        now_ns = time.perf_counter_ns()
        decoding = run.phase is Phase.ENERGY and run.now is not None
        if (
            decoding
            and run.now is not None
            and (self._since is None or self._since[0] != run.plan.run_group_id)
        ):
            self._since = run.plan.run_group_id, now_ns - round(run.now.elapsed_s * 1e9)
        return live(
            meter.trace(),
            now_ns,
            since_ns=self._since[1] if decoding and self._since is not None else None,
            tps=run.now.tps_mean if decoding and run.now is not None else None,
            expected_s=run.plan.settings.energy_min_s,
        )

    def _show_sources(self) -> None:
        choice = self._choice
        if choice is None:
            return
        subtitle = f"{len(choice.rows)} rows" if choice.rows else "no source"
        self._list([*source_facts(choice), GAP, HOW], subtitle)

    def _list(self, facts: list[Fact], subtitle: str) -> None:
        self.query_one(FactList).show(facts)
        if self.border_subtitle != subtitle:
            self.border_subtitle = subtitle


def _claims(readings: Sequence[PowerReading]) -> str:
    return ", ".join(dict.fromkeys(reading.claim for reading in readings))
