"""The ledger: records newest first, drawn as they come into sight; enter shows a card.

While a checkpoint waits for its prediction, the results of its earlier runs stay hidden here too.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from widgets.key_hints import KeyHints
from widgets.ledger_table import Cell, Column, LedgerTable
from widgets.line_list import LineList
from workbench.errors import WorkbenchError
from workbench.ledger import store
from workbench.ledger.record import Record
from workbench.ledger.words import rate
from workbench.locations import ledger_path, shown
from workbench.tui.bindings import bindings, hints
from workbench.tui.options import Options
from workbench.tui.screens.card import CardScreen

COLUMNS = (
    Column("date", 10, rank=2),
    Column("model", 16, stretch=True),
    Column("bytes/token", 11, "right", rank=5),
    Column("ceiling", 9, "right", rank=4),
    Column("predicted", 9, "right", rank=1),
    Column("tok/s", 9, "right"),
    Column("fraction", 8, "right", rank=3),
    Column("verdict", 15),
)


class LedgerScreen(Screen[None]):
    """A table of all records."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("ledger")]

    class Read(Message):
        """The file was read."""

        def __init__(
            self, records: Sequence[Record], damaged: Sequence[tuple[int, str]], problem: str
        ) -> None:
            super().__init__()
            self.records, self.damaged, self.problem = records, damaged, problem

    def __init__(self, options: Options, hidden_model: str | None = None) -> None:
        """`hidden_model`: the checkpoint whose prediction is still to be said."""
        super().__init__()
        self._path = options.ledger or ledger_path()
        self._hidden = hidden_model

    def compose(self) -> ComposeResult:
        """Table, a line about the file, hints."""
        with Vertical(id="ledger") as box:
            box.border_title = "ledger"
            yield LedgerTable(COLUMNS, id="records")
            yield Static(id="ledger-note", markup=False)
        yield KeyHints(hints(["leave_ledger", "next_theme", "help", "leave_program"]))

    def on_mount(self) -> None:
        """Read the file in a thread."""
        self.query_one(LedgerTable).empty_text = "reading …"
        self.query_one(LedgerTable).focus()
        self._read()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _read(self) -> None:
        try:
            reading = store.read(self._path)
        except WorkbenchError as error:
            self.post_message(self.Read((), (), f"{error.message} {error.hint}"))
        else:
            self.post_message(self.Read(reading.records[::-1], reading.damaged, ""))

    @on(Read)
    def _show(self, event: Read) -> None:
        table = self.query_one(LedgerTable)
        table.empty_text = "no records yet: esc, choose a checkpoint, predict, run"
        table.show(event.records, self._cells)
        box = self.query_one("#ledger", Vertical)
        box.border_subtitle = f"{len(event.records):,} records"
        notes = [event.problem or shown(self._path)]
        if event.damaged:
            line, why = event.damaged[0]
            notes.append(f"{len(event.damaged)} damaged lines left alone, the first is line {line}: {why}")
        if self._hidden:
            notes.append(f"{self._hidden}: earlier results are hidden until your number is locked")
        self.query_one("#ledger-note", Static).update("\n".join(notes))

    def _cells(self, row: object) -> list[Cell]:
        assert isinstance(row, Record)
        hide = self._hidden is not None and row.model == self._hidden
        principal = row.fractions[0].value if row.fractions else None
        verdict = row.verdict if row.status == "measured" else row.status
        bad = row.verdict == "counting error" or row.status in {"failed", "interrupted"}
        hidden: Cell = ("hidden", "quiet")
        return [
            (row.date or "")[:10],
            row.model or row.experiment,
            f"{row.weight_bytes_per_token / 1e9:.3f} GB" if row.weight_bytes_per_token else "–",
            hidden if hide else _rate(row.predicted_decode_tps),
            _rate(row.predicted_tps_human),
            hidden if hide else _rate(row.generation_tps or row.achieved_gbps),
            hidden if hide else f"{principal * 100:.0f} %" if principal is not None else "–",
            hidden if hide else (verdict or "–", "marked") if bad else verdict or "–",
        ]

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        record = self.query_one(LedgerTable).row_at(event.index)
        if not isinstance(record, Record):
            return
        if self._hidden is not None and record.model == self._hidden:
            self.notify("Lock your number first: this record would give it away.", markup=False)
            return
        self.app.push_screen(CardScreen(record))

    def action_leave_ledger(self) -> None:
        """Back."""
        self.app.pop_screen()


def _rate(tps: float | None) -> str:
    return rate(tps) if tps is not None else "–"
