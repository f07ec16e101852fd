"""The verdict on one record: the rate in large, the word, the fractions, the reasons."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from widgets.big_number import BigNumber
from widgets.fact_list import Fact, FactList
from widgets.gauge import Gauge
from widgets.visible import visible
from workbench.ledger.record import Record
from workbench.ledger.status import COMPLETE, STATUSES
from workbench.ledger.words import rate
from workbench.tui.words import measured_facts, outcome_facts, verdict_sentences

GAUGES = 4


class Verdict(Vertical):
    """Shows one record; `beside` are rows of similar bytes to set it against."""

    def __init__(self, record: Record, beside: Sequence[Fact], *, synthetic: bool) -> None:
        super().__init__()  # no id: the one before may still be on its way out
        self.record = record
        self._beside = beside
        self._synthetic = synthetic

    def compose(self) -> ComposeResult:
        """From the number down to the small print."""
        record = self.record
        if record.generation_tps is not None:
            yield BigNumber(rate(record.generation_tps), "tok/s measured, mean of the decode", id="measured")
        word = _word(record) + (", synthetic weights" if self._synthetic else "")
        status = record.status if record.status in STATUSES else "odd"
        kind = "flagged" if record.verdict == "counting error" else f"-{status}"
        yield Static(word, id="verdict-word", classes=kind, markup=False)
        for fraction in record.fractions[:GAUGES]:
            yield Gauge(f"of {fraction.of}", fraction.value)
        yield FactList(outcome_facts(record), id="outcome")
        yield FactList([Fact("", "", words) for words in verdict_sentences(record)], id="verdict-reasons")
        beside = FactList(self._beside, id="beside")
        beside.display = bool(self._beside)
        yield beside
        yield FactList(measured_facts(record), id="measured-facts")

    def show_beside(self, beside: Sequence[Fact]) -> None:
        """Set these rows beside it; they are looked up after the verdict is there."""
        self._beside = beside
        for facts in self.query("#beside").results(FactList):  # none yet while it is being mounted
            facts.show(beside)
            facts.display = bool(beside)


def _word(record: Record) -> str:
    if record.status not in COMPLETE:
        return f"{visible(record.status, 60)}: kept in the ledger"
    sign = {"ok": "✓", "counting error": "✗"}.get(record.verdict or "", "!")
    return f"{sign} {visible(record.verdict or 'none', 60)}"
