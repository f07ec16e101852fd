"""A class round after the reveal: what was measured, who came nearest, everybody's place. For the last row.

It shows a record that is there already; nothing of it is known before the run has ended.
"""

import math
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen

from widgets.big_number import BigNumber
from widgets.key_hints import KeyHints
from widgets.ranking import Ranked, Ranking
from widgets.visible import visible
from workbench.analysis.calibration import Placed, rank
from workbench.ledger.record import Record
from workbench.ledger.words import rate
from workbench.tui.bindings import bindings, hints
from workbench.tui.panes import as_title
from workbench.tui.words import off_words


class RoundScreen(Screen[None]):
    """Two big numbers and a ranking."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("round")]

    def __init__(self, record: Record, *, note: str = "") -> None:
        """`note` stands in the title."""
        super().__init__()
        self._record = record
        self._measured_tps = record.generation_tps or math.nan
        self._placed = rank(record.predictions, self._measured_tps)
        self._note = note

    def compose(self) -> ComposeResult:
        """Measured and nearest, large; everybody below."""
        with Vertical(id="round") as box:
            model = as_title((self._record.model or "this run").rsplit("/", 1)[-1])
            box.border_title = f"round{self._note}: {model}"
            box.border_subtitle = f"{len(self._placed)} predictions"
            with Horizontal(id="round-numbers"):
                yield BigNumber(rate(self._measured_tps), "tok/s measured", id="round-measured")
                yield BigNumber(*nearest(self._placed), id="round-nearest")
            with VerticalScroll(id="ranking-box"):
                yield Ranking(
                    ("who", "said tok/s", "off by"),
                    [ranked(one, self._measured_tps) for one in self._placed],
                    id="ranking",
                )
        yield KeyHints(hints(["leave_round", "people", "picture", "help", "leave_program"]))

    def on_mount(self) -> None:
        """Arrow keys scroll."""
        self.query_one("#ranking-box").focus()

    def action_leave_round(self) -> None:
        """Back."""
        self.app.pop_screen()


def nearest(placed: list[Placed]) -> tuple[str, str]:
    """The first place's number, and in words whose it is."""
    first = [one for one in placed if one.place == 1]
    names = [visible(one.name, 24) for one in first]
    who = names[0] if len(names) == 1 else f"{', '.join(names[:3])}{' ...' if len(names) > 3 else ''}"
    verb = "comes" if len(names) == 1 else "come"
    return rate(first[0].tps), f"{who} {verb} nearest: {off_words(first[0])}"


def ranked(one: Placed, measured_tps: float) -> Ranked:
    """One place as a row of the ranking."""
    return Ranked(one.place, one.name, rate(one.tps), off_words(one), one.tps / measured_tps)
