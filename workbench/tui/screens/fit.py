"""The fit: seconds a token over bytes a token, group by group, with everything that limits what it may claim.

Three pages (time, fraction, table), side by side where there is room. Points carry the letters of their rows.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from widgets.key_hints import Hint, KeyHints
from widgets.ledger_table import Cell, Column, LedgerTable
from widgets.line_list import LineList
from widgets.rate_plot import RatePlot
from widgets.visible import visible
from workbench.analysis.fit_words import HEADERS
from workbench.errors import WorkbenchError
from workbench.ledger.store import records
from workbench.ledger.table import load
from workbench.locations import ledger_path
from workbench.tui.bindings import bindings, hints
from workbench.tui.fit_charts import fraction_chart, letter, seconds_chart
from workbench.tui.fit_view import FitView, views
from workbench.tui.hidden import Hidden
from workbench.tui.messages import Notice
from workbench.tui.options import Options
from workbench.tui.panes import say

PAGES = ("time", "fraction", "table")
GROUP_COLUMNS = (
    Column("group", 22, stretch=True),
    Column("models", 6, "right"),
    Column("overhead + bytes / bandwidth", 28, rank=1),
    Column("standing", 9),
)
_CELLS = {"model": 14, "GB/token": 8, "ms/token": 8, "measured": 8, "expected": 8, "off by": 8, "left out": 8}
_RANKS = {"ms/token": 2, "left out": 1, "expected": 3}
_RIGHT: Literal["right"] = "right"
ROW_COLUMNS = (
    Column("", 1),
    *(
        Column(name, _CELLS[name], stretch=True)
        if name == "model"
        else Column(name, _CELLS[name], _RIGHT, _RANKS.get(name, 0))
        for name in HEADERS
    ),
)


class FitScreen(Screen[None]):
    """Groups above, the chosen group's charts and rows below."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("fit")]

    class Fitted(Message):
        """Every group was fitted, or why the ledger could not be read."""

        def __init__(self, found: Sequence[FitView], problem: str = "") -> None:
            super().__init__()
            self.found, self.problem = list(found), problem

    def __init__(self, options: Options, hidden: Hidden | None = None) -> None:
        """`hidden`: the checkpoint whose prediction is still to be said."""
        super().__init__()
        self._path = options.ledger or ledger_path()
        self._hidden = hidden or Hidden()

    def compose(self) -> ComposeResult:
        """Groups, pages, words, hints."""
        with Vertical(id="fit-groups") as groups:
            groups.border_title = "fit: seconds a token = overhead + bytes / bandwidth"
            yield LedgerTable(GROUP_COLUMNS, id="groups")
        yield KeyHints(tabs("time"), tabs=True, id="fit-tabs")
        with Container(id="fit-pages"):
            with Vertical(id="time", classes="page -current") as time:
                time.border_title = "1 milliseconds a token against GB a token"
                yield RatePlot(id="time-plot")
            with Vertical(id="fraction", classes="page") as fraction:
                fraction.border_title = "2 per cent of the ceiling against GB a token"
                yield RatePlot(id="fraction-plot")
            with Vertical(id="table", classes="page") as table:
                table.border_title = "3 every model"
                yield LedgerTable(ROW_COLUMNS, id="fit-rows")
                yield Static(id="fit-words", markup=False)
        yield KeyHints(hints(["people", "picture", "leave_fit", "help", "leave_program"]))

    def on_mount(self) -> None:
        """Read and fit in a thread."""
        for plot in self.query(RatePlot):
            plot.drawing = "braille"
            plot.empty_text = "nothing to plot"
        groups = self.query_one("#groups", LedgerTable)
        groups.empty_text = "reading …"
        groups.focus()
        self._fit()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _fit(self) -> None:
        try:
            taken_back = load(self._path).discarded
            found, problem = views(records(self._path, token_times=False), taken_back, self._hidden), ""
        except WorkbenchError as error:
            found, problem = views((), {}, self._hidden), error.words
        self.post_message(self.Fitted(found, problem))

    @on(Fitted)
    def _fitted(self, event: Fitted) -> None:
        if event.problem:
            self.post_message(Notice(event.problem, problem=True))
        groups = self.query_one("#groups", LedgerTable)
        groups.show(event.found, _group_cells, cursor=0)
        own = len(event.found) - 1
        self.query_one(
            "#fit-groups"
        ).border_subtitle = f"{own} group{'' if own == 1 else 's'} and the office rows"

    @on(LineList.Moved, "#groups")
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        view = self.query_one("#groups", LedgerTable).row_at(event.index)
        if isinstance(view, FitView):
            self._show(view)

    def _show(self, view: FitView) -> None:
        time, fraction = self.query_one("#time-plot", RatePlot), self.query_one("#fraction-plot", RatePlot)
        nothing = "hidden until your number is locked" if view.hidden else "nothing to plot"
        time.empty_text = nothing
        fraction.empty_text = nothing if not view.points else "no record of this group names a bandwidth"
        time.show(seconds_chart(view.points, view.fit, view.beside, view.reference) if view.points else None)
        fraction.show(
            fraction_chart(view.points, view.fit, view.gbps, view.beside)
            if view.points and view.gbps
            else None
        )
        lettered = [(letter(i), *row) for i, row in enumerate(view.rows)]
        self.query_one("#fit-rows", LedgerTable).show(lettered, cursor=0)
        say(
            self.query_one("#fit-words", Static),
            "\n".join(visible(line, 400) for line in (view.name, *view.words)),
        )

    def action_show_page(self, name: str) -> None:
        """Keys 1 to 3: bring a page to the front (narrow)."""
        for page in PAGES:
            self.query_one(f"#{page}").set_class(page == name, "-current")
        self.query_one("#fit-tabs", KeyHints).show(tabs(name))
        self.query_one("#fit-rows" if name == "table" else "#groups").focus()

    def action_leave_fit(self) -> None:
        """Back."""
        self.app.pop_screen()


def tabs(current: str) -> list[Hint]:
    """The pages with their keys, the one in front marked."""
    return [
        Hint(str(i), page, f"show_page('{page}')", marked=page == current) for i, page in enumerate(PAGES, 1)
    ]


def _group_cells(row: object) -> list[Cell]:
    assert isinstance(row, FitView)
    line = row.fit.words if row.fit is not None else "–"
    style: Cell = (row.standing, "quiet") if row.fit is None else row.standing
    return [row.label or row.name, str(len(row.points)) if row.points else "–", line, style]
