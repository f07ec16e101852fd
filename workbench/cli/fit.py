"""Seconds per token = overhead + bytes / effective bandwidth, over the ledger's records.

One fit belongs to one machine, runtime, model family and weight format; records of other kinds are never
mixed in. Three models make no claim, four an interval, five over a tenfold span of bytes a claim.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import console, opening, options
from workbench.escape import visible
from workbench.exits import ExitCode

if TYPE_CHECKING:
    from workbench.analysis.calibration import Calibration
    from workbench.analysis.fit_groups import Group, GroupFit
    from workbench.ledger.record import Record


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--office", action="store_true", help="the source documents' own rows instead of the ledger"
    )
    parser.add_argument(
        "--estimate", metavar="CHECKPOINT", type=str, help="what each fit expects of a checkpoint"
    )
    parser.add_argument(
        "--calibration", action="store_true", help="how far off each person's predictions are"
    )
    options.add_models(parser)
    options.add_ledger(parser)
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print every group's fit, or the reason why it has none."""
    from workbench.analysis.calibration import calibrations
    from workbench.analysis.fit_groups import fits
    from workbench.ledger.store import records
    from workbench.ledger.table import load

    if args.office:
        return _office(as_json=args.json)
    ledger = options.ledger_path(args.ledger)
    taken_back = load(ledger).discarded
    groups = fits(records(ledger, token_times=False), taken_back)
    people = calibrations(records(ledger, token_times=False), taken_back) if args.calibration else []
    wanted = _wanted(args.estimate, args.models) if args.estimate else None
    if args.json:
        console.out_json(_fields(groups, wanted, people if args.calibration else None))
        return ExitCode.OK
    for group in groups:
        console.out_lines(_group_lines(group, wanted))
    if not groups:
        console.out_lines(_nothing_to_fit(records(ledger, token_times=False), taken_back))
    if args.calibration:
        console.out(_calibration_table(people) if people else "Nobody has predicted a run yet.")
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class Wanted:
    """The checkpoint that is estimated: its bytes per token, and the group that a run of it would be in."""

    weight_bytes: int
    group: "Group"


def _wanted(name: str, models: list[Path]) -> Wanted:
    from workbench.analysis.fit_groups import group_of
    from workbench.ledger.record import Record
    from workbench.protocol.accounts import model_fields

    checkpoint, count = opening.counted(name, models)
    opening.require_countable(checkpoint, count)
    drafted = Record(
        record_id="",
        run_group_id="",
        experiment="single",
        status="interrupted",
        experts=count.experts,
        **model_fields(checkpoint),
    )
    return Wanted(count.weight_bytes, group_of(drafted))


def _nothing_to_fit(records: "Iterable[Record]", taken_back: Mapping[str, str]) -> Iterator[str]:
    """That there is no group, and why the records that there are make none."""
    from workbench.analysis.fit_groups import RUNS, why_left_out

    yield "No measured records to fit: `workbench measure` makes them."
    runs = (one for one in records if one.experiment in RUNS or one.status == "imported")
    for why, number in Counter(why_left_out(record, taken_back) for record in runs).items():
        yield from console.wrapped(f"left out: {number}, {visible(why)}", "  ", "    ")


def _group_lines(group: "GroupFit", wanted: Wanted | None) -> Iterator[str]:
    from workbench.analysis.fit_words import HEADERS, RIGHT_ALIGNED, rows, sentences

    yield visible(group.group.words, 300)
    for why, number in Counter(why for _, why in group.left_out).items():
        yield from console.wrapped(f"left out: {number}, {visible(why)}", "  ", "    ")
    if group.fit is None:
        yield from console.wrapped(f"no fit: {group.refusal}", "  ", "    ")
        return
    for sentence in sentences(group.fit):
        yield from console.wrapped(sentence, "  ", "    ")
    right = "".join(">" if header in RIGHT_ALIGNED else "<" for header in HEADERS)
    yield console.table(HEADERS, [(visible(row[0], 40), *row[1:]) for row in rows(group.fit)], right=right)
    if wanted is not None:
        yield from console.wrapped(_estimate_words(group, wanted), "  ", "    ")


def _estimate_words(group: "GroupFit", wanted: Wanted) -> str:
    from workbench.analysis.fit import estimate
    from workbench.analysis.fit_groups import other_kind
    from workbench.ledger.card import estimate_range
    from workbench.ledger.words import gb, rate

    assert group.fit is not None
    expected = estimate(group.fit, wanted.weight_bytes)
    other = other_kind(wanted.group, group.group)
    but = f"; but the checkpoint is {visible(other, 300)}: a fit of its own would hold" if other else ""
    size = gb(wanted.weight_bytes)
    return f"expects {rate(expected.tps)} tok/s of {size} a token ({estimate_range(expected)}){but}"


def _calibration_table(people: "Sequence[Calibration]") -> str:
    rows = [
        (
            visible(person.name, 40),
            str(len(person.attempts)),
            f"{person.typical_factor:.2f}x",
            f"{person.bias:.2f}",
            "" if person.early_factor is None else f"{person.early_factor:.2f}x",
            "" if person.late_factor is None else f"{person.late_factor:.2f}x",
        )
        for person in people
    ]
    headers = ("who", "runs", "typically off by", "measured / said", "first half", "last half")
    return console.table(headers, rows, right="<>>>>>")


def _fields(
    groups: "Sequence[GroupFit]", wanted: Wanted | None, people: "Sequence[Calibration] | None"
) -> dict[str, object]:
    from workbench.analysis.fit import estimate
    from workbench.analysis.fit_groups import other_kind

    return {
        "schema_version": 1,
        "fits": [
            {
                "group": group.group.words,
                "fit": group.fit,
                "refusal": group.refusal or None,
                "estimate": None
                if wanted is None or group.fit is None
                else estimate(group.fit, wanted.weight_bytes),
                "estimate_of_another_kind": wanted is not None
                and bool(other_kind(wanted.group, group.group)),
                "left_out": [{"record_id": record_id, "why": why} for record_id, why in group.left_out],
            }
            for group in groups
        ],
        **({} if people is None else {"calibration": people}),
    }


def _office(*, as_json: bool) -> int:
    """The source documents' rows: our fit, theirs, and the mixture that lies off the line."""
    from workbench.analysis.fit import fit, misfit
    from workbench.analysis.fit_words import office_sentences
    from workbench.analysis.reference import MACHINE, PUBLISHED_GBPS, PUBLISHED_OVERHEAD_S, office_points

    if not as_json:
        for sentence in office_sentences():
            console.out_lines(console.wrapped(sentence, later="  "))
        return ExitCode.OK
    dense, mixture = office_points()
    ours = fit(dense)
    console.out_json(
        {
            "schema_version": 1,
            "fits": [{"group": MACHINE, "fit": ours, "refusal": None}],
            "published": {"overhead_s": PUBLISHED_OVERHEAD_S, "gbps": PUBLISHED_GBPS},
            "outlier": misfit(ours, mixture),
        }
    )
    return ExitCode.OK
