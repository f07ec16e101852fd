"""Options that several commands share: which checkpoint, which bandwidth, which ledger, JSON or words."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from workbench.accounting.ruling import Ruling
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.accounting.overrides import Override
    from workbench.prediction.ceiling import BandwidthFigure

RULES = tuple(str(rule) for rule in Ruling)
Parser: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """`CHECKPOINT` and `--models`."""
    parser.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        type=str,
        help="a directory, a .safetensors or .gguf file, a cached repository name, or synthetic/NAME",
    )
    add_models(parser)


def add_models(parser: argparse.ArgumentParser) -> None:
    """`--models DIR`, as often as wanted."""
    parser.add_argument(
        "--models",
        metavar="DIR",
        action="append",
        default=[],
        type=Path,
        help="look for checkpoints here too",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="data on stdout, errors included")


def add_bandwidth(parser: Parser, *, required: bool = False) -> None:
    """`--bandwidth` with `--bandwidth-source`."""
    parser.add_argument(
        "--bandwidth",
        metavar="FIGURE",
        required=required,
        help='GB/s, or a figure with its kind and source: "819", "819 spec Apple", "1.2 TB/s spec"',
    )
    parser.add_argument("--bandwidth-source", metavar="WORDS", help="where the bandwidth figure comes from")


def add_rule(parser: Parser, default: str = "count") -> None:
    """`--rule`."""
    parser.add_argument(
        "--rule",
        choices=RULES,
        default=default,
        help=f"which bytes the ceiling uses ({default}); all but count are a choice on purpose, and stamped",
    )


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """`--overrides FILE`."""
    parser.add_argument(
        "--overrides",
        metavar="FILE",
        type=Path,
        help="TOML that gives tensors another role or share, with a reason",
    )


def overrides(path: Path | None) -> "tuple[Override, ...]":
    """The overrides of the file that was named; UsageError says what is wrong in it."""
    if path is None:
        return ()
    from workbench.accounting.overrides import read_overrides

    return read_overrides(path)


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """`--ledger FILE`."""
    parser.add_argument("--ledger", metavar="FILE", type=Path, help="another ledger than the user's own")


def add_hz(parser: argparse.ArgumentParser) -> None:
    """`--hz N`."""
    parser.add_argument(
        "--hz", type=_hz, metavar="N", help="paints a second while a run measures (4, over SSH 2)"
    )


def _hz(text: str) -> float:
    from workbench.settings import LIMITS

    low, high = LIMITS["hz"]
    try:
        if low <= (hz := float(text)) <= high:
            return hz
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text} is not between {low:g} and {high:g}")


def model_dirs(named: Sequence[Path]) -> list[Path]:
    """The directories from the command line, then those from the settings; says which are not there."""
    from workbench.cli import console
    from workbench.settings import load_settings
    from workbench.shelf.directories import unsearchable

    directories = [*named, *load_settings().models]
    for why in filter(None, map(unsearchable, directories)):
        console.say_wrapped(f"{why}.", "note: ")
    return directories


def ledger_path(named: Path | None) -> Path:
    """The ledger this command reads or appends to."""
    from workbench.locations import ledger_path as users_own

    return named if named is not None else users_own()


def figure(args: argparse.Namespace) -> "BandwidthFigure | None":
    """The bandwidth figure that the command line states, None where it states none."""
    if args.bandwidth is not None:
        return stated_figure(args)
    if args.bandwidth_source is not None:
        raise UsageError("--bandwidth-source names a source without its figure.", "Add --bandwidth.")
    return None


def stated_figure(args: argparse.Namespace) -> "BandwidthFigure":
    """The bandwidth figure of a command that requires one."""
    from workbench.prediction.figures import parse_figure

    return parse_figure(args.bandwidth, source=args.bandwidth_source)
