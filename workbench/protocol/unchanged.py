"""Whether a checkpoint is still the one that was counted: a download went on, a folder took its place."""

from workbench.checkpoint.checkpoint import Checkpoint
from workbench.checkpoint.config import read_config
from workbench.errors import CheckpointError
from workbench.escape import visible


def require_unchanged(checkpoint: Checkpoint) -> None:
    """Raise CheckpointError where a counted file has another size now, or config.json says something else.

    What is missing is not looked for: a loader that needs it says so, and a loaded model needs it no more.
    """
    folder = checkpoint.path if checkpoint.path.is_dir() else checkpoint.path.parent
    for file in checkpoint.files:
        try:
            now_bytes = (folder / file.name).stat().st_size
        except OSError:
            continue
        if now_bytes != file.bytes:
            raise _changed(checkpoint, f"{visible(file.name)} had {file.bytes:,} bytes and has {now_bytes:,}")
    try:
        config, _ = read_config(folder / "config.json")
    except CheckpointError as error:
        if error.code != "file_missing":
            raise
    else:
        if repr(config) != repr(checkpoint.config):  # NaN equals itself in words
            raise _changed(checkpoint, "config.json says something else")


def _changed(checkpoint: Checkpoint, what: str) -> CheckpointError:
    return CheckpointError(
        f"{checkpoint.name} has changed on disk since it was counted: {what}.",
        "Choose the checkpoint again and predict anew.",
        code="checkpoint_changed",
    )
