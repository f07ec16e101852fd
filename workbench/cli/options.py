"""Options and steps that several commands share: which checkpoint, which bandwidth, as JSON or as words."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint, State
from workbench.errors import CheckpointError
from workbench.escape import visible
from workbench.prediction.ceiling import BandwidthFigure

RULES = ("count", "seed", "whole-file", "all-bytes")


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """`CHECKPOINT` and `--models`."""
    parser.add_argument(
        "checkpoint",
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


def add_bandwidth(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """`--bandwidth` with `--bandwidth-source`."""
    parser.add_argument(
        "--bandwidth",
        metavar="FIGURE",
        required=required,
        help='GB/s, or a figure with its kind and source: "819", "819 spec Apple", "1.2 TB/s spec"',
    )
    parser.add_argument("--bandwidth-source", metavar="WORDS", help="where the bandwidth figure comes from")


def add_rule(parser: argparse.ArgumentParser) -> None:
    """`--rule`."""
    parser.add_argument(
        "--rule",
        choices=RULES,
        default="count",
        help="which bytes the ceiling uses; every other than count is a choice on purpose",
    )


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """`--ledger FILE`."""
    parser.add_argument("--ledger", metavar="FILE", type=Path, help="another ledger than the user's own")


def model_dirs(named: Sequence[Path]) -> list[Path]:
    """The directories from the command line, then those from the settings."""
    from workbench.settings import load_settings

    return [*named, *load_settings().models]


def ledger_path(named: Path | None) -> Path:
    """The ledger this command reads or appends to."""
    from workbench.locations import ledger_path as users_own

    return named if named is not None else users_own()


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """`--overrides FILE`."""
    parser.add_argument(
        "--overrides",
        metavar="FILE",
        type=Path,
        help="TOML that gives tensors another role or share, with a reason",
    )


def counted(text: str, named_dirs: Sequence[Path], overrides: Path | None = None) -> tuple[Checkpoint, Count]:
    """The named checkpoint, opened and counted; a synthetic one is built first."""
    from workbench.accounting.engine import count
    from workbench.accounting.overrides import read_overrides
    from workbench.checkpoint.reading import open_checkpoint

    corrections = read_overrides(overrides) if overrides else ()
    checkpoint = open_checkpoint(find(text, named_dirs))
    return checkpoint, count(checkpoint, corrections)


def is_countable(checkpoint: Checkpoint, count: Count) -> bool:
    """Whether an honest figure exists: every shard is there, and the count does not refuse."""
    whole = checkpoint.state not in (State.INCOMPLETE, State.UNREADABLE)
    return whole and (count.refusal is None or bool(count.overrides))


def require_countable(checkpoint: Checkpoint, count: Count) -> None:
    """Raise CheckpointError where no honest figure exists: shards are missing, or the count refuses."""
    if is_countable(checkpoint, count):
        return
    if count.refusal is None:
        raise CheckpointError(
            f"{visible(checkpoint.name)} is {checkpoint.state}: {checkpoint.reason}",
            "complete or replace it; nothing may be predicted from part of a checkpoint",
            code=f"checkpoint_{checkpoint.state}",
        )
    raise CheckpointError(
        f"{visible(checkpoint.name)} has no honest count: {count.refusal.message}",
        "`workbench audit` lists its tensors; --overrides FILE corrects them",
        code=count.refusal.code,
    )


def find(text: str, named_dirs: Sequence[Path]) -> Path:
    """The path of the named checkpoint; a synthetic one is built if it is not there yet."""
    from workbench.shelf.resolve import resolve

    path = resolve(text, model_dirs(named_dirs))
    if text.startswith("synthetic/") and not path.exists():
        import asyncio

        from workbench.cli.console import say
        from workbench.protocol.prepare import ensure_built

        say(f"building {text} (once, in this machine's cache) ...")
        asyncio.run(ensure_built([text.removeprefix("synthetic/")]))
    return path


def figure(args: argparse.Namespace) -> BandwidthFigure | None:
    """The bandwidth figure that the command line states, None where it states none."""
    if args.bandwidth is None:
        return None
    from workbench.prediction.figures import parse_figure

    return parse_figure(args.bandwidth, source=args.bandwidth_source)
