"""The Hugging Face cache: which snapshots of model repositories lie in it, whole or not. No network."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.locations import expanded

_PREFIX = "models--"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One cached revision of a model repository; `refs` are the branches and tags that point to it."""

    repository: str
    revision: str
    path: Path
    refs: tuple[str, ...] = ()


def cache_location(environment: Mapping[str, str] = os.environ) -> Path:
    """Where huggingface_hub keeps its cache, by the variables that it reads."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if named := environment.get(variable):
            return expanded(named)
    if home := environment.get("HF_HOME"):
        return expanded(home) / "hub"
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return expanded(base) / "huggingface" / "hub"


def snapshots(location: Path) -> Iterator[Snapshot]:
    """Every snapshot in the cache, by repository name, the newest of a repository first.

    huggingface_hub's own scan leaves a repository out as soon as one file of it is missing: those are listed
    here all the same, as they are what a user looks for after a broken download.
    """
    if not location.is_dir():
        return
    scanned = _scanned(location)
    for folder in _folders(location):
        if (known := scanned.get(folder.name)) is not None:
            yield from known
        else:
            yield from repository_snapshots(folder)


def repository_snapshots(folder: Path) -> Iterator[Snapshot]:
    """The snapshots in one `models--org--name` folder, the newest first."""
    refs = _refs(folder)
    places = [place for place in subfolders(folder / "snapshots") if not place.name.startswith(".")]
    for place in sorted(places, key=lambda place: (_modified(place), place.name), reverse=True):
        own = tuple(sorted(ref for ref, commit in refs.items() if commit == place.name))
        yield Snapshot(repository_of(folder.name), place.name, place, own)


def find_snapshot(location: Path, repository: str, revision: str = "") -> Snapshot | None:
    """The snapshot that is meant: the revision (or its beginning) if named, else `main`, else the newest."""
    found = list(repository_snapshots(location / (_PREFIX + repository.replace("/", "--"))))
    if revision:
        return next((s for s in found if s.revision.startswith(revision) or revision in s.refs), None)
    return next((s for s in found if "main" in s.refs), None) or next(iter(found), None)


def repositories(location: Path) -> list[str]:
    """The names of all cached model repositories."""
    return sorted(repository_of(folder.name) for folder in _folders(location))


def repository_of(folder_name: str) -> str:
    """`org/name` for a cache folder's `models--org--name`."""
    return folder_name.removeprefix(_PREFIX).replace("--", "/", 1)


def is_repository_folder(path: Path) -> bool:
    """Whether a folder is a model repository of a Hugging Face cache."""
    return path.name.startswith(_PREFIX) and (path / "snapshots").is_dir()


def _scanned(location: Path) -> dict[str, list[Snapshot]]:
    """huggingface_hub's view, by folder name; empty where it cannot say."""
    try:
        from huggingface_hub import scan_cache_dir  # 150 ms of CPU, for the picker only

        scan = scan_cache_dir(location)
    except (ImportError, OSError, ValueError):
        return {}
    return {
        repo.repo_path.name: [
            Snapshot(repo.repo_id, revision.commit_hash, revision.snapshot_path, tuple(sorted(revision.refs)))
            for revision in sorted(
                repo.revisions,
                key=lambda revision: (revision.last_modified, revision.commit_hash),
                reverse=True,
            )
        ]
        for repo in scan.repos
        if repo.repo_type == "model"
    }


def _folders(location: Path) -> list[Path]:
    return [folder for folder in subfolders(location) if folder.name.startswith(_PREFIX)]


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder and the links to folders, by name; [] where it cannot be listed."""
    try:
        return sorted(Path(entry.path) for entry in os.scandir(folder) if Path(entry.path).is_dir())
    except OSError:
        return []


def _refs(folder: Path) -> dict[str, str]:
    refs = {}
    for path in sorted((folder / "refs").glob("**/*"))[:1000]:
        try:
            if path.is_file() and path.stat().st_size < 100:
                refs[path.relative_to(folder / "refs").as_posix()] = path.read_text().strip()
        except (OSError, UnicodeDecodeError):
            continue
    return refs


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
