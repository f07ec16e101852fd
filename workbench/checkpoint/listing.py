"""What lies in a checkpoint's directory: weight files by kind, and the names of everything else.

Only names and sizes; nothing is opened.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from workbench.checkpoint.files import kind_of, text_name
from workbench.errors import CheckpointError
from workbench.escape import visible

OTHER_WEIGHTS = (
    ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".msgpack", ".onnx", ".onnx_data", ".npz", ".pdparams",
)  # fmt: skip
"""Suffixes of files that hold weights in formats that are not read here, or not together with safetensors."""

_UNWALKED = {".git", ".cache", "__pycache__"}


@dataclass(frozen=True, slots=True)
class Found:
    """One weight file: `kind` is "file", "broken link", or what else stands there, in words."""

    name: str
    path: Path
    bytes: int
    kind: str = "file"


@dataclass(frozen=True, slots=True)
class Listing:
    """A directory's safetensors files, weight files of other formats (one level deep), and all names."""

    directory: Path
    safetensors: dict[str, Found]
    others: dict[str, Found]
    names: frozenset[str]

    def regular(self) -> dict[str, Found]:
        """The safetensors that are files."""
        return {name: found for name, found in self.safetensors.items() if found.kind == "file"}


def list_directory(directory: Path) -> Listing:
    """Look into the directory and its sub-folders; CheckpointError where it cannot be listed."""
    safetensors: dict[str, Found] = {}
    others: dict[str, Found] = {}
    names = set()
    folders = []
    for entry in _entries(directory):
        name = text_name(entry.name)
        names.add(name)
        if entry.name.endswith(".safetensors"):
            safetensors[name] = _found(entry, name)
        elif entry.name.endswith(OTHER_WEIGHTS):
            others[name] = _found(entry, name)
        elif entry.name not in _UNWALKED and entry.is_dir(follow_symlinks=False):
            folders.append(Path(entry.path))
    for folder in folders:
        try:
            inside = _entries(folder)
        except CheckpointError:
            continue
        for entry in inside:
            if entry.name.endswith((".safetensors", *OTHER_WEIGHTS)):
                name = text_name(f"{folder.name}/{entry.name}")
                others[name] = _found(entry, name)
    return Listing(directory, safetensors, others, frozenset(names))


def unfinished_downloads(directory: Path) -> int:
    """How many `.incomplete` files the Hub's cache keeps for this snapshot or local directory."""
    snapshot = directory.parent.name == "snapshots"
    places = [directory.parent.parent / "blobs"] if snapshot else []
    places.append(directory / ".cache" / "huggingface" / "download")
    count = 0
    for place in places:
        try:
            count += sum(entry.name.endswith(".incomplete") for entry in os.scandir(place))
        except OSError:
            continue
    return count


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise CheckpointError(
            f"{visible(str(directory))} cannot be listed: {error.strerror}", code="directory_unreadable"
        ) from None


def _found(entry: os.DirEntry[str], name: str) -> Found:
    path = Path(entry.path)
    try:
        status = entry.stat()
    except OSError:
        return Found(name, path, 0, "broken link" if entry.is_symlink() else "unreadable")
    kind = "file" if stat.S_ISREG(status.st_mode) else kind_of(status.st_mode)
    return Found(name, path, status.st_size if kind == "file" else 0, kind)
