"""What `workbench audit` prints: tensors under their rules, rules side by side, witness, context, proof."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.accounting.compare import against_seed
from workbench.accounting.count import Count, Row
from workbench.accounting.names import folded, path_of
from workbench.accounting.rules import RULES
from workbench.accounting.whatif import WhatIf, batch, speculative
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.cli import console
from workbench.cli.bytes import title
from workbench.cli.rule_table import bytes_by_rule, rule_table
from workbench.escape import visible
from workbench.ledger.words import gb, rate

if TYPE_CHECKING:
    from workbench.prediction.ceiling import BandwidthFigure
    from workbench.witness.agreement import Agreement
    from workbench.worker.messages import Damaged

CONTEXTS = (0, 4_096, 32_768, 131_072)


def account(checkpoint: Checkpoint, count: Count, *, every: bool) -> Iterator[str]:
    """Every rule in use with its tensors, the largest first; tensors alike but for numbers are one row."""
    yield from title(checkpoint, count)
    patterns: dict[str, dict[str, list[Row]]] = {}
    for row in count.rows:
        name = row.name if every else folded(".".join(path_of(row.name).module))
        patterns.setdefault(row.rule, {}).setdefault(name, []).append(row)
    ordered = [
        (rule, sorted(groups.items(), key=lambda group: -_disk_bytes(group[1])))
        for rule, groups in patterns.items()
    ]
    ordered.sort(key=lambda one: -sum(_disk_bytes(members) for _, members in one[1]))
    cells = [_cells(name, members) for _, groups in ordered for name, members in groups]
    header, *lines = console.table(
        ("", "n", "dtype", "share", "on disk", "per token"), cells, right="<><>>>"
    ).splitlines()
    yield f"\n{header}"
    for rule, groups in ordered:
        roles = ", ".join(dict.fromkeys(str(row.role) for _, members in groups for row in members))
        yield from console.wrapped(f"{roles}: {_sentence(rule)} [{rule}]", later="  ")
        yield from lines[: len(groups)]
        del lines[: len(groups)]
    for override in count.overrides:
        pattern, reason = visible(override.pattern, 60), visible(override.reason)
        yield f"override of {pattern}: {override.tensors} tensors; {reason}"


def rules(
    checkpoint: Checkpoint,
    count: Count,
    agreements: "Sequence[Agreement]",
    figure: "BandwidthFigure | None",
) -> Iterator[str]:
    """Bytes per token by every rule, and what the seed rule does otherwise, by role."""
    graph_bytes = agreements[0].graph_bytes if agreements else None
    in_force = "graph" if agreements and agreements[0].bytes_in_force and not count.is_overridden else "count"
    yield ""
    yield rule_table(
        bytes_by_rule(checkpoint, count), chosen=in_force, graph_bytes=graph_bytes, figure=figure
    )
    for one in against_seed(count):
        words = ", ".join(one.rules) or "files that no runtime loads"
        yield f"   the seed rule reads {one.difference_bytes:+,} bytes of {one.role} ({words})"


def agreement(one: "Agreement", *, in_force: bool = True) -> Iterator[str]:
    """The seal, or what stands against it. `in_force`: neither an override nor another rule goes first."""
    yield ""
    yield from console.wrapped(
        f"graph witness: {one.status}{f': {one.reason}' if one.reason else ''}", "", "  "
    )
    if one.graph_bytes is not None:
        difference = f" ({one.difference:+.4%})" if one.difference else ""
        yield (
            f"  at a context of {one.at_context} tokens, mlx-lm {one.mlx_lm}:"
            f" graph {one.graph_bytes:,}, count {one.count_bytes:,} bytes{difference}"
        )
        yield (
            f"  {'!' if one.context_differs else ' '} of cache and state: graph {one.graph_context_bytes:,},"
            f" the count's formulas {one.count_context_bytes:,} bytes"
        )
    if one.bytes_in_force and not one.refused:
        yield f"  they differ by more than 0.1 %{': the ceiling uses the graph' if in_force else ''}"
    for words in (*(disagreement.words for disagreement in one.disagreements), *one.notes):
        yield from console.wrapped(words, "  ", "    ")


def context(count: Count, figure: "BandwidthFigure | None") -> Iterator[str]:
    """What a context adds to a step, and what a batch or a verified draft would read."""
    from workbench.prediction.ceiling import ceiling_tps

    rows = []
    for tokens in CONTEXTS:
        added = count.context.at(tokens)
        total = count.weight_bytes + added.total_bytes
        ceiling = "" if figure is None or not total else rate(ceiling_tps(figure.gbps, total))
        rows.append((f"{tokens:,}", gb(added.read_bytes), gb(added.written_bytes), gb(total), ceiling))
    yield "\nwith a context (batch 1, cache not quantized)"
    last = f"tok/s at {figure.name}" if figure else ""
    yield console.table(("tokens", "read", "written", "with weights", last), rows, right=">>>>>")
    yield "\nwhat if (weight bytes only; experts chosen at random)"
    cells = [(one.name, gb(one.step_bytes), gb(one.bytes_per_token)) for one in what_ifs(count)]
    yield console.table(("", "a step reads", "a token costs"), cells, right="<>>")


def what_ifs(count: Count) -> list[WhatIf]:
    """The cases that are shown: three batches, and four drafted tokens verified at once."""
    return [*(batch(count, size) for size in (1, 4, 16)), speculative(count, 4, 0.7)]


def proof_table(proof: "Sequence[Damaged]") -> str:
    """One row a damaged part: whether a logit moved, and whether the graph says so."""
    rows = [
        (
            one.label,
            one.part,
            str(one.tensors),
            gb(one.damaged_bytes),
            "moved" if one.moved else "unchanged",
            "as expected" if one.moved == one.expected else "NOT as the graph says",
        )
        for one in proof
    ]
    return console.table(("role", "part", "tensors", "damaged", "logits", ""), rows, right="<<>><<")


def _disk_bytes(members: Sequence[Row]) -> int:
    return sum(row.disk_bytes for row in members)


def _cells(name: str, members: Sequence[Row]) -> tuple[str, ...]:
    largest = max(members, key=lambda row: row.disk_bytes)
    read = sum(row.weight_bytes for row in members)
    size = gb(_disk_bytes(members))
    return f"  {visible(name, 60)}", str(len(members)), largest.dtype, str(largest.share), size, gb(read)


def _sentence(rule: str) -> str:
    return RULES[rule].sentence
