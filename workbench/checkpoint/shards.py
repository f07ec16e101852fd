"""Which weight files of a directory count: those that mlx-lm would load, each set of shards once.

mlx-lm 0.32 loads every `model*.safetensors` and never looks at the index (mlx_lm/utils.py, load_model);
the index serves here to tell a stale second set from the set that is meant. Names only, nothing is opened.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

from workbench.checkpoint.checkpoint import Finding
from workbench.escape import visible

LOADED = "model*.safetensors"
"""The files that mlx-lm loads."""

_SHARD = re.compile(r"(.+?)[-_.](\d{1,9})-of-(\d{1,9})\.safetensors")
_SHARD_LIMIT = 10_000


@dataclass(slots=True)
class Choice:
    """Which files count (`counted`, in name order), which stand beside them and why, and what is missing.

    `extra` are files that mlx-lm loads although the index does not name them: they count for the tensors
    that no other file holds. `expected` is the number of shards of a complete set.
    """

    counted: list[str]
    extra: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    expected: int = 0
    findings: list[Finding] = field(default_factory=list)


def is_loaded(name: str) -> bool:
    """Whether mlx-lm's pattern matches the file name."""
    return fnmatchcase(name, LOADED)


def is_adapter(name: str) -> bool:
    """Whether a file name is that of a LoRA adapter, as mlx-lm, PEFT and diffusers write them."""
    lowered = name.lower()
    return "adapter" in lowered or "lora" in lowered


def choose(present: Collection[str], indexed: Collection[str] | None = None) -> Choice:
    """Sort the *.safetensors files that are `present`; `indexed` are the file names in the index."""
    named = set(indexed or ())
    loaded = sorted(name for name in present if is_loaded(name))
    candidates = loaded or _other_layout(present, named)
    choice = _by_index(candidates, named) if named.intersection(candidates) else _by_name(candidates)
    if named and not choice.missing:
        choice.missing = sorted(
            name for name in named if name not in present and (is_loaded(name) or not loaded)
        )
        choice.expected = max(choice.expected, len(named))
    for name in sorted(present):
        if name not in choice.counted and name not in choice.extra and name not in choice.beside:
            choice.beside[name] = _why_beside(name, name in named)
    return choice


def _other_layout(present: Collection[str], named: set[str]) -> list[str]:
    """The weights of a directory without any file that mlx-lm loads: vendors' names, say."""
    base = sorted(name for name in present if not is_adapter(name) and not name.startswith("."))
    return [name for name in base if name in named] or base


def _by_index(candidates: list[str], named: set[str]) -> Choice:
    choice = Choice([name for name in candidates if name in named])
    meant = {shard.set for name in named if (shard := shard_of(name))}
    stems = {stem for stem, _ in meant}
    for name in candidates:
        if name in named:
            continue
        shard = shard_of(name)
        if shard and shard.set not in meant and shard.set[0] in stems:
            choice.beside[name] = "a stale shard: the index names another set"
        else:
            choice.extra.append(name)
    if choice.beside:
        choice.findings.append(_stale(list(choice.beside)))
    return choice


def _by_name(candidates: list[str]) -> Choice:
    """Without an index to tell: the complete set of shards counts, by the numbers in the names."""
    choice = Choice([])
    sets: dict[tuple[str, int], list[Shard]] = {}
    for name in candidates:
        if shard := shard_of(name):
            sets.setdefault(shard.set, []).append(shard)
        else:
            choice.counted.append(name)
    for stem in sorted({stem for stem, _ in sets}):
        rivals = {own: shards for own, shards in sets.items() if own[0] == stem}
        complete = [own for own, shards in rivals.items() if not _missing(shards)]
        meant = complete or [max(rivals, key=lambda own: len(sets[own]) / own[1])]
        choice.counted += [shard.name for own in meant for shard in rivals[own]]
        for own, shards in rivals.items():
            if own not in meant:
                why = "a stale shard: its set is not complete, and another one is"
                choice.beside |= dict.fromkeys((shard.name for shard in shards), why)
        if len(complete) > 1:
            choice.findings.append(
                Finding(
                    "several_shard_sets",
                    f"{len(complete)} complete sets of shards lie here and no index names one: "
                    "each tensor name counts once, from the last file that holds it",
                )
            )
        if not complete:
            choice.missing += _missing(rivals[meant[0]])
            choice.expected += meant[0][1]
    choice.counted.sort()
    if choice.beside:
        choice.findings.append(_stale(list(choice.beside)))
    return choice


class Shard(NamedTuple):
    """A file name of a sharded checkpoint: its set (stem and number of shards) and its place in it."""

    name: str
    set: tuple[str, int]
    number: int
    number_at: tuple[int, int]


def shard_of(name: str) -> Shard | None:
    """The place in a set that a file name like `model-00001-of-00004.safetensors` gives, None for others."""
    match = _SHARD.fullmatch(name)
    if match is None or not 0 < int(match[3]) <= _SHARD_LIMIT:
        return None
    return Shard(name, (match[1], int(match[3])), int(match[2]), match.span(2))


def _missing(shards: list[Shard]) -> list[str]:
    """The names of the shards that the set lacks; sets count from 1, a few from 0."""
    present = {shard.number for shard in shards}
    first = 0 if 0 in present else 1
    name, (_, total), _, (start, end) = shards[0]
    gone = [number for number in range(first, first + total) if number not in present]
    return [name[:start] + str(number).zfill(end - start) + name[end:] for number in gone]


def _stale(names: list[str]) -> Finding:
    shown = ", ".join(visible(name) for name in names[:3]) + (", …" if len(names) > 3 else "")
    files = (
        "1 stale file of another shard set is"
        if len(names) == 1
        else (f"{len(names)} stale files of another shard set are")
    )
    return Finding(
        "stale_shards",
        f"{files} not counted ({shown}); mlx-lm loads every {LOADED} all the same: move them away",
    )


def _why_beside(name: str, named: bool) -> str:
    if name.startswith("._"):
        return "an AppleDouble file of macOS, no weights"
    if name.startswith("."):
        return "a hidden file"
    if is_adapter(name):
        return "an adapter: read with --adapter-path only"
    if name.startswith("consolidated"):
        return f"a second copy in the vendor's naming: mlx-lm loads {LOADED} only"
    if named:
        return f"the index names it, but mlx-lm loads {LOADED} only"
    return f"mlx-lm loads {LOADED} only"
