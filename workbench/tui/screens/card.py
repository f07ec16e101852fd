"""One record as a card: what a sceptical reader asks of a number, on one page; the report on the other."""

from typing import ClassVar

import msgspec
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen

from widgets.fact_list import Fact, FactList
from widgets.key_hints import KeyHints
from widgets.visible import visible
from workbench.errors import WorkbenchError
from workbench.ledger.card import card
from workbench.ledger.record import Record
from workbench.ledger.report import report, row
from workbench.protocol.replaying import why_not
from workbench.tui.bindings import bindings, hints
from workbench.tui.messages import Notice
from workbench.tui.options import Options
from workbench.tui.panes import as_title

LABEL_CELLS = 17
LONGEST_COPY = 100_000
"""Bytes: the clipboard is filled through the terminal, which drops more, and a slow link would stall."""
BOLD = frozenset({"model", "measurement", "verdict"})
MARKED = frozenset({"discarded", "status", "weights"})


class CardScreen(Screen[None]):
    """A record that may be read, copied, replayed and left."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("card")]

    def __init__(
        self,
        record: Record,
        discarded_because: str | None = None,
        *,
        options: Options | None = None,
        note: str = "",
    ) -> None:
        """`options` says which ledger a replay comes from; `note` stands in the title."""
        super().__init__()
        self.record = record
        self._because = discarded_because
        self._options = options
        self._note = note
        self._is_report = False

    def compose(self) -> ComposeResult:
        """The card, the hints."""
        with VerticalScroll(id="card") as box:
            box.border_title = f"record{self._note}"
            box.border_subtitle = as_title(self.record.record_id[:8])
            yield FactList(card_facts(self.record, self._because), label_cells=LABEL_CELLS, id="card-facts")
        ids = ["report", "rank_record", "replay_record", "copy_record", "leave_card", "help"]
        yield KeyHints(hints(ids, self._off()))

    def on_mount(self) -> None:
        """Arrow keys scroll."""
        self.query_one("#card").focus()

    def _off(self) -> list[str]:
        off = [] if len(self.record.predictions) > 1 and self.record.generation_tps else ["rank_record"]
        return off if self._can_replay else [*off, "replay_record"]

    @property
    def _can_replay(self) -> bool:
        return not why_not(self.record) and not self._note

    def action_report(self) -> None:
        """Card or report: the two papers of the source documents."""
        self._is_report = not self._is_report
        box = self.query_one("#card", VerticalScroll)
        box.border_title = f"{'report' if self._is_report else 'record'}{self._note}"
        facts = report_facts(self.record) if self._is_report else card_facts(self.record, self._because)
        self.query_one(FactList).show(facts)
        box.scroll_home(animate=False)

    def action_rank_record(self) -> None:
        """The ranking of a class round."""
        if "rank_record" not in self._off():
            from workbench.tui.screens.round import RoundScreen

            self.app.push_screen(RoundScreen(self.record, note=self._note))

    def action_replay_record(self) -> None:
        """Play this record through the screens."""
        if not self._can_replay:
            return
        from workbench.tui.screens.replay import ReplayScreen

        try:
            screen = ReplayScreen(self._options or Options(), self.record, self._because)
        except WorkbenchError as error:
            self.post_message(Notice(error.words, problem=True))
        else:
            self.app.push_screen(screen)

    def action_leave_card(self) -> None:
        """Back to where the card was opened."""
        self.app.pop_screen()

    def action_copy_record(self) -> None:
        """The record's line to the clipboard."""
        copy_record(self, self.record)


def copy_record(screen: Screen[None], record: Record) -> None:
    """Put the record's JSON line on the clipboard, and say that a terminal may refuse that."""
    line = msgspec.json.encode(record).decode()
    if len(line) > LONGEST_COPY:
        kilobytes = f"{len(line) / 1e3:,.0f} kB"
        print_it = f"`workbench ledger card {record.record_id[:8]} --json` prints it."
        screen.notify(f"Not copied: the line has {kilobytes}. {visible(print_it)}", markup=False)
        return
    screen.app.copy_to_clipboard(line)
    screen.notify(
        "Copied the record's line. If your terminal refuses: `workbench ledger --json` prints it.",
        markup=False,
    )


def card_facts(record: Record, discarded_because: str | None = None) -> list[Fact]:
    """The card's lines, what deserves a look marked."""
    lines = []
    for label, text in card(record, discarded_because):
        mark = label in MARKED or (label == "verdict" and record.verdict == "counting error")
        lines.append(Fact(label, text, mark=mark) if label in BOLD or mark else Fact(label or " ", "", text))
    lines += [Fact("warning", "", warning.message, mark=True) for warning in record.warnings]
    return lines


def report_facts(record: Record) -> list[Fact]:
    """The report's items, each below its name, and the ledger row at the end."""
    lines = []
    for label, text in [*report(record), *row(record)]:
        lines += [Fact("", label), Fact("", "", f"  {text}")]
    return lines
