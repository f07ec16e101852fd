"""Count against graph: the seal, the three accounts, and the tensors that are read differently.

Bytes only: nothing here gives a rate away, so that it may be looked at before a prediction is locked.
"""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen

from widgets.fact_list import Fact, FactList
from widgets.key_hints import KeyHints
from widgets.ledger_table import Cell, Column, LedgerTable
from widgets.line_list import LineList
from widgets.sizes import sized
from workbench.accounting.compare import against_seed
from workbench.accounting.count import Count
from workbench.accounting.rules import RULES
from workbench.tui.bindings import bindings, hints
from workbench.tui.panes import as_title
from workbench.tui.seal import Looked, seal_words, state_of
from workbench.tui.words import override_facts
from workbench.witness.agreement import Disagreement

COLUMNS = (
    Column("tensors that differ", 22, stretch=True),
    Column("n", 5, "right", rank=2),
    Column("count", 10, "right"),
    Column("rule", 16, rank=1),
    Column("graph", 10, "right"),
    Column("reads", 8, rank=3),
)
NONE_DIFFERS = "no tensor is read differently"


class WitnessScreen(Screen[None]):
    """What the decode graph says of one count."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("witness")]

    def __init__(self, name: str, count: Count, looked: Looked | None) -> None:
        super().__init__()
        self._model, self._count, self._looked = name, count, looked

    def compose(self) -> ComposeResult:
        """The accounts, the table of differences, the row under the cursor."""
        with Vertical(id="witness") as box:
            box.border_title = f"graph witness: {as_title(self._model)}"
            yield FactList(id="accounts")
            yield LedgerTable(COLUMNS, id="disputes")
            yield FactList(id="dispute")
        yield KeyHints(hints(["leave_witness", "next_theme", "help", "leave_program"]))

    def on_mount(self) -> None:
        """Show what there is; the graph may still be looked at."""
        self.query_one(LedgerTable).focus()
        self.show(self._looked)

    def show(self, looked: Looked | None) -> None:
        """The graph has spoken (None: it has not)."""
        self._looked = looked
        found = looked.agreement.disagreements if looked is not None else ()
        table = self.query_one(LedgerTable)
        table.empty_text = {"looking": "", "none": ""}.get(state_of(looked), NONE_DIFFERS)
        self.query_one("#accounts", FactList).show(account_facts(self._count, looked))
        table.show(found, _cells, cursor=0)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        row = self.query_one(LedgerTable).row_at(event.index)
        self.query_one("#dispute", FactList).show(_facts(row) if isinstance(row, Disagreement) else [])

    def action_leave_witness(self) -> None:
        """Back."""
        self.app.pop_screen()


def account_facts(count: Count, looked: Looked | None) -> list[Fact]:
    """The seal, the three accounts with their differences, and what the graph says besides."""
    lines = [
        Fact(
            "seal", "", seal_words(looked, overridden=count.is_overridden), mark=state_of(looked) == "differs"
        )
    ]
    seed = against_seed(count)
    roles = ", ".join(f"{one.role.replace('_', ' ')} {_signed(one.difference_bytes)}" for one in seed[:4])
    lines += [
        Fact(
            "seed rule",
            sized(count.seed.weight_bytes),
            f"against the count: {roles}" if roles else "the same",
        ),
        Fact(
            "count",
            sized(count.weight_bytes_by_rules),
            f"{count.runtime}, rules version {count.rule_version}",
        ),
        *override_facts(count),
    ]
    if looked is None or looked.agreement.graph_bytes is None:
        return lines
    one = looked.agreement
    by_graph = one.graph_bytes or 0
    apart = "the same to the byte" if by_graph == one.count_bytes else _signed(by_graph - one.count_bytes)
    lines.append(Fact("graph", sized(by_graph), f"against the count: {apart}"))
    if one.graph_context_bytes is not None and one.count_context_bytes is not None:
        same = one.graph_context_bytes == one.count_context_bytes
        formula = "as" if same else f"and {sized(one.count_context_bytes)} is what"
        words = f"of cache and state, {formula} the count's formulas say"
        lines.append(Fact("context", sized(one.graph_context_bytes), words, mark=one.context_differs))
    return lines + [Fact("note", "", note) for note in one.notes]


def _signed(size_bytes: int) -> str:
    return f"{'+' if size_bytes >= 0 else '-'}{sized(abs(size_bytes))}"


def _cells(row: object) -> list[Cell]:
    assert isinstance(row, Disagreement)
    return [
        row.pattern,
        f"{row.tensors:,}",
        sized(row.count_bytes),
        row.rule,
        (sized(row.graph_bytes), "marked"),
        f"{row.graph_kind} {row.graph_reads}x" if row.graph_reads > 1 else row.graph_kind,
    ]


def _facts(row: Disagreement) -> list[Fact]:
    rule = RULES.get(row.rule)
    times = f", {row.graph_reads} times" if row.graph_reads > 1 else ""
    return [
        Fact("tensors", row.pattern, f"{row.tensors:,} of them" if row.tensors > 1 else ""),
        Fact("the count", sized(row.count_bytes), f"{row.rule}: {rule.sentence if rule else 'no such rule'}"),
        Fact("the graph", sized(row.graph_bytes), READS.get(row.graph_kind, row.graph_kind) + times),
    ]


READS = {
    "full": "every step reads it in full",
    "experts": "k of E experts are read",
    "lookup": "a row is looked up",
    "never": "it does not reach the logits",
    "dropped": "mlx-lm does not load it",
}
