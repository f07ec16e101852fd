"""One door to what is on disk: a directory, a .safetensors file or a .gguf file becomes a Checkpoint.

A broken checkpoint is returned with its state and reason; only what is no checkpoint at all raises.
"""

import os
import stat
from pathlib import Path

from workbench.checkpoint.checkpoint import Checkpoint, Finding, State, Tensor, WeightFile
from workbench.checkpoint.directory import open_directory, read_config_beside
from workbench.checkpoint.files import kind_of, text_name
from workbench.checkpoint.gguf_set import open_gguf, open_gguf_directory
from workbench.checkpoint.listing import list_directory
from workbench.checkpoint.problems import Problem, of_error, of_findings, with_problems, worst
from workbench.checkpoint.safetensors import read_header
from workbench.checkpoint.shards import shard_of
from workbench.collector import no_collector
from workbench.errors import CheckpointError
from workbench.escape import visible

_SINGLE_FILE = Finding(
    "single_file", "mlx-lm loads directories, not single files: name the directory to run it"
)


def open_checkpoint(path: Path) -> Checkpoint:
    """Read the headers and config.json of the checkpoint at `path`; no weight is read.

    Raises CheckpointError when there is nothing at `path` or nothing of a checkpoint in it. Everything else
    that is wrong is in the result: `state`, `reason`, `findings`.
    """
    with no_collector():
        return _open(Path(os.path.abspath(path)))  # noqa: PTH100 - resolve() would follow the cache's links


def _open(path: Path) -> Checkpoint:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        raise CheckpointError(
            f"{visible(str(path))}: no such file or directory",
            "Name a directory, a .safetensors or .gguf file, or a cached repository.",
            code="checkpoint_missing",
        ) from None
    if stat.S_ISDIR(mode):
        return _open_directory(path)
    if not stat.S_ISREG(mode):
        raise CheckpointError(
            f"{visible(str(path))} is {kind_of(mode)}, no checkpoint", code="not_a_checkpoint"
        )
    suffix = path.suffix.lower()
    if suffix == ".gguf":
        return open_gguf(path)
    if suffix == ".safetensors":
        return _open_safetensors(path)
    raise CheckpointError(
        f"{visible(str(path))} is neither a directory nor a .safetensors or .gguf file",
        "Name the directory that holds config.json and the weights.",
        code="not_a_checkpoint",
    )


def name_of(path: Path) -> str:
    """What to call the checkpoint at an absolute `path`: the repository for a snapshot of the Hub's cache."""
    repository = path.parent.parent.name
    if path.parent.name == "snapshots" and repository.startswith("models--"):
        return text_name(repository.removeprefix("models--").replace("--", "/"))
    return text_name(path.name)


def _open_directory(path: Path) -> Checkpoint:
    listing = list_directory(path)
    if not listing.safetensors and (gguf := open_gguf_directory(listing, name_of(path))):
        return gguf
    if not listing.safetensors and not listing.others and not _has_json(listing.names):
        raise CheckpointError(
            f"{visible(str(path))} holds no config.json and no weights",
            "Name the directory that holds config.json and *.safetensors.",
            code="not_a_checkpoint",
        )
    return open_directory(listing, name_of(path))


def _has_json(names: frozenset[str]) -> bool:
    return any(name in names for name in ("config.json", "model.safetensors.index.json"))


def _open_safetensors(path: Path) -> Checkpoint:
    """One file by itself: what it holds counts, but mlx-lm loads directories."""
    name = text_name(path.name)
    config, findings = read_config_beside(path.parent)
    tensors: tuple[Tensor, ...] = ()
    problems = []
    shard = shard_of(name)
    if shard and shard.set[1] > 1:
        text = f"{visible(name)} is one of {shard.set[1]} shards: name its directory to count the whole"
        problems.append(Problem(State.INCOMPLETE, Finding("single_shard", text)))
    try:
        header = read_header(path, name)
    except CheckpointError as error:
        problems.append(of_error(error))
    else:
        tensors = tuple(header.tensors)
        findings += header.findings
        problems += of_findings(header.findings)
        if not tensors:
            text = f"{visible(name)} names no tensors: there is nothing to read, and nothing to predict"
            problems.append(Problem(State.UNREADABLE, Finding("no_tensors", text)))
    problems = problems or [Problem(State.NOT_LOADABLE, _SINGLE_FILE)]
    state, reason = worst(problems)
    return Checkpoint(
        path=path,
        name=name,
        format="safetensors",
        config=config,
        files=(WeightFile(name, path.stat().st_size),),
        tensors=tensors,
        state=state,
        reason=reason,
        findings=with_problems(findings, problems),
    )
