"""The ledger: records newest first, filtered as you type, drawn as they come into sight; enter shows a card.

While a checkpoint waits for its prediction, the results of its earlier runs stay hidden here too. Reading and
filtering happen in threads; nothing is decoded that is not looked at.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static

from widgets.key_hints import KeyHints
from widgets.ledger_table import Cell, LedgerTable
from widgets.line_list import LineList
from widgets.visible import visible
from workbench.errors import WorkbenchError
from workbench.ledger.discard import discard
from workbench.ledger.query import KEYS, NOT_SHOWN, parse_query, select
from workbench.ledger.record import Record
from workbench.ledger.row import Row
from workbench.ledger.table import Table, load, record_of
from workbench.locations import ledger_path, shown
from workbench.tui.bindings import TYPING, bindings, hints
from workbench.tui.hidden import Hidden
from workbench.tui.ledger_rows import COLUMNS, cells_of, damage_words
from workbench.tui.messages import Notice
from workbench.tui.options import Options
from workbench.tui.panes import say
from workbench.tui.screens.card import CardScreen
from workbench.tui.screens.difference import DifferenceScreen
from workbench.tui.screens.discard import DiscardScreen


class LedgerScreen(Screen[None]):
    """A table of all records. `read_only` for a ledger that is only replayed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("ledger"),
        Binding("escape", "leave_ledger", "Back", show=False),
    ]

    class Read(Message):
        """The file was read, or why not."""

        def __init__(self, table: Table, problem: str = "") -> None:
            super().__init__()
            self.table, self.problem = table, problem

    class Selected(Message):
        """The rows that a filter leaves, newest first, or what is wrong with the filter."""

        def __init__(self, table: Table, text: str, rows: Sequence[Row], problem: str = "") -> None:
            super().__init__()
            self.table, self.text, self.rows, self.problem = table, text, rows, problem

    def __init__(
        self, options: Options, hidden: Hidden | None = None, *, read_only: bool = False, note: str = ""
    ) -> None:
        """`hidden`: the checkpoint whose prediction is still to be said. `note` stands in the title."""
        super().__init__()
        self._options = options
        self._path = options.ledger or ledger_path()
        self._hidden = hidden or Hidden()
        self._read_only = read_only
        self._note = note
        self._table = Table()
        self._problem = ""
        self._marked: list[str] = []
        self._wanted: str | None = None
        self._looking = False
        self._kept = 0

    def compose(self) -> ComposeResult:
        """Filter, table, a line about the file, hints."""
        with Vertical(id="ledger") as box:
            box.border_title = f"ledger{self._note}"
            yield Input(placeholder=f"words, or {', '.join(f'{key}:' for key in KEYS[:4])} ...", id="query")
            yield LedgerTable(COLUMNS, id="records")
            yield Static(id="ledger-note", markup=False)
        yield KeyHints(typing=TYPING, id="ledger-hints")

    def on_mount(self) -> None:
        """Read the file in a thread."""
        self.query_one("#query").display = False
        self.table.empty_text = "reading …"
        self.table.focus()
        self._hint()
        self._read()

    @property
    def table(self) -> LedgerTable:
        """The rows."""
        return self.query_one("#records", LedgerTable)

    # --- reading and filtering ---

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read(self) -> None:
        try:
            table = load(self._path)
        except WorkbenchError as error:
            self.post_message(self.Read(Table(), error.words))
        else:
            rows = [self._hidden.redacted(row) for row in table.rows] if self._hidden else table.rows
            self.post_message(self.Read(Table(rows, table.damaged, table.discarded)))

    @on(Read)
    def _was_read(self, event: Read) -> None:
        self._table, self._problem = event.table, event.problem
        self._kept = sum(row.status != NOT_SHOWN for row in event.table.rows)
        self._look_for()

    def _look_for(self) -> None:
        """Filter by what stands in the box; while one text is looked for, later ones wait."""
        if not self._looking:
            self._looking = True
            self._select(self._table, self.query_one("#query", Input).value)

    # Without a description Textual would make one of the arguments: the repr of a hundred thousand rows.
    @work(thread=True, group="select", exit_on_error=False, description="filter the ledger")
    def _select(self, table: Table, text: str) -> None:
        try:
            rows = select(table, parse_query(text))
        except WorkbenchError as error:
            self.post_message(self.Selected(table, text, (), error.words))
        else:
            self.post_message(self.Selected(table, text, rows[::-1]))

    @on(Selected)
    def _was_selected(self, event: Selected) -> None:
        self._looking = False
        if event.table is not self._table or event.text != self.query_one("#query", Input).value:
            self._look_for()
            return
        here = self._wanted or (row.record_id if (row := self._row()) else None)
        self._wanted = None
        cursor = next((i for i, row in enumerate(event.rows) if row.record_id == here), 0)
        filtered = bool(event.text.strip())
        self.table.empty_text = (
            "no record matches: esc clears the filter"
            if filtered
            else "no records yet: esc, choose a checkpoint, predict, run"
        )
        self.table.show(event.rows, self._cells, cursor=cursor)
        of = f"{len(event.rows):,} of " if filtered else ""
        records = f"{self._kept:,} record{'' if self._kept == 1 else 's'}"
        self.query_one("#ledger", Vertical).border_subtitle = of + records
        self._say_note(event.problem)

    def _say_note(self, problem: str) -> None:
        notes = [problem or self._problem or shown(self._path)]
        notes += damage_words(self._table.damaged)
        if self._hidden:
            notes.append(f"{self._hidden.model}: earlier results are hidden until your number is locked")
        note = self.query_one("#ledger-note", Static)
        note.set_class(bool(problem or self._problem), "-wrong")
        say(note, "\n".join(visible(line, 400) for line in notes))

    def _cells(self, row: object) -> Sequence[Cell]:
        assert isinstance(row, Row)
        return cells_of(
            row,
            self._table.discarded,
            marked=row.record_id in self._marked,
            hidden=self._hidden.hides(row.model),
        )

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._look_for()

    @on(Input.Submitted, "#query")
    def _done(self, event: Input.Submitted) -> None:
        event.stop()
        self.table.focus()

    # --- one record, two records ---

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        row = self.table.row_at(event.index)
        if isinstance(row, Row):
            self._with_records([row], self._open_card)

    def _open_card(self, records: Sequence[Record]) -> None:
        [record] = records
        because = self._table.discarded.get(record.record_id)
        self.app.push_screen(CardScreen(record, because, options=self._options, note=self._note))

    def _open_difference(self, records: Sequence[Record]) -> None:
        self.app.push_screen(DifferenceScreen(records[0], records[1]))

    def _with_records(self, rows: Sequence[Row], then: Callable[[Sequence[Record]], None]) -> None:
        """Read whole records of rows and go on with them; say so where one is hidden or cannot be read."""
        if any(self._hidden.hides(row.model) for row in rows):
            self._notice("Lock your number first: this record would give it away.")
            return
        try:
            then([record_of(self._path, row) for row in rows])
        except WorkbenchError as error:
            self._notice(error.words)

    def _row(self) -> Row | None:
        row = self.table.row_at(self.table.cursor)
        return row if isinstance(row, Row) else None

    def _notice(self, text: str) -> None:
        self.post_message(Notice(text, problem=True))

    def _hint(self) -> None:
        off = [] if len(self._marked) == 2 else ["compare_marked"]
        off += ["discard"] if self._read_only else []
        ids = ["show_card", "filter_records", "mark", "compare_marked", "discard", "leave_ledger"]
        self.query_one("#ledger-hints", KeyHints).show(hints(ids, off))

    # --- the keys, see `actions` ---

    def action_show_card(self) -> None:
        """Enter."""
        self.table.action_choose()

    def action_filter_records(self) -> None:
        """Show the filter box and put the cursor into it."""
        box = self.query_one("#query", Input)
        box.display = True
        box.focus()

    def action_mark(self) -> None:
        """Mark or unmark the record under the cursor; the third mark takes the oldest one's place."""
        row = self._row()
        if row is None:
            return
        if row.record_id in self._marked:
            self._marked.remove(row.record_id)
        else:
            self._marked = [*self._marked, row.record_id][-2:]
        self.table.refresh()
        self._hint()

    def action_compare_marked(self) -> None:
        """Two marked records, field by field."""
        rows = {row.record_id: row for row in self._table.rows if row.record_id in self._marked}
        if len(rows) < 2:
            self._notice("Mark two records first: space marks the one under the cursor.")
        else:
            self._with_records([rows[one] for one in self._marked], self._open_difference)

    def action_discard(self) -> None:
        """Ask for the reason, then append the record that takes this one back."""
        row = self._row()
        if self._read_only:
            self._notice("This ledger is only being replayed: nothing is appended to it.")
        elif row is not None:
            model = row.model or row.experiment
            named = f"{model}, {(row.date or 'no date')[:10]}, {row.record_id[:8]}"

            def said(reason: str | None) -> None:
                if reason is not None:
                    self._discard(row.record_id, reason)

            self.app.push_screen(DiscardScreen(named), said)

    @work(thread=True, group="discard", exit_on_error=False)
    def _discard(self, record_id: str, reason: str) -> None:
        try:
            discard(self._path, record_id, reason)
        except WorkbenchError as error:
            self._notice(error.words)
        else:
            self.post_message(Notice("Discarded: a later record says so, and why. Nothing was rewritten."))
            self.app.call_from_thread(self.action_read_again)

    def action_read_again(self) -> None:
        """Another program may have appended meanwhile."""
        row = self._row()
        self._wanted = row.record_id if row is not None else None
        self._read()

    def action_leave_ledger(self) -> None:
        """Escape: first out of the filter, then back."""
        box = self.query_one("#query", Input)
        if box.has_focus or box.value:
            box.value = ""
            box.display = False
            self.table.focus()
        else:
            self.app.pop_screen()
