"""The tensors of a directory's chosen files, each name once, and what is wrong with the files.

Headers are read here; which files to read was decided before, by name.
"""

from collections import Counter
from dataclasses import dataclass, field

from workbench.checkpoint.checkpoint import Finding, SkippedFile, Tensor, WeightFile
from workbench.checkpoint.index import Names, names_of
from workbench.checkpoint.listing import Found, Listing
from workbench.checkpoint.safetensors import Forms, read_header
from workbench.checkpoint.shards import Choice
from workbench.errors import CheckpointError
from workbench.escape import visible

_HASHES = 1 << 20


@dataclass(slots=True)
class Weights:
    """What the files of a choice hold: `files` and `tensors` count, `skipped` ones stand beside them.

    `failures` are the errors of counted files without a readable header; `names` are the digests of the
    counted headers, to hold against an index.
    """

    files: list[WeightFile] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    skipped_tensors: list[Tensor] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    failures: list[CheckpointError] = field(default_factory=list)
    names: dict[str, Names] = field(default_factory=dict)


def read_weights(listing: Listing, choice: Choice) -> Weights:
    """Read the headers of all *.safetensors files; never raises, a file that fails is in `failures`."""
    weights = Weights()
    forms = Forms()
    for name in (*choice.extra, *choice.counted):
        _add_counted(listing.safetensors[name], weights, forms)
    if _names_repeat(weights.tensors):
        _keep_last_of_each_name(weights)
    for name in choice.extra:
        if count := sum(weights.files[tensor.file].name == name for tensor in weights.tensors):
            weights.findings.append(
                Finding(
                    "file_not_in_index",
                    f"{visible(name)} is not in the index, but mlx-lm loads it: its {count:,} tensors count",
                )
            )
    for name, why in choice.beside.items():
        _add_beside(listing.safetensors[name], why, weights, forms)
    for found in listing.others.values():
        why = "GGUF, another runtime's" if found.name.endswith(".gguf") else "not a format that is read here"
        weights.skipped.append(SkippedFile(found.name, found.bytes, why))
    return weights


def _names_repeat(tensors: list[Tensor]) -> bool:
    """Whether any name occurs twice. A set of 100,000 is 6 MB; a byte per hash tells most of them apart."""
    met = bytearray(_HASHES)
    again: set[int] = set()
    for tensor in tensors:
        place = hash(tensor.name) % _HASHES
        if met[place]:
            again.add(place)
        met[place] = 1
    doubtful = [tensor.name for tensor in tensors if hash(tensor.name) % _HASHES in again] if again else []
    return len(set(doubtful)) != len(doubtful)


def _add_counted(found: Found, weights: Weights, forms: Forms) -> None:
    weights.files.append(WeightFile(found.name, found.bytes))
    try:
        header = read_header(found.path, found.name, len(weights.files) - 1, forms)
    except CheckpointError as error:
        weights.failures.append(error)
        return
    weights.tensors += header.tensors
    weights.findings += header.findings
    weights.names[found.name] = names_of(tensor.name for tensor in header.tensors)


def _add_beside(found: Found, why: str, weights: Weights, forms: Forms) -> None:
    if found.kind != "file":
        weights.skipped.append(SkippedFile(found.name, 0, found.kind))
        return
    try:
        header = read_header(found.path, found.name, len(weights.skipped), forms)
    except CheckpointError as error:
        why = f"{why}; {error.message}"
    else:
        weights.skipped_tensors += header.tensors
    weights.skipped.append(SkippedFile(found.name, found.bytes, why))


def _keep_last_of_each_name(weights: Weights) -> None:
    """Count a repeated name once, from the last file; a file that adds nothing stands beside the others."""
    last = {tensor.name: tensor for tensor in weights.tensors}
    shadowed = [tensor for tensor in weights.tensors if last[tensor.name] is not tensor]
    weights.tensors = [tensor for tensor in weights.tensors if last[tensor.name] is tensor]
    differing = sum(last[tensor.name].nbytes != tensor.nbytes for tensor in shadowed)
    weights.findings.append(
        Finding(
            "tensor_in_several_files",
            f"{len(shadowed):,} tensors stand in more than one file (first: '{visible(shadowed[0].name)}'): "
            f"each counts once{f'; {differing:,} of them differ in size' if differing else ''}",
        )
    )
    left = Counter(tensor.file for tensor in weights.tensors)
    hidden = Counter(tensor.file for tensor in shadowed)
    skipped_at = {}
    for number, count in sorted(hidden.items()):
        skipped_at[number] = len(weights.skipped)
        file = weights.files[number]
        same = sum(tensor.nbytes for tensor in shadowed if tensor.file == number)
        why = f"{count:,} tensors that another file holds too"
        weights.skipped.append(SkippedFile(file.name, same if left[number] else file.bytes, why))
    weights.skipped_tensors += [tensor._replace(file=skipped_at[tensor.file]) for tensor in shadowed]
    kept = [number for number in range(len(weights.files)) if left[number] or not hidden[number]]
    place = {number: at for at, number in enumerate(kept)}
    weights.files = [weights.files[number] for number in kept]
    weights.tensors = [tensor._replace(file=place[tensor.file]) for tensor in weights.tensors]
