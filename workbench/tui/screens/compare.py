"""Two predictions at once: full precision and compressed side by side, bytes by role, a number for each.

What is said here is kept: for a ladder of the two, which locks both before either loads, or for the box of
the one that is taken. A ceiling shows for a checkpoint whose number is locked, never before.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from widgets.key_hints import KeyHints
from widgets.ledger_table import Cell, Column, LedgerTable
from widgets.prediction_input import PredictionInput
from widgets.visible import visible
from workbench.shelf.entries import Entry
from workbench.tui import threads
from workbench.tui.bindings import TYPING, bindings, hints
from workbench.tui.messages import Counted, Notice
from workbench.tui.pair import Side, lines
from workbench.tui.panes import say
from workbench.tui.panes.models_pane import ModelsPane
from workbench.tui.panes.prediction_pane import check_number
from workbench.tui.screens.choose import ChooseScreen
from workbench.tui.screens.doors import open_ladder

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

COLUMNS = (
    Column("a token reads", 18, stretch=True),
    Column("left", 15, "right", stretch=True),
    Column("right", 15, "right", stretch=True),
    Column("right / left", 12, "right"),
)


class CompareScreen(Screen[None]):
    """The desk's checkpoint on the left, a second one on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("compare")]

    def __init__(self, main: MainScreen) -> None:
        """`main` holds the desk, the pair, and the shelf to choose from."""
        super().__init__()
        self._main = main
        self._pair = main.pair
        self._pair.note(main.desk)

    def compose(self) -> ComposeResult:
        """Names, table, two boxes, hints."""
        with Vertical(id="compare") as box:
            box.border_title = "two checkpoints"
            yield Static(id="compare-names", markup=False)
            yield LedgerTable(COLUMNS, id="compare-lines")
            with Horizontal(id="compare-numbers"):
                for side in ("left", "right"):
                    hint = f"your number, {side}: enter keeps it"
                    yield PredictionInput(
                        check_number,
                        placeholder="e.g. 143",
                        hint=hint,
                        enter="enter keeps it",
                        id=f"{side}-number",
                    )
        yield KeyHints(typing=TYPING, id="compare-hints")

    def on_mount(self) -> None:
        """Ask for the second one at once."""
        self.query_one(LedgerTable).focus()
        if self._pair.second is None or self._pair.second.entry.name == self._main.desk.name:
            self._pair.second = None
            self.call_after_refresh(self.action_second)
        self.paint()
        self.call_after_refresh(self._fill_boxes)  # their own children are not there yet

    def paint(self) -> None:
        """Show the pair as it stands."""
        desk, second = self._main.desk, self._pair.second
        right = visible(second.entry.name, 100) if second is not None else "v chooses the second one"
        if second is not None and second.count is None and not second.problem:
            right += "  (a moment: it is being counted)"
        names = [f"left   {visible(desk.name, 100)}", f"right  {right}"]
        if second is not None and second.problem:
            names.append(visible(second.problem, 300))
        say(self.query_one("#compare-names", Static), "\n".join(names))
        self.query_one(LedgerTable).show(lines(self._pair, desk), _cells)
        self.query_one("#right-number", PredictionInput).display = second is not None
        off = [] if second is not None and second.count is not None else ["run_pair", "take_second"]
        ids = ["run_pair", "second", "take_second", "leave_compare", "help", "leave_program"]
        self.query_one("#compare-hints", KeyHints).show(hints(ids, off))

    # --- the second checkpoint ---

    def action_second(self) -> None:
        """Choose it from the shelf."""
        entries = [
            one for one in self._main.query_one(ModelsPane).entries if one.name != self._main.desk.name
        ]
        self.app.push_screen(ChooseScreen(entries, "compare with"), self._chosen)

    def _chosen(self, entry: Entry | None) -> None:
        if entry is None:
            return
        self._pair.second = Side(entry)
        self.paint()
        self._fill_boxes()
        self._count(entry)

    @work(exclusive=True, group="second", exit_on_error=False)
    async def _count(self, entry: Entry) -> None:
        if (
            entry.synthetic
            and not entry.path.exists()
            and not await threads.build(entry.name, entry.path, self.post_message)
        ):
            return
        await asyncio.to_thread(threads.count, entry.path, self._main.options.overrides, self.post_message)

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        event.stop()
        second = self._pair.second
        if second is None or event.path != second.entry.path:
            return
        problem = event.problem.message if event.problem is not None else ""
        if event.count is not None and event.count.refusal is not None:
            problem = event.count.refusal.message
        self._pair.second = Side(second.entry, event.checkpoint, event.count, problem)
        self.paint()

    # --- two numbers ---

    def _fill_boxes(self) -> None:
        """What was said already stands in the boxes; what is locked stays."""
        for box in self.query(PredictionInput):
            name = self._name_of(box)
            text = self._pair.said.get(name, "")
            box.reset(text)
            if name in self._pair.outcomes:
                box.show_locked("locked: start over (a) to say another", final=True, text=text)

    @on(PredictionInput.Locked)
    def _said(self, event: PredictionInput.Locked) -> None:
        event.stop()
        name = self._name_of(event.box)
        self._pair.said[name] = event.text
        event.box.show_words("kept: r runs both, x takes one")
        self.paint()
        other = "#right-number" if event.box.id == "left-number" else "#left-number"
        if (
            self._pair.second is not None
            and self._name_of(self.query_one(other, PredictionInput)) not in self._pair.said
        ):
            self.query_one(other, PredictionInput).focus()
        else:
            self.query_one(LedgerTable).focus()

    def _name_of(self, box: PredictionInput) -> str:
        second = self._pair.second
        return self._main.desk.name if box.id == "left-number" or second is None else second.entry.name

    # --- the keys, see `actions` ---

    def action_run_pair(self) -> None:
        """Both numbers are locked before either loads; then one runs after the other."""
        second, first = self._pair.second, self._first()
        if second is None or second.count is None or first is None:
            self.post_message(Notice("Choose the second checkpoint first (v).", problem=True))
            return
        entries = [first, second.entry]
        if open_ladder(self._main, entries, [self._pair.said.get(entry.name, "") for entry in entries]):
            self.app.pop_screen()

    def action_take_second(self) -> None:
        """Go on with the second one: it becomes the desk's, the first one the second."""
        second, desk = self._pair.second, self._main.desk
        if second is None or second.count is None:
            self.post_message(Notice("Choose the second checkpoint first (v).", problem=True))
            return
        if desk.running:
            self.post_message(Notice("A run is going: s stops it.", problem=True))
            return
        first = self._first()
        self._main.post_message(ModelsPane.Picked(second.entry))
        self._pair.second = Side(first, desk.checkpoint, desk.count) if first is not None else None
        self.app.pop_screen()

    def _first(self) -> Entry | None:
        """The desk's checkpoint as the shelf has it."""
        entries = self._main.query_one(ModelsPane).entries
        return next((one for one in entries if one.name == self._main.desk.name), None)

    def action_leave_compare(self) -> None:
        """Back; what was said of the desk's checkpoint waits in its box."""
        self.app.pop_screen()
        self._main.put_said()


def _cells(row: object) -> list[Cell]:
    assert isinstance(row, tuple)
    label, left, right, ratio = row
    return [label, left, right, ratio]
