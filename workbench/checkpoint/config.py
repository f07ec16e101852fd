"""config.json as a mapping: tolerant of a byte order mark and of NaN, clear about everything else.

What the keys mean is not said here.
"""

import json
from collections import Counter
from math import inf, nan
from pathlib import Path
from typing import Any

from workbench.checkpoint.checkpoint import Finding
from workbench.checkpoint.files import read_small
from workbench.errors import CheckpointError
from workbench.escape import visible

CONFIG_LIMIT_BYTES = 10_000_000
"""Far over any real config.json; the largest known, with a quantization entry per layer, is under 1 MB."""

_BOM = b"\xef\xbb\xbf"
_TAGGED_FLOATS = {"NaN": nan, "Infinity": inf, "-Infinity": -inf}
_DEPTH_LIMIT = 100
_DIGITS_LIMIT = 40


def read_config(path: Path) -> tuple[dict[str, Any], list[Finding]]:
    """The configuration in the file at `path`, and what a reader must be told (keys that stand twice, a BOM).

    CheckpointError where there is none to read.
    """
    return parse_config(read_small(path, path.name, CONFIG_LIMIT_BYTES), path.name)


def parse_config(raw: bytes, name: str = "config.json") -> tuple[dict[str, Any], list[Finding]]:
    """The same from its bytes; CheckpointError where they are not a JSON object in UTF-8."""
    shown = visible(name)
    findings = []
    if raw.startswith(_BOM):
        findings.append(
            Finding("config_bom", f"{shown} begins with a byte order mark, which mlx-lm does not read")
        )
    twice: list[str] = []

    def object_of(pairs: list[tuple[str, Any]]) -> Any:
        found = dict(pairs)
        if len(found) != len(pairs):
            times = Counter(key for key, _ in pairs)
            twice.extend(key for key, n in times.items() if n > 1)
        if len(found) == 1 and (tag := found.get("__float__")) is not None and isinstance(tag, str):
            return _TAGGED_FLOATS.get(tag, found)
        return found

    config = _decoded(raw, shown, object_of)
    if not isinstance(config, dict):
        raise CheckpointError(
            f"{shown} holds {_kind(config)}, not an object",
            "Fetch config.json from the repository again.",
            code="config_unreadable",
        )
    if twice:
        keys = ", ".join(f"'{visible(key, 60)}'" for key in dict.fromkeys(twice[:20]))
        findings.append(Finding("config_duplicate_key", f"{shown} has {keys} twice: the last one is taken"))
    return config, findings


def _decoded(raw: bytes, shown: str, object_of: Any) -> Any:
    hint = "Fetch config.json from the repository again."
    if not raw.strip():
        raise CheckpointError(f"{shown} is empty", hint, code="config_unreadable")
    try:
        text = raw.removeprefix(_BOM).decode()
        config = json.loads(text, object_pairs_hook=object_of, parse_int=_whole_number)
        if _depth_over(config, _DEPTH_LIMIT):
            raise RecursionError
        if "\\u" in text:
            json.dumps(config, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        message = f"{shown} line {error.lineno} column {error.colno}: {error.msg}"
    except UnicodeDecodeError as error:
        message = f"{shown} is not UTF-8 at byte {error.start}"
    except UnicodeEncodeError:
        message = f"{shown} holds half a surrogate pair, which is no text"
    except RecursionError:
        message = f"{shown} is nested too deeply"
    except ValueError:
        message = f"{shown} holds a number of too many digits"
    else:
        return config
    raise CheckpointError(message, hint, code="config_unreadable")


def _whole_number(digits: str) -> int:
    if len(digits) > _DIGITS_LIMIT:
        raise ValueError("too many digits")
    return int(digits)


def _depth_over(value: Any, limit: int) -> bool:
    """Whether the value is nested deeper than `limit`: what comes later may walk it by recursion."""
    level = [value]
    for _ in range(limit):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "a truth value", int: "a number", float: "a number", str: "a text", list: "a list"}[
        type(value)
    ]
