"""From what a user typed to a checkpoint's path. Nothing here ever goes to the network."""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from workbench.errors import CheckpointError
from workbench.escape import visible
from workbench.locations import expanded
from workbench.shelf import synthetic
from workbench.shelf.cache import cache_location, find_snapshot, repositories
from workbench.shelf.directories import Place, places

_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?(@[\w./-]+)?")
_WEIGHTS = (".safetensors", ".gguf")


def resolve(text: str, model_dirs: Sequence[Path] = (), *, cache: Path | None = None) -> Path:
    """The path of the checkpoint that `text` names: a path, `synthetic/NAME`, or a repository.

    A repository (`org/name`, `org/name@revision`, or a name that is unique) is looked for in `model_dirs`
    and in the Hugging Face cache. A synthetic checkpoint's path is given whether it is built or not. Raises
    CheckpointError, with the nearest names as the hint, where nothing is found.
    """
    if text.startswith(synthetic.PREFIX):
        return _synthetic(text)
    try:
        path = expanded(text)
        if text and path.exists():
            return path.absolute()
    except (OSError, ValueError):
        raise _nothing(text, "no path and no repository can have this name") from None
    if _looks_like_path(text):
        raise _nothing(text, "no such file or directory", _siblings(path))
    location = cache or cache_location()
    name, _, revision = text.partition("@")
    here = [place for directory in model_dirs for place in places(directory)]
    if found_here := _placed(text, here):
        return found_here
    if found := find_snapshot(location, name, revision):
        return found.path
    known = repositories(location)
    alike = [repository for repository in known if repository.rpartition("/")[2].lower() == name.lower()]
    if len(alike) == 1 and (found := find_snapshot(location, alike[0], revision)):
        return found.path
    if len(alike) > 1:
        raise CheckpointError(
            f"'{visible(text)}' is the name of {len(alike)} cached repositories",
            f"Name one: {', '.join(visible(repository) for repository in alike[:5])}.",
            code="checkpoint_ambiguous",
        )
    synthetic_names = [synthetic.PREFIX + spec for spec in synthetic.NAMES]
    raise _nothing(
        text,
        "no such path, and no such repository in the cache or below --models",
        _nearest(text, [*known, *(place.name for place in here), *synthetic_names]),
        download=name if "/" in name else "",
    )


def _synthetic(text: str) -> Path:
    try:
        return synthetic.path_of(text.rstrip("/"))
    except KeyError:
        names = ", ".join(synthetic.PREFIX + name for name in synthetic.NAMES)
        raise CheckpointError(
            f"there is no synthetic checkpoint '{visible(text)}'",
            f"There are: {names}.",
            code="checkpoint_missing",
        ) from None


def _looks_like_path(text: str) -> bool:
    """Whether a text that names nothing here was meant as a path."""
    if not _REPOSITORY.fullmatch(text) or text.startswith((".", "~")) or text.endswith(_WEIGHTS):
        return True
    first, slash, _ = text.partition("/")
    return bool(slash) and Path(first).is_dir()


def _placed(text: str, here: Sequence[Place]) -> Path | None:
    name, _, revision = text.partition("@")
    exact = [place for place in here if place.name == name and (place.revision or "").startswith(revision)]
    if exact:
        return exact[0].path
    short = {place.path for place in here if place.name.rpartition("/")[2] == text}
    return short.pop() if len(short) == 1 else None


def _siblings(path: Path) -> list[str]:
    """What lies where a mistyped path's last part should be, the nearest first."""
    try:
        names = [sibling.name for sibling in islice(path.parent.iterdir(), 1000)]
    except OSError:
        return []
    return [str(path.parent / name) for name in _nearest(path.name, names)]


def _nearest(text: str, known: Sequence[str]) -> list[str]:
    from difflib import get_close_matches  # only who mistyped pays for it

    return get_close_matches(text, known, n=3, cutoff=0.6)


def _nothing(text: str, why: str, near: Sequence[str] = (), download: str = "") -> CheckpointError:
    hint = f"Did you mean {' or '.join(visible(name) for name in near)}? " if near else ""
    if download:
        hint += f"`hf download {download}` fetches a repository; "
    hint += "`workbench models` lists what is here."
    return CheckpointError(f"'{visible(text)}': {why}", hint, code="checkpoint_missing")
