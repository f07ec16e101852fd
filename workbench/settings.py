"""The user's settings: one TOML file, every setting documented where it is defined.

A wrong or unknown setting becomes a warning and its default; only a file that is no TOML is an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.checkpoint.files import read_small
from workbench.errors import CheckpointError, UsageError
from workbench.locations import expanded, settings_path, shown
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user set, or the defaults. `warnings` are sentences about what was not understood."""

    models: tuple[Path, ...] = ()
    """`models = ["~/models", "/Volumes/big/lmstudio"]`: folders that hold checkpoints, besides the caches."""

    alias: str | None = None
    """`alias = "office"`: what records call this machine. Default: the chip's name; never the host's."""

    bandwidth: tuple[BandwidthFigure, ...] = ()
    """`[[bandwidth]]` with `gbps = 638`, `source = "..."` and, if it is not your own word, `kind = "spec"`:
    this machine's bandwidth figures, the principal one first."""

    repeats: int = 3
    """`repeats = 3`: timed repeats of a run group, 1 to 100."""

    tokens: int = 200
    """`tokens = 200`: tokens decoded in each repeat, 2 to 100,000."""

    prompt_tokens: int = 209
    """`prompt_tokens = 209`: tokens of the fixed prompt, 1 to 100,000."""

    cooldown_s: float = 0.0
    """`cooldown_s = 0`: seconds of rest between repeats, 0 to 3,600."""

    hz: float | None = None
    """`hz = 2`: how often the screen paints a run, 0.2 to 10 times a second. Default: 4, over SSH 2."""

    theme: str = "dark"
    """`theme = "dark"`: dark, light (for a projector) or high-contrast."""

    keys: Mapping[str, str] = field(default_factory=dict)
    """`[keys]` with `run = "f5"`: another key for an action, by the action's id as the help lists it."""

    warnings: tuple[str, ...] = ()


LIMITS: Mapping[str, tuple[float, float]] = {
    "repeats": (1, 100),
    "tokens": (2, 100_000),
    "prompt_tokens": (1, 100_000),
    "cooldown_s": (0, 3600),
    "hz": (0.2, 10),
}
"""The smallest and the largest value of each number; the command line's options keep to them as well."""

LARGEST_BYTES = 100_000
"""A larger file is nobody's settings."""

THEMES = ("dark", "light", "high-contrast")


def load_settings(path: Path | None = None) -> Settings:
    """The settings in `path` (default: the user's own file); the defaults where there is no file.

    Raises UsageError when the file cannot be read or is no TOML.
    """
    path = path or settings_path()
    try:
        text = read_small(path, shown(path), LARGEST_BYTES).decode("utf-8-sig")
        import tomllib  # only who has settings pays for it

        given = tomllib.loads(text)
    except CheckpointError as error:
        if error.code in {"file_missing", "blob_missing"}:
            return Settings()
        raise UsageError(
            f"The settings cannot be read: {error.message}.", "Check the file, or move it away."
        ) from error
    except (ValueError, RecursionError) as error:  # UTF-8's and TOML's errors are ValueErrors
        raise UsageError(
            f"The settings {shown(path)} are no TOML: {error}.", "Correct the line, or move the file away."
        ) from error
    return from_mapping(given, shown(path))


def from_mapping(given: Mapping[str, Any], where: str = "the settings") -> Settings:
    """Settings from a parsed TOML file; what does not fit is named in `warnings` and left at its default."""
    settings, warnings = Settings(), []
    for name, value in given.items():
        read = _READERS.get(name)
        if read is None:
            warnings.append(f"{where}: there is no setting {name!r} (known: {', '.join(_READERS)}).")
            continue
        try:
            settings = replace(settings, **{name: read(value)})
        except (ValueError, TypeError, KeyError) as error:
            warnings.append(f"{where}: {name} = {value!r} is not understood: {error}. Its default is used.")
    return replace(settings, warnings=tuple(warnings))


def _paths(value: Any) -> tuple[Path, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError("a list of folders is wanted")
    if any("\0" in one for one in value):
        raise ValueError("no folder's name holds a zero byte")
    return tuple(expanded(one) for one in value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a word is wanted")
    return value.strip()


def _integer(low: float, high: float) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high} is wanted")
        return value

    return read


def _number(low: float, high: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"a number from {low:g} to {high:g} is wanted")
        return float(value)

    return read


def _figures(value: Any) -> tuple[BandwidthFigure, ...]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise ValueError("it is written as [[bandwidth]] with gbps and source")
    return tuple(_figure(one) for one in value)


def _figure(given: Mapping[str, Any]) -> BandwidthFigure:
    if unknown := set(given) - {"gbps", "source", "kind"}:
        raise ValueError(f"{', '.join(sorted(unknown))} is not known (gbps, source, kind are)")
    if "gbps" not in given or "source" not in given:
        raise ValueError("gbps and source are wanted: a number without its source is a rumour")
    gbps = _number(0.001, 1e6)(given["gbps"])
    kind = BandwidthKind(given.get("kind", BandwidthKind.STATED))
    return BandwidthFigure(gbps, kind, _text(given["source"]))


def _theme(value: Any) -> str:
    if value not in THEMES:
        raise ValueError(f"one of {', '.join(THEMES)} is wanted")
    return str(value)


def _keys(value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) and key for key in value.values()):
        raise ValueError("it is written as [keys] with action = key")
    return dict(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "models": _paths,
    "alias": _text,
    "bandwidth": _figures,
    "repeats": _integer(*LIMITS["repeats"]),
    "tokens": _integer(*LIMITS["tokens"]),
    "prompt_tokens": _integer(*LIMITS["prompt_tokens"]),
    "cooldown_s": _number(*LIMITS["cooldown_s"]),
    "hz": _number(*LIMITS["hz"]),
    "theme": _theme,
    "keys": _keys,
}
