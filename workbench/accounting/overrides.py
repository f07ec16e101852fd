"""Overrides: a person auditing a checkpoint gives tensors another role or share, with a reason.

```toml
[[override]]
tensors = "model.layers.*.mlp.gate.weight"   # a name, or a pattern with * ? [...]
role = "router"
share = "8/256"                              # 0, 1, a fraction or a number: how much one step reads
reason = "read in the vendor's own code"
```
A later override wins over an earlier one. They are applied, shown and stamped; the rules' own figure stays
visible.
"""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from workbench.accounting.roles import Role
from workbench.checkpoint.files import read_small
from workbench.errors import CheckpointError, UsageError

MAX_FILE_BYTES = 1_000_000
MAX_SHARE = 1000
_HUGE_EXPONENT = re.compile(r"[eE][+-]?[\d_]{4}")
"""1e99999999 is a fraction of a hundred million digits, and the machine would write it out."""


class Override(NamedTuple):
    """`tensors` is a tensor's name or a glob pattern; what is None stays as the rules say."""

    tensors: str
    reason: str
    role: Role | None = None
    share: Fraction | None = None


def read_overrides(path: Path) -> tuple[Override, ...]:
    """The overrides of a TOML file, in order. Raises UsageError that says which entry is wrong and why."""
    try:
        text = read_small(path, str(path), MAX_FILE_BYTES).decode("utf-8-sig")
    except (CheckpointError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The overrides cannot be read: {error}.", "Name a TOML file of [[override]] tables."
        ) from error
    return parse_overrides(text, str(path))


def parse_overrides(text: str, source: str = "overrides") -> tuple[Override, ...]:
    """The same from text; `source` names it in messages."""
    import tomllib  # only who gives overrides pays for it

    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOML's errors, and numbers of too many digits
        raise UsageError(f"{source} is not TOML: {error}") from error
    entries = found.get("override", [])
    unknown = sorted(set(found) - {"override"})
    if unknown or not isinstance(entries, list):
        raise UsageError(
            f"{source}: unknown key {unknown[0] if unknown else 'override'!r}.",
            "Write each override as a [[override]] table with tensors, reason, and role or share.",
        )
    return tuple(_override(entry, f"{source}, override {number}") for number, entry in enumerate(entries, 1))


def _override(entry: Any, where: str) -> Override:
    if not isinstance(entry, dict):
        raise UsageError(f"{where} is not a table.")
    if unknown := sorted(set(entry) - {"tensors", "role", "share", "reason"}):
        raise UsageError(f"{where}: unknown key {unknown[0]!r}.", "Keys are tensors, role, share and reason.")
    tensors, reason = entry.get("tensors"), entry.get("reason")
    if not isinstance(tensors, str) or not tensors:
        raise UsageError(f"{where} names no tensors.", 'Give tensors = "a name or a pattern".')
    if not isinstance(reason, str) or not reason.strip():
        raise UsageError(f"{where} gives no reason.", "An override without a reason cannot be judged later.")
    role, share = _role(entry.get("role"), where), _share(entry.get("share"), where)
    if role is None and share is None:
        raise UsageError(f"{where} changes nothing.", "Give a role, a share, or both.")
    return Override(tensors, reason.strip(), role, share)


def _role(value: Any, where: str) -> Role | None:
    if value is None:
        return None
    try:
        return Role(value)
    except ValueError:
        known = ", ".join(role.value for role in Role)
        raise UsageError(f"{where}: no role {value!r}.", f"Roles are {known}.") from None


def _share(value: Any, where: str) -> Fraction | None:
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        if _HUGE_EXPONENT.search(str(value)):
            raise ValueError
        share = Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{where}: share {value!r} is no number.", 'Write 0, 1, 0.5 or "8/256".') from None
    if not 0 <= share <= MAX_SHARE:
        raise UsageError(f"{where}: share {value!r} is not between 0 and {MAX_SHARE}.")
    return share
