"""model.safetensors.index.json: which file should hold which tensor. A claim to check, never the truth.

The map of a large checkpoint is as long as all its headers together, so it is read pair by pair and kept as
a count and a digest per file; the names are read again only where a digest disagrees with a header.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.checkpoint.files import read_small
from workbench.errors import CheckpointError
from workbench.escape import visible

INDEX_NAME = "model.safetensors.index.json"
INDEX_LIMIT_BYTES = 100_000_000

_STRING = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_SPACE = re.compile(r"[ \t\r\n]*")
_PAIR = re.compile(rf"[ \t\r\n]*{_STRING}[ \t\r\n]*:[ \t\r\n]*{_STRING}[ \t\r\n]*([,}}])", re.DOTALL)
_DECODER = json.JSONDecoder()
_BOM = "\ufeff"
_STRETCH = 100_000


@dataclass(frozen=True, slots=True)
class Names:
    """A set of tensor names as a count and the sum of their hashes (good for one process only)."""

    count: int
    digest: int


@dataclass(frozen=True, slots=True)
class Index:
    """What the index says: the names per file, and the total in bytes if it gives one."""

    files: dict[str, Names]
    total_size: int | None


def names_of(names: Iterable[str]) -> Names:
    """The digest of some distinct tensor names."""
    hashes = list(map(hash, names))
    return Names(len(hashes), sum(hashes))


def read_index(path: Path) -> Index:
    """The index in the file at `path`; CheckpointError where it is not one."""
    tallies: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    total_size = None
    for name, value in _members(_text(path), path.name):
        if isinstance(value, str):
            tally = tallies[value]
            tally[0] += 1
            tally[1] += hash(name)
        elif name == "metadata" and isinstance(value, dict):
            size = value.get("total_size")
            total_size = int(size) if isinstance(size, int | float) and 0 <= size < 2**63 else None
    if not tallies:
        raise CheckpointError(f"{visible(path.name)} has no weight_map", code="index_unreadable")
    return Index({file: Names(*tally) for file, tally in tallies.items()}, total_size)


def read_weight_map(path: Path) -> Iterator[tuple[str, str]]:
    """Every (tensor name, file name) of the index, in its order; CheckpointError where it is not one."""
    for name, value in _members(_text(path), path.name):
        if isinstance(value, str):
            yield name, value


def escapes(file: str) -> bool:
    """Whether a file name of an index leads out of the checkpoint's directory, or is no path at all."""
    parts = re.split(r"[/\\]", file)
    return not file or "\0" in file or parts[0] == "" or ".." in parts or bool(re.match(r"[A-Za-z]:", file))


def _text(path: Path) -> str:
    try:
        return read_small(path, path.name, INDEX_LIMIT_BYTES).decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise _unreadable(path.name, f"not UTF-8 at byte {error.start}") from None


def _members(text: str, name: str) -> Iterator[tuple[str, object]]:
    """The pairs of weight_map (both texts) and the other members of the index (name, no text)."""
    escaped = "\\" in text
    at = _token(text, 0, "{", name)
    if _next(text, at) == "}":
        return
    while True:
        key, at = _value(text, at, name)
        at = _token(text, at, ":", name)
        if key == "weight_map":
            at = _token(text, at, "{", name)
            for pairs, end in _many_pairs(text, at):
                yield from pairs
                at = end
            for pair in _PAIR.finditer(text, at):
                if pair.start() != at:
                    break
                at = pair.end()
                tensor, file, after = pair.groups()
                yield (_unescaped(tensor, name), _unescaped(file, name)) if escaped else (tensor, file)
                if after == "}":
                    break
            if text[at - 1] != "}":
                if _next(text, at) != "}":
                    raise _unreadable(name, f"its weight_map breaks off or is malformed at character {at:,}")
                at = _token(text, at, "}", name)
        else:
            value, at = _value(text, at, name)
            yield str(key), None if isinstance(value, str) else value
        if _next(text, at) == "}":
            return
        at = _token(text, at, ",", name)


def _many_pairs(text: str, at: int) -> Iterator[tuple[list[tuple[str, str]], int]]:
    """Pairs of texts by the thousand and where they end, from `at` on and as far as that goes."""
    while cut := text.find('",', at + _STRETCH) + 1:
        try:
            pairs = json.loads("{" + text[at:cut] + "}", object_pairs_hook=list)
        except (ValueError, RecursionError):
            return
        if not all(type(value) is str for _, value in pairs):
            return
        at = cut + 1
        yield pairs, at


def _unescaped(raw: str, name: str) -> str:
    try:
        value: str = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        raise _unreadable(name, "a text in it is malformed") from None
    return value


def _value(text: str, at: int, name: str) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, _skip(text, at))
    except (ValueError, RecursionError):
        raise _unreadable(name, f"it breaks off or is malformed at character {at:,}") from None
    return value, end


def _token(text: str, at: int, token: str, name: str) -> int:
    at = _skip(text, at)
    if not text.startswith(token, at):
        raise _unreadable(name, f"'{token}' is missing at character {at:,}")
    return at + 1


def _next(text: str, at: int) -> str:
    at = _skip(text, at)
    return text[at : at + 1]


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _unreadable(name: str, why: str) -> CheckpointError:
    return CheckpointError(f"{visible(name)} is unreadable: {why}", code="index_unreadable")
