"""Which model types the installed mlx-lm has, found without importing it (a second of CPU and 70 MB)."""

import ast
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from workbench.checkpoint.checkpoint import Checkpoint, Finding, State
from workbench.checkpoint.reading import open_checkpoint
from workbench.escape import visible

_TABLES = ("MODEL_REMAPPING", "MODEL_ARCHITECTURE_REMAPPING")


@dataclass(frozen=True, slots=True)
class Types:
    """mlx-lm's model modules by name, and the two tables that send a config's model_type to one of them."""

    modules: frozenset[str]
    by_type: Mapping[str, str]
    by_architecture: Mapping[tuple[str, str], str]


def open_for_mlx_lm(path: Path) -> Checkpoint:
    """The checkpoint at `path`, NOT_LOADABLE also where the installed mlx-lm lacks its model type."""
    checkpoint = open_checkpoint(path)
    if checkpoint.state is not State.COMPLETE or (reason := unsupported(checkpoint.config)) is None:
        return checkpoint
    return replace(
        checkpoint,
        state=State.NOT_LOADABLE,
        reason=reason,
        findings=(*checkpoint.findings, Finding("model_type_unsupported", reason)),
    )


def unsupported(config: Mapping[str, Any]) -> str | None:
    """Why the installed mlx-lm has no model for this config; None where it has, or where nobody can tell."""
    model_type = config.get("model_type")
    types = installed_types()
    if types is None or not isinstance(model_type, str):
        return None
    if module_of(config, types) in types.modules:
        return None
    return f"the installed mlx-lm has no model type '{visible(model_type, 60)}'"


def module_of(config: Mapping[str, Any], types: Types) -> str:
    """The module of mlx_lm.models that mlx-lm would import for this config (utils.py, _get_classes)."""
    model_type = str(config.get("model_type"))
    architectures = config.get("architectures")
    for architecture in architectures if isinstance(architectures, list) else [architectures]:
        if isinstance(architecture, str) and (model_type, architecture) in types.by_architecture:
            return types.by_architecture[model_type, architecture]
    return types.by_type.get(model_type, model_type)


@cache
def installed_types() -> Types | None:
    """The model types of the mlx-lm that this Python would import; None where there is none to read."""
    spec = importlib.util.find_spec("mlx_lm")
    for place in (spec and spec.submodule_search_locations) or ():
        modules = frozenset(path.stem for path in (Path(place) / "models").glob("*.py"))
        tables = _tables(Path(place) / "utils.py")
        if modules and tables is not None:
            return Types(modules, *tables)
    return None


def _tables(source: Path) -> tuple[Mapping[str, str], Mapping[tuple[str, str], str]] | None:
    """The two literal dictionaries of mlx_lm/utils.py, read as text; None where they are not found."""
    try:
        statements = ast.parse(source.read_text(encoding="utf-8")).body
        found = {
            target.id: ast.literal_eval(statement.value)
            for statement in statements
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name) and target.id in _TABLES
        }
    except (OSError, SyntaxError, ValueError):
        return None
    if _TABLES[0] not in found:
        return None
    return found[_TABLES[0]], found.get(_TABLES[1], {})
