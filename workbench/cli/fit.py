"""Seconds per token = overhead + bytes / effective bandwidth, over the ledger's records.

One fit belongs to one machine, runtime, model family and weight format; records of other kinds are never
mixed in. Three models make no claim, four an interval, five over a tenfold span of bytes a claim.
"""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli import console, options
from workbench.escape import visible

if TYPE_CHECKING:
    from workbench.analysis.fit import Fit
    from workbench.ledger.record import Record


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--office", action="store_true", help="the source documents' own rows instead of the ledger"
    )
    parser.add_argument("--estimate", metavar="CHECKPOINT", help="what each fit expects of a checkpoint")
    parser.add_argument(
        "--calibration", action="store_true", help="how far off each person's predictions are"
    )
    options.add_models(parser)
    options.add_ledger(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print every group's fit, or the reason why it has none."""
    from workbench.analysis.fit_groups import fits
    from workbench.analysis.fit_words import HEADERS, office_sentences, rows, sentences
    from workbench.ledger.corrections import discarded
    from workbench.ledger.store import read

    if args.office:
        for sentence in office_sentences():
            console.out(sentence)
        return 0
    records = read(options.ledger_path(args.ledger)).records
    groups = fits(records, discarded(records))
    wanted = options.counted(args.estimate, args.models)[1].weight_bytes if args.estimate else None
    if args.json:
        from msgspec import to_builtins

        console.out_json(
            to_builtins([{"group": g.group.words, "fit": g.fit, "refusal": g.refusal} for g in groups])
        )
        return 0
    for group in groups:
        console.out(visible(group.group.words, 200))
        if group.fit is None:
            console.out(f"  no fit: {group.refusal}")
            continue
        for sentence in sentences(group.fit):
            console.out(f"  {sentence}")
        console.out(console.table(HEADERS, rows(group.fit), right="<" + ">" * (len(HEADERS) - 1)))
        if wanted is not None:
            console.out(f"  {_estimate(group.fit, wanted)}")
    if not groups:
        console.out("No measured records to fit: `workbench measure` makes them.")
    if args.calibration:
        _calibration(records)
    return 0


def _estimate(fitted: "Fit", weight_bytes: int) -> str:
    from workbench.analysis.fit import estimate
    from workbench.ledger.words import gb, rate

    expected = estimate(fitted, weight_bytes)
    range_words = "without an interval"
    if expected.low is not None and expected.high is not None:
        range_words = f"{rate(expected.low)} to {rate(expected.high)}"
    return f"expects {rate(expected.tps)} tok/s of {gb(weight_bytes)} a token ({range_words})"


def _calibration(records: "Sequence[Record]") -> None:
    from workbench.analysis.calibration import calibrations
    from workbench.ledger.corrections import discarded

    rows = [
        (
            visible(person.name, 40),
            str(len(person.attempts)),
            f"{person.typical_factor:.2f}x",
            f"{person.bias:.2f}",
            "" if person.early_factor is None else f"{person.early_factor:.2f}x",
            "" if person.late_factor is None else f"{person.late_factor:.2f}x",
        )
        for person in calibrations(records, discarded(records))
    ]
    headers = ("who", "runs", "typically off by", "measured / said", "first half", "last half")
    console.out(console.table(headers, rows, right="<>>>>>") if rows else "Nobody has predicted a run yet.")
