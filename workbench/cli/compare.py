"""Two checkpoints side by side, by role: what each reads per token, and the ratio of their ceilings."""

import argparse

from workbench.accounting.compare import compare
from workbench.cli import console, options
from workbench.escape import visible


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("left", help="a checkpoint, for example the full-precision one")
    parser.add_argument("right", help="a checkpoint, for example the compressed one")
    options.add_models(parser)
    options.add_bandwidth(parser, required=False)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the two accounts by role; with --bandwidth also both predictions."""
    from workbench.ledger.words import gb, rate
    from workbench.prediction.ceiling import ceiling_tps

    sides = [options.counted(name, args.models) for name in (args.left, args.right)]
    for checkpoint, count in sides:
        options.require_countable(checkpoint, count)
    (left, left_count), (right, right_count) = sides
    differences = compare(left_count, right_count)
    figure = options.figure(args)
    predictions = (
        None if figure is None else [ceiling_tps(figure.gbps, count.weight_bytes) for _, count in sides]
    )
    if args.json:
        console.out_json(
            {
                "schema_version": 1,
                "models": [left.name, right.name],
                "weight_bytes_per_token": [left_count.weight_bytes, right_count.weight_bytes],
                "roles": {str(one.role): [one.left_bytes, one.right_bytes] for one in differences},
                "bandwidth_gbps": None if figure is None else figure.gbps,
                "bandwidth_source": None if figure is None else figure.source,
                "predicted_decode_tps": predictions,
            }
        )
        return 0
    rows: list[tuple[str, ...]] = [
        (
            str(one.role),
            gb(one.left_bytes),
            gb(one.right_bytes),
            _ratio(one.left_bytes, one.right_bytes),
        )
        for one in differences
    ]
    totals = left_count.weight_bytes, right_count.weight_bytes
    rows.append(("total", gb(totals[0]), gb(totals[1]), _ratio(*totals)))
    if predictions is not None and figure is not None:
        rows.append((f"ceiling tok/s, {figure.name}", *map(rate, predictions), _ratio(*predictions)))
    headers = ("per token", visible(left.name, 40), visible(right.name, 40), "right / left")
    console.out(console.table(headers, rows, right="<>>>"))
    return 0


def _ratio(left: float, right: float) -> str:
    return f"{right / left:.3f}" if left else "-"
