"""The picker's rows: every checkpoint that this machine has or could build, read one at a time."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.checkpoint.checkpoint import Checkpoint, State
from workbench.checkpoint.dtypes import matrix_dtypes
from workbench.checkpoint.model_config import ModelConfig, view, view_gguf
from workbench.errors import CheckpointError
from workbench.locations import shown
from workbench.shelf import synthetic
from workbench.shelf.cache import cache_location, snapshots
from workbench.shelf.directories import Place, places
from workbench.shelf.supported import open_for_mlx_lm

TO_BE_BUILT = "not built yet: made on this machine when it is first used"


@dataclass(frozen=True, slots=True)
class Entry:
    """One checkpoint of the shelf.

    `bytes` are those of its weight files that are here, None before it is built; `architecture` is the
    config's model_type (GGUF: general.architecture); `revision` is the commit of a cached snapshot.
    `state` with `reason` says whether it can be run.
    """

    name: str
    path: Path
    bytes: int | None
    architecture: str | None
    quantization: str | None
    experts: int | None
    experts_per_token: int | None
    state: State
    reason: str = ""
    synthetic: bool = False
    revision: str | None = None


def scan(model_dirs: Sequence[Path] = (), *, cache: Path | None = None) -> Iterator[Entry]:
    """Every checkpoint there is: the user's directories, the Hugging Face cache, the synthetic ones.

    Lazily: a row is read when it is asked for. One broken checkpoint is a row that says so, never an error.
    Names are unique, and `resolve` takes each of them.
    `cache` is the Hugging Face cache's directory, huggingface_hub's own by default.
    """
    seen: set[str] = set()
    names: set[str] = set()
    for place in _all_places(model_dirs, cache or cache_location()):
        identity = os.path.realpath(place.path)
        if identity in seen:
            continue
        seen.add(identity)
        name = place.name
        if name in names:
            name = f"{name}@{place.revision[:8]}" if place.revision else shown(place.path)
        names.add(name)
        yield replace(entry_at(place.path, name), revision=place.revision)
    yield from _synthetic_entries()


def entry_at(path: Path, name: str = "") -> Entry:
    """The row of the checkpoint at `path`; what cannot be read at all is UNREADABLE, with the reason."""
    try:
        checkpoint = open_for_mlx_lm(path)
    except CheckpointError as error:
        return Entry(name or path.name, path, 0, None, None, None, None, State.UNREADABLE, error.message)
    config = view(checkpoint.config) if checkpoint.gguf is None else view_gguf(checkpoint.gguf)
    return Entry(
        name=name or checkpoint.name,
        path=path,
        bytes=sum(file.bytes for file in checkpoint.files),
        architecture=config.model_type or config.architecture or None,
        quantization=quantization_words(checkpoint, config),
        experts=config.experts,
        experts_per_token=config.experts_per_token,
        state=checkpoint.state,
        reason=checkpoint.reason,
        synthetic=synthetic.is_synthetic(checkpoint.config),
    )


def quantization_words(checkpoint: Checkpoint, config: ModelConfig) -> str | None:
    """How the weights are stored, as short as a table wants it: `4-bit`, `mxfp4`, `bf16`, `Q4_K mixed`."""
    stated = config.quantization
    if stated is None:
        return _dtype_words(checkpoint)
    words = f"{stated.bits}-bit" if stated.mode in {"", "affine"} and stated.bits else stated.mode
    return f"{words} mixed" if words and stated.mixed else words or None


def _dtype_words(checkpoint: Checkpoint) -> str | None:
    dtypes = matrix_dtypes(checkpoint.tensors)
    if not dtypes:
        return None
    if checkpoint.gguf is None:
        return dtypes[0].lower()
    return f"{dtypes[0]} mixed" if len(dtypes) > 1 else dtypes[0]


def _all_places(model_dirs: Sequence[Path], cache: Path) -> Iterator[Place]:
    for directory in model_dirs:
        yield from places(directory)
    for snapshot in snapshots(cache):
        yield Place(snapshot.repository, snapshot.path, snapshot.revision)


def _synthetic_entries() -> Iterator[Entry]:
    for name in synthetic.NAMES:
        path = synthetic.path_of(name)
        listed_as = synthetic.PREFIX + name
        if synthetic.is_built(path):
            yield replace(entry_at(path, listed_as), synthetic=True)
            continue
        spec = synthetic.SPECS[name]
        config = view(spec.config)
        yield Entry(
            name=listed_as,
            path=path,
            bytes=spec.disk_bytes,
            architecture=config.model_type,
            quantization="f32",
            experts=config.experts,
            experts_per_token=config.experts_per_token,
            state=State.COMPLETE,
            reason=TO_BE_BUILT,
            synthetic=True,
        )
