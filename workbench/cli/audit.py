"""The byte rules tensor by tensor, what a context adds, and the decode graph as witness of the count.

--witness builds the checkpoint's own mlx-lm model without its weights and reads from the graph of one
decode step what reaches the logits; --prove damages weights in memory, role by role, and looks whether a
logit moved.
"""

import argparse
import asyncio
from typing import TYPE_CHECKING

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint
from workbench.cli import audit_words, console, opening, options
from workbench.errors import UsageError
from workbench.exits import ExitCode

if TYPE_CHECKING:
    from workbench.witness.agreement import Agreement
    from workbench.worker.messages import Damaged


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
    parser.add_argument("--tensors", action="store_true", help="every tensor, not patterns of them")
    options.add_bandwidth(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the account with its rules, and whatever evidence was asked for."""
    if any(context < 1 for context in args.at_context or ()):
        raise UsageError("--at-context counts tokens before the step: 1 or more.")
    figure = options.figure(args)
    checkpoint, count = opening.counted(args.checkpoint, args.models, args.overrides)
    seals = _agreements(args, checkpoint, count)
    if args.json:
        from workbench.cli.audit_json import fields

        proof = asyncio.run(_proof(checkpoint, count)) if args.prove else None
        console.out_json(fields(checkpoint, count, seals, proof, figure))
        return ExitCode.OK if opening.is_countable(checkpoint, count) else ExitCode.CHECKPOINT
    console.out_lines(audit_words.account(checkpoint, count, every=args.tensors))
    console.out_lines(audit_words.rules(checkpoint, count, seals, figure))
    for seal in seals:
        console.out_lines(audit_words.agreement(seal))
    console.out_lines(audit_words.context(count, figure))
    if args.prove:
        console.out("\nproof by damage, one real step each")
        console.out(audit_words.proof_table(asyncio.run(_proof(checkpoint, count))))
    opening.warn(checkpoint, count)
    opening.require_countable(checkpoint, count)
    return ExitCode.OK


def _agreements(args: argparse.Namespace, checkpoint: Checkpoint, count: Count) -> "list[Agreement]":
    if not (args.witness or args.at_context):
        return []
    from workbench.protocol.witnessing import DEFAULT_CONTEXT, seals

    return asyncio.run(seals(checkpoint, count, args.at_context or [DEFAULT_CONTEXT]))


async def _proof(checkpoint: Checkpoint, count: Count) -> "list[Damaged]":
    from workbench.protocol.witnessing import prove

    return [damaged async for damaged in prove(checkpoint, count)]
