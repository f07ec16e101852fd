"""The runs of a ledger that can be played again, newest first, without what was measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from widgets.ledger_table import Cell, Column, LedgerTable
from widgets.line_list import LineList
from workbench.errors import WorkbenchError
from workbench.ledger.record import Record
from workbench.ledger.row import Row
from workbench.ledger.table import load, record_of
from workbench.tui.ledger_rows import sign_of
from workbench.tui.messages import Notice

COLUMNS = (
    Column("", 1),
    Column("date", 10),
    Column("model", 12, stretch=True),
    Column("machine", 10, rank=2),
    Column("rule", 10, rank=1),
)


class RecordsPane(Vertical):
    """A table; choosing a row posts its record."""

    BORDER_TITLE = "1 runs"
    DEFAULT_CLASSES = "pane"

    class Picked(Message):
        """The user chose a run; `because` says why it was discarded, if it was."""

        def __init__(self, record: Record, because: str | None) -> None:
            super().__init__()
            self.record, self.because = record, because

    class Found(Message):
        """The runs that hold a rate."""

        def __init__(self, rows: Sequence[Row], discarded: Mapping[str, str]) -> None:
            super().__init__()
            self.rows, self.discarded = rows, discarded

    def __init__(
        self, ledger: Path, record_id: str, *, id: str | None = None, classes: str | None = None
    ) -> None:
        """`record_id` is the run that is played already."""
        super().__init__(id=id, classes=classes)
        self._ledger = ledger
        self._record_id = record_id
        self._discarded: Mapping[str, str] = {}

    def compose(self) -> ComposeResult:
        """The table."""
        yield LedgerTable(COLUMNS, id="entries")

    def on_mount(self) -> None:
        """Read the ledger in a thread."""
        self.query_one(LedgerTable).empty_text = "reading …"
        self._read()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _read(self) -> None:
        try:
            table = load(self._ledger)
        except WorkbenchError as error:
            self.post_message(Notice(error.words, problem=True))
            return
        rows = [row for row in reversed(table.rows) if row.generation_tps and row.weight_bytes_per_token]
        self.post_message(self.Found(rows, table.discarded))

    @on(Found)
    def _found(self, event: Found) -> None:
        event.stop()
        self._discarded = event.discarded
        table = self.query_one(LedgerTable)
        table.empty_text = "no run of this ledger holds a rate"
        cursor = next((i for i, row in enumerate(event.rows) if row.record_id == self._record_id), 0)
        table.show(event.rows, self._cells, cursor=cursor)
        self.border_subtitle = f"{len(event.rows):,}: × discarded, ↓ not measured here"

    def _cells(self, row: object) -> list[Cell]:
        assert isinstance(row, Row)
        sign = sign_of(row, self._discarded)
        return [sign, (row.date or "")[:10], row.model or "–", row.machine, row.rule or "count"]

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        row = self.query_one(LedgerTable).row_at(event.index)
        if not isinstance(row, Row):
            return
        try:
            record = record_of(self._ledger, row)
        except WorkbenchError as error:
            self.post_message(Notice(error.words, problem=True))
        else:
            self.post_message(self.Picked(record, self._discarded.get(row.record_id)))
