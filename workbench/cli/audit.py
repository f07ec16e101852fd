"""The byte rules tensor by tensor, what a context adds, and the decode graph as witness of the count.

--witness builds the checkpoint's own mlx-lm model without its weights and reads from the graph of one
decode step what reaches the logits; --prove damages weights in memory, role by role, and looks whether a
logit moved; --damage does so with the tensors that it names.
"""

import argparse
from typing import TYPE_CHECKING

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.cli import audit_words, console, opening, options
from workbench.cli.unwinding import run_unwinding
from workbench.errors import UsageError
from workbench.exits import ExitCode

if TYPE_CHECKING:
    from workbench.witness.agreement import Agreement
    from workbench.worker.messages import Damaged

MOST_CONTEXT = 1_000_000_000
"""Arrays of mlx are at most 2^31 long."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_checkpoint(parser)
    options.add_overrides(parser)
    parser.add_argument(
        "--witness", action="store_true", help="trace the decode graph and hold it against the count"
    )
    parser.add_argument(
        "--at-context",
        type=int,
        action="append",
        metavar="N",
        help="trace with N tokens of context, as often as wanted",
    )
    parser.add_argument(
        "--prove", action="store_true", help="damage each role and look whether a logit moves"
    )
    parser.add_argument(
        "--damage",
        action="append",
        default=[],
        metavar="PATTERN",
        help="damage the tensors of this name or pattern (* ? [...]) instead of roles, as often as wanted",
    )
    parser.add_argument("--tensors", action="store_true", help="every tensor, not patterns of them")
    options.add_bandwidth(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the account with its rules, and whatever evidence was asked for."""
    if not all(1 <= context <= MOST_CONTEXT for context in args.at_context or ()):
        raise UsageError(f"--at-context counts tokens before the step: 1 to {MOST_CONTEXT:,}.")
    figure = options.figure(args)
    checkpoint, count = opening.counted(args.checkpoint, args.models, args.overrides)
    seals = _agreements(args, checkpoint, count)
    if args.json:
        from workbench.cli.audit_json import fields

        proof = _proof(args, checkpoint, count)
        console.out_json(fields(checkpoint, count, seals, proof, figure))
        return _verdict(proof) if opening.is_countable(checkpoint, count) else ExitCode.CHECKPOINT
    console.out_lines(audit_words.account(checkpoint, count, every=args.tensors))
    console.out_lines(audit_words.rules(checkpoint, count, seals, figure))
    for seal in seals:
        console.out_lines(audit_words.agreement(seal, in_force=not count.is_overridden))
    console.out_lines(audit_words.context(count, figure))
    proof = _proof(args, checkpoint, count)
    if proof is not None:
        console.out("\nproof by damage, one real step each")
        console.out(audit_words.proof_table(proof))
    opening.warn(checkpoint, count)
    opening.require_countable(checkpoint, count)
    return _verdict(proof)


def _agreements(args: argparse.Namespace, checkpoint: Checkpoint, count: Count) -> "list[Agreement]":
    if not (args.witness or args.at_context):
        return []
    from workbench.protocol.witnessing import DEFAULT_CONTEXT, seals

    return run_unwinding(seals(checkpoint, count, args.at_context or [DEFAULT_CONTEXT]))


def _proof(args: argparse.Namespace, checkpoint: Checkpoint, count: Count) -> "list[Damaged] | None":
    if not (args.prove or args.damage):
        return None
    from workbench.protocol.proving import prove

    async def trials() -> "list[Damaged]":
        return [damaged async for damaged in prove(checkpoint, count, args.damage)]

    return run_unwinding(trials())


def _verdict(proof: "list[Damaged] | None") -> ExitCode:
    """A proof that contradicts the graph is flagged."""
    contradicted = any(one.moved != one.expected for one in proof or ())
    return ExitCode.FLAGGED if contradicted else ExitCode.OK
