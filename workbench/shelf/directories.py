"""Checkpoints below directories that the user names: any nesting, LM Studio's publisher/model included."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.checkpoint.files import text_name
from workbench.checkpoint.gguf_set import is_projector, models_in
from workbench.checkpoint.listing import Listing, list_directory
from workbench.errors import CheckpointError
from workbench.escape import visible
from workbench.locations import expanded
from workbench.shelf.cache import is_repository_folder, repository_snapshots, subfolders

DEPTH_LIMIT = 6
FOLDER_LIMIT = 20_000
"""Bounds of a search: a `--models /` ends in seconds, not in hours."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a checkpoint seems to lie, and what to call it: its path below the directory it was found in."""

    name: str
    path: Path
    revision: str | None = None


def places(directory: Path) -> Iterator[Place]:
    """Every checkpoint below `directory` (itself included), in name order, found lazily.

    A directory with config.json and weights is one checkpoint and is not searched further; each GGUF model
    is one of its own. Links are followed, but no directory is entered twice.
    """
    root = expanded(directory).absolute()
    seen: set[tuple[int, int]] = set()
    yield from _below(root, root, DEPTH_LIMIT, seen)


def unsearchable(directory: Path) -> str:
    """Why nothing can be found below `directory`, in words; empty where it can be looked through."""
    try:
        os.scandir(expanded(directory)).close()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return f"{visible(str(directory), 200)} cannot be looked through for checkpoints: {why}"
    return ""


def _below(folder: Path, root: Path, depth: int, seen: set[tuple[int, int]]) -> Iterator[Place]:
    try:
        status = folder.stat()
        listing = list_directory(folder)
    except (OSError, CheckpointError):
        return
    identity = (status.st_dev, status.st_ino)
    if identity in seen or len(seen) >= FOLDER_LIMIT:
        return
    seen.add(identity)
    name = text_name(folder.relative_to(root).as_posix()) if folder != root else text_name(root.name)
    if is_repository_folder(folder):
        for snapshot in repository_snapshots(folder):
            yield Place(snapshot.repository, snapshot.path, snapshot.revision)
        return
    if "model_index.json" in listing.names:
        return  # a diffusion pipeline: its parts decode nothing
    yield from _here(folder, name, listing)
    if depth == 0 or (listing.safetensors and "config.json" in listing.names):
        return
    for inner in subfolders(folder):
        if not inner.name.startswith("."):
            yield from _below(inner, root, depth - 1, seen)


def _here(folder: Path, name: str, listing: Listing) -> Iterator[Place]:
    if listing.safetensors or ("config.json" in listing.names and _has_weights(listing)):
        yield Place(name, folder)
        return
    models = [path for path in models_in(listing) if not is_projector(path.name)]
    for path in models:
        yield Place(name if len(models) == 1 else f"{name}/{text_name(path.name)}", path)


def _has_weights(listing: Listing) -> bool:
    index = any(name.endswith(".safetensors.index.json") for name in listing.names)
    pickles = any(name.endswith((".bin", ".pth", ".pt")) and "/" not in name for name in listing.others)
    return index or pickles
