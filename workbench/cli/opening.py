"""From a checkpoint's name on the command line to its headers and its count, or a refusal in words."""

from collections.abc import Sequence
from pathlib import Path

from workbench.accounting.count import Count
from workbench.checkpoint.checkpoint import Checkpoint, State
from workbench.cli import console, options
from workbench.errors import CheckpointError
from workbench.escape import visible


def counted(
    text: str, named_dirs: Sequence[Path] = (), overrides: Path | None = None
) -> tuple[Checkpoint, Count]:
    """The named checkpoint, opened and counted; a synthetic one is built first."""
    from workbench.accounting.engine import count
    from workbench.checkpoint.reading import open_checkpoint

    corrections = options.overrides(overrides)
    checkpoint = open_checkpoint(find(text, named_dirs))
    return checkpoint, count(checkpoint, corrections)


def find(text: str, named_dirs: Sequence[Path]) -> Path:
    """The path of the named checkpoint; a synthetic one is built if it is not there yet."""
    from workbench.shelf.resolve import resolve
    from workbench.shelf.synthetic import PREFIX

    path = resolve(text, options.model_dirs(named_dirs))
    if text.startswith(PREFIX) and not path.exists():
        import asyncio

        from workbench.protocol.prepare import ensure_built

        console.say(f"building {text} (once, in this machine's cache) ...")
        asyncio.run(ensure_built([text]))
    return path


def is_countable(checkpoint: Checkpoint, count: Count) -> bool:
    """Whether an honest figure exists: every shard is there, and the count does not refuse.

    A refusal stays in an overridden count: whoever named its tensors with a reason answers for them.
    """
    is_answered = any(override.tensors for override in count.overrides)
    return _is_whole(checkpoint) and (count.refusal is None or is_answered)


def require_countable(checkpoint: Checkpoint, count: Count) -> None:
    """Raise CheckpointError where no honest figure exists, with the graver reason."""
    if is_countable(checkpoint, count):
        return
    if not _is_whole(checkpoint) or count.refusal is None:
        raise CheckpointError(
            f"{visible(checkpoint.name)} is {checkpoint.state}: {checkpoint.reason}",
            "Complete or replace it; nothing may be predicted from part of a checkpoint.",
            code=f"checkpoint_{checkpoint.state}",
        )
    raise CheckpointError(
        f"{visible(checkpoint.name)} has no honest count: {count.refusal.message}",
        "`workbench audit` lists its tensors; --overrides FILE corrects them.",
        code=count.refusal.code,
    )


def _is_whole(checkpoint: Checkpoint) -> bool:
    return checkpoint.state not in (State.INCOMPLETE, State.UNREADABLE)


def warn(checkpoint: Checkpoint, count: Count) -> None:
    """What the reader and the count warn of, each once; the reason for the state is said with the state."""
    messages = (finding.message for finding in (*checkpoint.findings, *count.findings))
    for message in dict.fromkeys(messages):
        if message != checkpoint.reason:
            console.say_wrapped(message, "warning: ")
