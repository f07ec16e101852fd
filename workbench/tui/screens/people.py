"""Calibration: everybody who has predicted, how far off they typically are, whether they get nearer."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen

from widgets.chart import Chart, Mark, round_up
from widgets.key_hints import KeyHints
from widgets.ledger_table import Cell, Column, LedgerTable
from widgets.line_list import LineList
from widgets.rate_plot import RatePlot
from workbench.analysis.calibration import Attempt, Calibration, calibrations
from workbench.errors import WorkbenchError
from workbench.ledger.store import records
from workbench.ledger.table import load
from workbench.ledger.words import rate, signed_percent
from workbench.locations import ledger_path
from workbench.tui.bindings import bindings, hints
from workbench.tui.hidden import Hidden
from workbench.tui.messages import Notice
from workbench.tui.options import Options
from workbench.tui.panes import as_title

PEOPLE = (
    Column("who", 14, stretch=True),
    Column("runs", 5, "right"),
    Column("typically off", 13, "right"),
    Column("measured / said", 15, "right", rank=1),
    Column("first half", 10, "right", rank=2),
    Column("last half", 10, "right"),
)
ATTEMPTS = (
    Column("", 1),
    Column("date", 10),
    Column("model", 14, stretch=True),
    Column("machine", 12, rank=1),
    Column("said", 8, "right"),
    Column("measured", 8, "right"),
    Column("error", 9, "right"),
)
MOST_OFF_PERCENT = 400.0
"""Guesses that are further off stand at the top of the chart."""


class PeopleScreen(Screen[None]):
    """People above; the chosen one's errors over time below."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("people")]

    class Calibrated(Message):
        """Everybody's record, or why the ledger could not be read."""

        def __init__(self, found: Sequence[Calibration], problem: str = "") -> None:
            super().__init__()
            self.found, self.problem = list(found), problem

    def __init__(self, options: Options, hidden: Hidden | None = None) -> None:
        """`hidden`: the checkpoint whose prediction is still to be said."""
        super().__init__()
        self._path = options.ledger or ledger_path()
        self._hidden = hidden or Hidden()

    def compose(self) -> ComposeResult:
        """People, chart, attempts, hints."""
        with Vertical(id="people-box") as box:
            box.border_title = "calibration"
            yield LedgerTable(PEOPLE, id="people")
        with Vertical(id="errors-box") as errors:
            errors.border_title = "per cent off, run by run"
            yield RatePlot(id="errors")
        with Vertical(id="attempts-box") as attempts:
            attempts.border_title = "runs, newest first: + said too much, - too little"
            yield LedgerTable(ATTEMPTS, id="attempts")
        yield KeyHints(hints(["fit", "picture", "leave_people", "help", "leave_program"]))

    def on_mount(self) -> None:
        """Read the ledger in a thread."""
        plot = self.query_one(RatePlot)
        plot.drawing = "braille"
        plot.empty_text = "nobody chosen"
        people = self.query_one("#people", LedgerTable)
        people.empty_text = "reading …"
        people.focus()
        self._calibrate()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _calibrate(self) -> None:
        try:
            taken_back = load(self._path).discarded
            every = records(self._path, token_times=False)
            shown = (record for record in every if not self._hidden.hides(record.model))
            self.post_message(self.Calibrated(calibrations(shown, taken_back)))
        except WorkbenchError as error:
            self.post_message(self.Calibrated((), error.words))

    @on(Calibrated)
    def _calibrated(self, event: Calibrated) -> None:
        if event.problem:
            self.post_message(Notice(event.problem, problem=True))
        people = self.query_one("#people", LedgerTable)
        people.empty_text = "nobody has predicted a run yet"
        people.show(event.found, _person_cells, cursor=0)
        hidden = f", {self._hidden.model} left out until your number is locked" if self._hidden else ""
        self.query_one(
            "#people-box"
        ).border_subtitle = f"{len(event.found)} people{as_title(hidden, 80) if hidden else ''}"

    @on(LineList.Moved, "#people")
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        person = self.query_one("#people", LedgerTable).row_at(event.index)
        if isinstance(person, Calibration):
            self.query_one(RatePlot).show(error_chart(person.attempts))
            newest_first = list(reversed(person.attempts))
            self.query_one("#attempts", LedgerTable).show(newest_first, _attempt_cells, cursor=0)
            self.query_one("#errors-box").border_subtitle = as_title(person.name, 40)

    def action_leave_people(self) -> None:
        """Back."""
        self.app.pop_screen()


def error_chart(attempts: Sequence[Attempt]) -> Chart:
    """Per cent off over the runs in their order: + where the number was too high, - where too low."""
    points = [
        (i + 1.0, min(MOST_OFF_PERCENT, (one.factor - 1) * 100), "+" if one.error < 0 else "-")
        for i, one in enumerate(attempts)
    ]
    return Chart(
        x_max=float(max(4, len(points))),
        y_max=round_up(max(10.0, *(y for _, y, _ in points)) * 1.05),
        mean=tuple((x, y) for x, y, _ in points),
        marks=tuple(Mark(x, y, sign) for x, y, sign in points),
        x_unit="runs",
    )


def _person_cells(row: object) -> list[Cell]:
    assert isinstance(row, Calibration)
    return [
        row.name,
        str(len(row.attempts)),
        f"{row.typical_factor:.2f}x",
        f"{row.bias:.2f}",
        f"{row.early_factor:.2f}x" if row.early_factor is not None else "–",
        f"{row.late_factor:.2f}x" if row.late_factor is not None else "–",
    ]


def _attempt_cells(row: object) -> list[Cell]:
    assert isinstance(row, Attempt)
    sign = "+" if row.error < 0 else "-"
    return [
        sign,
        row.date[:10],
        row.model,
        row.machine,
        rate(row.predicted_tps),
        rate(row.measured_tps),
        signed_percent(row.error),
    ]
