"""A checkpoint's bytes per token by every rule, side by side, and the ceilings that they make."""

from typing import TYPE_CHECKING

from workbench.accounting.count import Count
from workbench.accounting.ruling import Ruling, weight_bytes_by_rule
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.cli import console
from workbench.ledger.words import gb, rate

if TYPE_CHECKING:
    from workbench.prediction.ceiling import BandwidthFigure

SENTENCES = {
    Ruling.COUNT: "tensor by tensor: role and share of each",
    Ruling.SEED: "the four rules of the source documents, literally",
    Ruling.WHOLE_FILE: 'every byte of the weight files ("Bandwidth Ledger")',
    Ruling.ALL_BYTES: "every tensor in full: run 1's mistake, on purpose",
}
GRAPH = "graph"


def bytes_by_rule(checkpoint: Checkpoint, count: Count) -> dict[str, int]:
    """Weight bytes per token by each rule, the count first."""
    return {str(rule): weight_bytes_by_rule(rule, checkpoint, count) for rule in Ruling}


def rule_table(
    by_rule: dict[str, int],
    *,
    chosen: str = "count",
    graph_bytes: int | None = None,
    figure: "BandwidthFigure | None" = None,
) -> str:
    """One row a rule, `*` at the chosen one; with a figure the ceiling of each in tok/s."""
    sentences = {str(rule): sentence for rule, sentence in SENTENCES.items()}
    if graph_bytes is not None:
        by_rule = {"count": by_rule["count"], GRAPH: graph_bytes, **by_rule}
        sentences[GRAPH] = "what one decode step of mlx-lm's own model reads"
    rows = [
        ("*" if rule == chosen else "", rule, gb(nbytes), _ceiling(figure, nbytes), sentences[rule])
        for rule, nbytes in by_rule.items()
    ]
    headers = ("", "rule", "a token reads", f"tok/s at {figure.name}" if figure else "", "")
    if figure is None:
        return console.table((*headers[:3], ""), [(*row[:3], row[4]) for row in rows], right="<<><")
    return console.table(headers, rows, right="<<>><")


def _ceiling(figure: "BandwidthFigure | None", nbytes: int) -> str:
    from workbench.prediction.ceiling import ceiling_tps

    return rate(ceiling_tps(figure.gbps, nbytes)) if figure is not None and nbytes > 0 else ""
