"""Two checkpoints side by side, by role: what each reads per token, and the ratio of their ceilings."""

import argparse

from workbench.accounting.compare import compare
from workbench.cli import console, opening, options
from workbench.escape import visible
from workbench.exits import ExitCode
from workbench.ledger.words import gb, rate


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "left", metavar="LEFT", type=str, help="a checkpoint, for example the full-precision one"
    )
    parser.add_argument(
        "right", metavar="RIGHT", type=str, help="a checkpoint, for example the compressed one"
    )
    options.add_models(parser)
    options.add_bandwidth(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the two accounts by role; with --bandwidth also both ceilings."""
    from workbench.prediction.ceiling import ceiling_tps

    figure = options.figure(args)
    sides = [opening.counted(name, args.models) for name in (args.left, args.right)]
    for checkpoint, count in sides:
        opening.require_countable(checkpoint, count)
    (left, left_count), (right, right_count) = sides
    totals = left_count.weight_bytes, right_count.weight_bytes
    differences = compare(left_count, right_count)
    ceilings = None if figure is None else [ceiling_tps(figure.gbps, total) for total in totals]
    if args.json:
        console.out_json(
            {
                "schema_version": 1,
                "models": [left.name, right.name],
                "weight_bytes_per_token": totals,
                "roles": {str(one.role): [one.left_bytes, one.right_bytes] for one in differences},
                "bandwidth_gbps": figure.gbps if figure else None,
                "bandwidth_kind": str(figure.kind) if figure else None,
                "bandwidth_source": figure.source if figure else None,
                "predicted_decode_tps": ceilings,
            }
        )
        return ExitCode.OK
    rows = [
        (str(one.role), gb(one.left_bytes), gb(one.right_bytes), _ratio(one.left_bytes, one.right_bytes))
        for one in differences
        if one.left_bytes or one.right_bytes
    ]
    rows.append(("total", gb(totals[0]), gb(totals[1]), _ratio(*totals)))
    if ceilings is not None and figure is not None:
        rows.append((f"tok/s at {figure.name}", rate(ceilings[0]), rate(ceilings[1]), _ratio(*ceilings)))
    headers = ("a token reads", visible(left.name, 34), visible(right.name, 34), "right / left")
    console.out(console.table(headers, rows, right="<>>>"))
    for checkpoint, count in sides:
        opening.warn(checkpoint, count)
    return ExitCode.OK


def _ratio(left: float, right: float) -> str:
    return f"{right / left:.3f}" if left else "-"
