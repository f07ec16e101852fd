"""The picker: what this machine has, row by row as the headers are read, with a filter box."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input
from textual.worker import get_current_worker

from widgets.fact_list import Fact, FactList
from widgets.ledger_table import Cell, Column, LedgerTable
from widgets.line_list import LineList
from widgets.sizes import rounded
from workbench.checkpoint.checkpoint import State
from workbench.locations import shown
from workbench.tui import threads
from workbench.tui.messages import Found
from workbench.tui.options import Options

if TYPE_CHECKING:
    from workbench.shelf.entries import Entry

COLUMNS = (
    Column("model", 30, stretch=True),
    Column("size", 7, "right"),
    Column("architecture", 14, rank=3),
    Column("quantization", 12, rank=4),
    Column("experts", 9, "right", rank=5),
    Column("state", 12, rank=1),
)


class ModelsPane(Vertical):
    """A table of entries, a filter, and the row under the cursor in full."""

    BORDER_TITLE = "1 models"
    DEFAULT_CLASSES = "pane"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear_filter", "Clear the filter", show=False)
    ]

    class Picked(Message):
        """The user chose an entry."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

    def __init__(self, options: Options, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._options = options
        self._wanted = options.checkpoint
        self._entries: list[Entry] = []
        self._shown: list[Entry] = []
        self._marked: list[Entry] = []
        self._so_far = " so far"

    def compose(self) -> ComposeResult:
        """Filter, table, detail."""
        yield Input(placeholder="filter", compact=True, id="filter", max_length=200)
        yield LedgerTable(COLUMNS, id="entries")
        yield FactList(id="entry-detail")

    @property
    def table(self) -> LedgerTable:
        """The rows."""
        return self.query_one(LedgerTable)

    @property
    def entries(self) -> list[Entry]:
        """All that was found so far."""
        return list(self._entries)

    def on_mount(self) -> None:
        """Before the first row is read."""
        self.table.empty_text = "reading headers ..."
        self.query_one("#filter").display = False
        self.table.focus()
        self._scan()

    @work(thread=True, exclusive=True, group="scan", exit_on_error=False)
    def _scan(self) -> None:
        worker = get_current_worker()
        threads.scan(
            (*self._options.models, *self._options.settings.models),
            self.post_message,
            lambda: worker.is_cancelled,
        )

    @on(Found)
    def _found(self, event: Found) -> None:
        event.stop()
        self.add(event.entries, done=event.done)
        wanted = next((entry for entry in event.entries if self._is_wanted(entry)), None)
        if wanted is not None:
            self._wanted = None
            self.post_message(self.Picked(wanted))

    def _is_wanted(self, entry: Entry) -> bool:
        return self._wanted is not None and self._wanted in (entry.name, str(entry.path))

    def add(self, entries: list[Entry], *, done: bool = False) -> None:
        """More rows, in the order in which they were read; the cursor stays on its row."""
        self._entries += entries
        if done:
            self.table.empty_text = (
                "nothing matches: esc clears the filter"
                if self._entries
                else "no checkpoint here: `workbench --models FOLDER` looks in another folder"
            )
        self._refilter()
        self._so_far = "" if done else " so far"
        self._subtitle()

    @property
    def marked(self) -> list[Entry]:
        """The entries marked for a ladder, in the order in which they were marked."""
        return list(self._marked)

    def toggle_mark(self) -> str:
        """Mark the entry under the cursor, or take its mark away; why not, or nothing."""
        entry = self.table.row_at(self.table.cursor)
        if entry is None:
            return "there is no checkpoint under the cursor"
        chosen = cast("Entry", entry)
        if chosen.state is not State.COMPLETE:
            return f"{chosen.name} cannot be run: it is {chosen.state} ({chosen.reason or 'no reason given'})"
        if chosen in self._marked:
            self._marked.remove(chosen)
        else:
            self._marked.append(chosen)
        self.table.refresh_row(self.table.cursor)
        self._subtitle()
        return ""

    def _subtitle(self) -> None:
        marked = f", {len(self._marked)} marked: M" if self._marked else ""
        many = len(self._entries)
        self.border_subtitle = f"{many} checkpoint{'' if many == 1 else 's'}{self._so_far}{marked}"

    def start_filter(self) -> None:
        """Show the filter box and put the cursor into it."""
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    def _refilter(self) -> None:
        here = self.table.row_at(self.table.cursor)
        words = self.query_one("#filter", Input).value.lower().split()
        self._shown = [entry for entry in self._entries if matches(entry, words)]
        cursor = next((i for i, entry in enumerate(self._shown) if entry is here), None)
        self.table.show(self._shown, self._cells, cursor=cursor)
        self._detail(self.table.cursor)

    def _cells(self, row: object) -> list[Cell]:
        name, *others = cells(row)
        return [f"◆ {name}" if isinstance(name, str) and row in self._marked else name, *others]

    def _detail(self, index: int) -> None:
        entry = self._shown[index] if 0 <= index < len(self._shown) else None
        self.query_one(FactList).show(_facts(entry) if entry else [])

    @on(Input.Changed, "#filter")
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._refilter()

    @on(Input.Submitted, "#filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.table.focus()

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._detail(event.index)

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.post_message(self.Picked(self._shown[event.index]))

    def action_clear_filter(self) -> None:
        """Escape: no filter, keys back to the table."""
        box = self.query_one("#filter", Input)
        box.value = ""
        box.display = False
        self.table.focus()


def cells(row: object) -> list[Cell]:
    """One entry's cells under `COLUMNS`."""
    entry = cast("Entry", row)
    state = entry.state if entry.state is not State.COMPLETE else ""
    return [
        (f"! {entry.name}", "marked") if state else entry.name,
        rounded(entry.bytes) if entry.bytes else "–",
        entry.architecture or "–",
        entry.quantization or "–",
        f"{entry.experts_per_token}/{entry.experts}" if entry.experts else "–",
        (str(state), "marked") if state else ("synthetic", "quiet") if entry.synthetic else "",
    ]


def _facts(entry: Entry) -> list[Fact]:
    lines = [Fact("model", entry.name)]
    if entry.synthetic:
        lines.append(Fact("weights", "synthetic", "random numbers of a real shape", mark=True))
    kind = ", ".join(part for part in (entry.architecture, entry.quantization) if part)
    lines.append(Fact("kind", kind or "–", f"{entry.experts} experts" if entry.experts else ""))
    if entry.state is not State.COMPLETE:
        lines.append(Fact(str(entry.state), "", entry.reason or "", mark=True))
    lines.append(Fact("at", "", shown(entry.path)))
    return lines


def matches(entry: Entry, words: list[str]) -> bool:
    """Whether an entry has every word, in lower case."""
    text = " ".join(
        [entry.name, entry.architecture or "", entry.quantization or "", str(entry.state)]
    ).lower()
    return all(word in text for word in words)
