"""Where this program keeps its files. `WORKBENCH_HOME` moves all of them below one folder.

Nothing here creates a folder: whoever writes does.
"""

import os
from pathlib import Path


def _base(kind: str) -> Path:
    named = os.environ.get("WORKBENCH_HOME")
    if named:
        return expanded(named) / kind if kind in {"cache", "log"} else expanded(named)
    from platformdirs import PlatformDirs  # 30 ms of CPU that `--help` does not owe

    dirs = PlatformDirs("decode-workbench", appauthor=False)
    return {
        "data": dirs.user_data_path,
        "config": dirs.user_config_path,
        "cache": dirs.user_cache_path,
        "log": dirs.user_log_path,
    }[kind]


def ledger_path() -> Path:
    """The append-only file of records; `WORKBENCH_LEDGER` names another."""
    named = os.environ.get("WORKBENCH_LEDGER")
    return expanded(named) if named else _base("data") / "ledger.jsonl"


def locks_dir() -> Path:
    """Where locked predictions wait for their run to end, one file each."""
    return _base("data") / "locks"


def settings_path() -> Path:
    """The user's settings, TOML."""
    return _base("config") / "settings.toml"


def synthetic_dir() -> Path:
    """Where the synthetic checkpoints are built."""
    return _base("cache") / "synthetic"


def cache_dir() -> Path:
    """Where results that can be computed again are kept."""
    return _base("cache")


def log_dir() -> Path:
    """Where the workers' stray output goes."""
    return _base("log")


def shown(path: Path) -> str:
    """The path as records and screens show it: relative to `~` where it lies below home."""
    if (here := home()) is None:
        return path.as_posix()
    try:
        return f"~/{expanded(path).absolute().relative_to(here).as_posix()}"
    except ValueError:
        return path.as_posix()


def expanded(path: str | Path) -> Path:
    """The path with its `~` replaced, or as it is where nobody knows that home."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises where nobody knows it


def home() -> Path | None:
    """The user's home folder; None for a user whom this system does not know, as in a container."""
    place = expanded("~")
    return place if place.is_absolute() else None
