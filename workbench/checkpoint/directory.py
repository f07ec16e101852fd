"""A checkpoint's directory read as a whole: files chosen, headers read, and what they say judged together.

Nothing is raised for a broken checkpoint: its state, reason and findings say what is wrong.
"""

import json
from pathlib import Path
from typing import Any

from workbench.checkpoint.agreement import agreement, covers
from workbench.checkpoint.checkpoint import Checkpoint, Finding, State
from workbench.checkpoint.config import read_config
from workbench.checkpoint.files import read_small
from workbench.checkpoint.index import INDEX_NAME, Index, escapes, read_index
from workbench.checkpoint.listing import Found, Listing, unfinished_downloads
from workbench.checkpoint.loader import refusals
from workbench.checkpoint.problems import Problem, of_error, of_findings, with_problems, worst
from workbench.checkpoint.shards import Choice, choose, is_adapter, is_loaded
from workbench.checkpoint.weights import Weights, read_weights
from workbench.errors import CheckpointError
from workbench.escape import visible

_PICKLES = (".bin", ".pt", ".pth", ".ckpt")
_ADAPTER_CONFIG_LIMIT_BYTES = 1_000_000


def open_directory(listing: Listing, name: str) -> Checkpoint:
    """The safetensors checkpoint in a directory; `listing` is what lies there."""
    config, findings = read_config_beside(listing.directory)
    index, index_findings = _index(listing)
    findings += index_findings
    choice, weights = _chosen(listing, index, findings)
    findings += [*choice.findings, *weights.findings]
    problems = _problems(listing, index, choice, weights)
    if index and not choice.missing and not weights.failures:
        findings += agreement(listing.directory / INDEX_NAME, index, weights)
    if not problems:
        reasons = refusals(listing, config, weights.tensors, findings)
        problems = [Problem(State.NOT_LOADABLE, reason) for reason in reasons]
    state, reason = worst(problems)
    return Checkpoint(
        path=listing.directory,
        name=name,
        format="safetensors",
        config=config,
        files=tuple(weights.files),
        tensors=tuple(weights.tensors),
        state=state,
        reason=reason,
        skipped=tuple(weights.skipped),
        skipped_tensors=tuple(weights.skipped_tensors),
        findings=with_problems(findings, problems),
    )


def read_config_beside(directory: Path) -> tuple[dict[str, Any], list[Finding]]:
    """The config.json of a directory; where there is none, a vendor's params.json or an empty one."""
    try:
        return read_config(directory / "config.json")
    except CheckpointError as error:
        if error.code != "file_missing":
            return {}, [Finding("config_unreadable", f"{error.message}: treated as if there were none")]
    try:
        config, findings = read_config(directory / "params.json")
    except CheckpointError:
        text = "no config.json here: bytes on disk hold, all else is inferred from the headers"
        return {}, [Finding("config_missing", text)]
    text = "no config.json here: params.json says how the model is built, which mlx-lm does not read"
    return config, [Finding("config_missing", text), *findings]


def _index(listing: Listing) -> tuple[Index | None, list[Finding]]:
    if INDEX_NAME not in listing.names:
        return None, []
    try:
        return read_index(listing.directory / INDEX_NAME), []
    except CheckpointError as error:
        return None, [Finding("index_unreadable", f"{error.message}: the shards' headers are taken instead")]


def _chosen(listing: Listing, index: Index | None, findings: list[Finding]) -> tuple[Choice, Weights]:
    """The files that count; where the index wants others, but those present hold all it names, they do."""
    present = listing.regular()
    indexed = [file for file in index.files if not escapes(file)] if index else None
    choice = choose(present, indexed)
    weights = read_weights(listing, choice)
    if index and choice.missing:
        by_name = choose(present)
        for rival in (choice, by_name):
            held = weights if rival is choice else read_weights(listing, rival)
            if (rival is choice or not rival.missing) and covers(listing.directory / INDEX_NAME, held):
                missing = ", ".join(visible(file) for file in choice.missing[:3])
                rival.missing = []
                findings.append(
                    Finding(
                        "index_stale",
                        f"{INDEX_NAME} names files that are not here ({missing}), but those here hold every "
                        "tensor it names: the headers are taken",
                    )
                )
                return rival, held
    return choice, weights


def _problems(listing: Listing, index: Index | None, choice: Choice, weights: Weights) -> list[Problem]:
    problems: list[Problem] = []
    if index:
        problems += [Problem(State.UNREADABLE, _escape(file)) for file in index.files if escapes(file)][:1]
    problems += [of_error(error) for error in weights.failures]
    problems += of_findings(weights.findings)
    broken = [name for name, found in listing.safetensors.items() if _is_broken(found)]
    if missing := sorted({*choice.missing, *broken}):
        problems.append(_missing(missing, broken, choice, listing))
    elif not choice.counted:
        problems.append(_nothing(listing))
    elif not weights.tensors and not weights.failures:
        text = "the headers name no tensors: there is nothing to read, and nothing to predict"
        problems.append(Problem(State.UNREADABLE, Finding("no_tensors", text)))
    return problems


def _is_broken(found: Found) -> bool:
    return found.kind in {"broken link", "unreadable"} and is_loaded(found.name)


def _missing(missing: list[str], broken: list[str], choice: Choice, listing: Listing) -> Problem:
    shown = ", ".join(visible(name) for name in missing[:3]) + (", …" if len(missing) > 3 else "")
    verb = "is" if len(missing) == 1 else "are"
    total = max(choice.expected, len(choice.counted) + len(missing))
    present = f"{total - len(missing)} of {total} weight files are here, the count is incomplete"
    unfinished = _unfinished(listing)
    if set(missing) <= set(broken):
        note = f", {unfinished}" if unfinished else ""
        text = f"{shown}: the blob {verb} missing (download incomplete{note}): {present}"
        return Problem(State.INCOMPLETE, Finding("blob_missing", text))
    text = f"{shown} {verb} missing{unfinished and f' ({unfinished})'}: {present}"
    return Problem(State.INCOMPLETE, Finding("shard_missing", text))


def _nothing(listing: Listing) -> Problem:
    """Why no file counts, when none is known to be missing."""
    if any(is_adapter(name) for name in listing.regular()):
        return Problem(State.NOT_LOADABLE, Finding("adapter_only", _adapter_words(listing.directory)))
    if pickles := [name for name in listing.others if name.endswith(_PICKLES)]:
        text = f"no safetensors here; pickle files ({visible(pickles[0])}) are not opened"
        return Problem(State.NOT_LOADABLE, Finding("pickle_only", text))
    if listing.others:
        text = f"no safetensors here; {visible(min(listing.others))} is in no format that is read"
        return Problem(State.NOT_LOADABLE, Finding("no_safetensors", text))
    if special := [found for found in listing.safetensors.values() if found.kind != "file"]:
        text = f"{visible(special[0].name)} is {special[0].kind}, not a file: skipped; no weights found"
        return Problem(State.UNREADABLE, Finding("not_a_regular_file", text))
    unfinished = _unfinished(listing)
    text = f"no weights here: they were not downloaded{unfinished and f' ({unfinished})'}"
    return Problem(State.INCOMPLETE, Finding("no_weights", text))


def _unfinished(listing: Listing) -> str:
    count = unfinished_downloads(listing.directory)
    return f"{count} .incomplete file{'s' * (count > 1)}" if count else ""


def _adapter_words(directory: Path) -> str:
    base = ""
    try:
        raw = read_small(
            directory / "adapter_config.json", "adapter_config.json", _ADAPTER_CONFIG_LIMIT_BYTES
        )
        described = json.loads(raw)
        if isinstance(described, dict):
            base = str(described.get("base_model_name_or_path") or described.get("model") or "")
    except (CheckpointError, ValueError, RecursionError):
        base = ""
    of = f"; the base model is {visible(base)} (adapter_config.json)" if base else ""
    return f"a LoRA adapter without base weights{of}: nothing to predict"


def _escape(file: str) -> Finding:
    return Finding(
        "index_path_escape",
        f"refused: {INDEX_NAME} names a file outside the checkpoint's directory ({visible(file)})",
    )
