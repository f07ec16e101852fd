"""A GGUF model as a checkpoint: one file, or the files of a split one, with what lies beside them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.checkpoint.checkpoint import Checkpoint, Finding, SkippedFile, State, Tensor, WeightFile
from workbench.checkpoint.files import text_name
from workbench.checkpoint.gguf import read_header
from workbench.checkpoint.listing import Listing
from workbench.checkpoint.problems import Problem, of_error, of_findings, with_problems, worst
from workbench.errors import CheckpointError
from workbench.escape import visible

NOT_LOADED = Finding("gguf_not_in_mlx_lm", "mlx-lm does not decode GGUF: the count holds for llama.cpp")

_SPLIT = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")
_SPLIT_LIMIT = 10_000


def open_gguf(path: Path, name: str = "", beside: Sequence[SkippedFile] = ()) -> Checkpoint:
    """The model in the file at `path`, or in the split set that the file belongs to.

    The state of a good one is NOT_LOADABLE, because mlx-lm does not decode GGUF.
    """
    parts = split_set(path)
    problems: list[Problem] = []
    findings: list[Finding] = []
    files: list[WeightFile] = []
    tensors: list[Tensor] = []
    metadata: dict[str, Any] = {}
    missing = []
    for part in parts:
        shown = text_name(part.name)
        try:
            header = read_header(part, shown, len(files))
        except CheckpointError as error:
            if error.code in {"file_missing", "blob_missing"}:
                missing.append(shown)
                continue
            problems.append(of_error(error))
        else:
            tensors += header.tensors
            findings += header.findings
            metadata = header.metadata | metadata
        files.append(WeightFile(shown, _size(part)))
    problems += of_findings(findings)
    if missing:
        problems.append(_missing(missing, len(parts)))
    elif not problems:
        problems += _judged(path, tensors, metadata, len(parts))
    if not problems:
        problems.append(Problem(State.NOT_LOADABLE, NOT_LOADED))
    findings += _repeated(tensors)
    state, reason = worst(problems)
    return Checkpoint(
        path=path,
        name=name or text_name(path.name),
        format="gguf",
        config={},
        files=tuple(files),
        tensors=tuple(tensors),
        state=state,
        reason=reason,
        skipped=tuple(beside),
        findings=with_problems(findings, problems),
        gguf=metadata,
    )


def open_gguf_directory(listing: Listing, name: str) -> Checkpoint | None:
    """The one GGUF model in a directory; None where there is no GGUF file, CheckpointError where several."""
    models = models_in(listing)
    if not models:
        return None
    main = [first for first in models if not is_projector(first.name)] or models
    if len(main) > 1:
        names = ", ".join(visible(text_name(first.name)) for first in main[:5])
        raise CheckpointError(
            f"{visible(name)} holds {len(main)} GGUF models: {names}{', …' if len(main) > 5 else ''}",
            "Name one of the files.",
            code="several_gguf",
        )
    own = {text_name(part.name) for part in split_set(main[0])}
    beside = [
        SkippedFile(found.name, found.bytes, _why_beside(found.name))
        for found in listing.others.values()
        if found.name not in own
    ]
    return open_gguf(main[0], name, beside)


def models_in(listing: Listing) -> list[Path]:
    """The first file of every GGUF model that lies directly in the directory."""
    found = [
        item.path
        for item in listing.others.values()
        if item.name.endswith(".gguf") and "/" not in item.name and not item.name.startswith(".")
    ]
    firsts: dict[str, Path] = {}
    for path in sorted(found):
        split = _SPLIT.fullmatch(path.name)
        firsts.setdefault(f"{split[1]}-of-{split[3]}" if split else path.name, path)
    return list(firsts.values())


def split_set(path: Path) -> list[Path]:
    """All files of the split model to which `path` belongs, by the names llama-gguf-split gives."""
    split = _SPLIT.fullmatch(path.name)
    total = int(split[3]) if split else 1
    if split is None or not 1 < total <= _SPLIT_LIMIT:
        return [path]
    return [path.with_name(f"{split[1]}-{number:05d}-of-{split[3]}.gguf") for number in range(1, total + 1)]


def is_projector(name: str) -> bool:
    """Whether a file name is that of a vision or audio projector, which llama.cpp reads with --mmproj."""
    return "mmproj" in name.lower()


def _judged(path: Path, tensors: list[Tensor], metadata: dict[str, Any], parts: int) -> list[Problem]:
    shown = visible(text_name(path.name))
    count = metadata.get("split.count")
    if isinstance(count, int) and count > parts:
        text = f"{shown} says that it is part of {count:,} files, and its name does not tell the others"
        return [Problem(State.INCOMPLETE, Finding("shard_missing", text))]
    if not tensors:
        text = f"{shown} names no tensors: there is nothing to read"
        return [Problem(State.UNREADABLE, Finding("no_tensors", text))]
    return []


def _missing(missing: list[str], total: int) -> Problem:
    shown = ", ".join(visible(name) for name in missing[:3]) + (", …" if len(missing) > 3 else "")
    verb = "is" if len(missing) == 1 else "are"
    text = (
        f"{shown} {verb} missing: {total - len(missing)} of {total} files are here, the count is incomplete"
    )
    return Problem(State.INCOMPLETE, Finding("shard_missing", text))


def _repeated(tensors: list[Tensor]) -> list[Finding]:
    names = [tensor.name for tensor in tensors]
    if len(set(names)) == len(names) or len({tensor.file for tensor in tensors}) == 1:
        return []
    return [Finding("tensor_in_several_files", "files of the split model repeat a tensor's name")]


def _why_beside(name: str) -> str:
    if is_projector(name):
        return "a projector for images or sound: read with --mmproj only"
    return "not the model that was named" if name.endswith(".gguf") else "not a format that is read here"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
