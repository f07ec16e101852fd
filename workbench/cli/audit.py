"""The byte rules tensor by tensor, what a context adds, and the decode graph as witness of the count.

--witness builds the checkpoint's own mlx-lm model without its weights and reads from the graph of one
decode step what reaches the logits; --prove damages weights in memory, role by role, and looks whether a
logit moved.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.accounting.count import Count, Row
from workbench.accounting.names import folded, path_of
from workbench.accounting.rules import RULES
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.cli import console, options
from workbench.errors import UsageError
from workbench.escape import visible
from workbench.exits import ExitCode
from workbench.ledger.words import gb

if TYPE_CHECKING:
    from workbench.witness.agreement import Agreement
    from workbench.worker.messages import Damaged

CONTEXTS = (0, 4_096, 32_768, 131_072)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    options.add_overrides(parser)
    parser.add_argument(
        "--witness", action="store_true", help="trace the decode graph and hold it against the count"
    )
    parser.add_argument(
        "--at-context", type=int, action="append", metavar="N", help="trace with N tokens of context"
    )
    parser.add_argument(
        "--prove", action="store_true", help="damage each role and look whether a logit moves"
    )
    parser.add_argument("--tensors", action="store_true", help="every tensor, not patterns of them")
    options.add_bandwidth(parser, required=False)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the account with its rules, and whatever evidence was asked for."""
    if any(context < 1 for context in args.at_context or ()):
        raise UsageError("--at-context counts tokens before the step: 1 or more.")
    checkpoint, count = options.counted(args.checkpoint, args.models, args.overrides)
    agreements = (
        asyncio.run(_witness(checkpoint, count, args.at_context)) if args.witness or args.at_context else []
    )
    if args.json:
        from workbench.cli.audit_json import fields

        proof = asyncio.run(_proof(checkpoint, count)) if args.prove else None
        console.out_json(fields(checkpoint, count, agreements, proof, options.figure(args)))
        return ExitCode.OK if options.is_countable(checkpoint, count) else ExitCode.CHECKPOINT
    sections = [
        _account(count, every=args.tensors),
        _rules(count),
        _against_seed(count),
        _context(count, args),
        *(_agreement(agreement) for agreement in agreements),
    ]
    console.out(f"{visible(checkpoint.name)}: {count.runtime}, batch 1")
    for section in sections:
        for line in section:
            console.out(line)
    if args.prove:
        console.out("\nproof by damage, one real step each")
        for line in _proof_lines(asyncio.run(_proof(checkpoint, count))):
            console.out(line)
    for finding in (*checkpoint.findings, *count.findings):
        console.say(f"warning: {finding.message}")
    options.require_countable(checkpoint, count)
    return ExitCode.OK


async def _witness(checkpoint: Checkpoint, count: Count, contexts: Sequence[int] | None) -> list["Agreement"]:
    from workbench.protocol.witnessing import DEFAULT_CONTEXT, sealed

    return [await sealed(checkpoint, count, context) for context in contexts or (DEFAULT_CONTEXT,)]


async def _proof(checkpoint: Checkpoint, count: Count) -> list["Damaged"]:
    from workbench.protocol.witnessing import prove

    return [damaged async for damaged in prove(checkpoint, count)]


def _account(count: Count, *, every: bool) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in count.rows:
        name = row.name if every else folded(".".join(path_of(row.name).module))
        groups.setdefault((name, row.rule), []).append(row)
    rows = [_group(name, rule, members) for (name, rule), members in groups.items()]
    rows.sort(key=lambda group: -group[0])
    headers = ("tensors", "n", "dtype", "role", "rule", "share", "on disk", "per token")
    yield console.table(headers, [cells for _, cells in rows], right="<><<<>>>")


def _group(name: str, rule: str, members: Sequence[Row]) -> tuple[int, tuple[str, ...]]:
    largest = max(members, key=lambda row: row.disk_bytes)
    disk = sum(row.disk_bytes for row in members)
    read = sum(row.weight_bytes for row in members)
    shape = (visible(name, 60), str(len(members)), largest.dtype)
    return disk, (*shape, str(largest.role), rule, str(largest.share), gb(disk), gb(read))


def _rules(count: Count) -> Iterator[str]:
    yield "\nrules"
    for rule in dict.fromkeys(row.rule for row in count.rows):
        if rule in RULES:
            yield f"  {rule:22} {RULES[rule].sentence}"
    for override in count.overrides:
        pattern, reason = visible(override.pattern), visible(override.reason)
        yield f"  override {pattern}: {override.tensors} tensors, {reason}"


def _against_seed(count: Count) -> Iterator[str]:
    from workbench.accounting.compare import against_seed

    yield "\nbytes per token"
    yield f"  count      {count.weight_bytes:>16,}"
    yield f"  seed rule  {count.seed.weight_bytes:>16,}"
    for one in against_seed(count):
        rules = ", ".join(one.rules) or "not in the count"
        yield f"    {one.role}: seed rule {one.difference_bytes:+,} ({rules})"


def _context(count: Count, args: argparse.Namespace) -> Iterator[str]:
    from workbench.accounting.whatif import batch
    from workbench.ledger.words import rate
    from workbench.prediction.ceiling import ceiling_tps

    figure = options.figure(args)
    rows = []
    for tokens in CONTEXTS:
        added = count.context.at(tokens)
        total = count.weight_bytes + added.total_bytes
        ceiling = "" if figure is None or not total else rate(ceiling_tps(figure.gbps, total))
        rows.append(
            (
                f"{tokens:,}",
                gb(added.read_bytes),
                gb(added.written_bytes),
                gb(total),
                ceiling,
            )
        )
    yield "\nwith a context (batch 1, 16-bit cache)"
    headers = (
        "tokens",
        "read GB",
        "written GB",
        "with weights",
        f"ceiling tok/s, {figure.name}" if figure else "",
    )
    yield console.table(headers, rows, right=">>>>>")
    for note in count.context.notes:
        yield f"  {note}"
    if count.experts:
        what_if = [batch(count, size) for size in (1, 4, 16)]
        yield "what if: " + ", ".join(f"{one.name} {gb(one.bytes_per_token)} a token" for one in what_if)


def _agreement(agreement: "Agreement") -> Iterator[str]:
    yield f"\ngraph witness: {agreement.status}"
    if agreement.reason:
        yield f"  {agreement.reason}"
    if agreement.graph_bytes is not None:
        context = f"at context {agreement.at_context}, mlx-lm {agreement.mlx_lm}"
        yield f"  graph      {agreement.graph_bytes:>16,} {context}"
        yield f"  count      {agreement.count_bytes:>16,} ({agreement.difference:+.4%})"
    for one in agreement.disagreements:
        yield f"  {one.words}"
    for note in agreement.notes:
        yield f"  {note}"


def _proof_lines(proof: Sequence["Damaged"]) -> Iterator[str]:
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
    yield console.table(("role", "part", "tensors", "damaged", "logits", ""), rows, right="<<>><<")
