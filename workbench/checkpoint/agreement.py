"""Whether the index and the headers say the same; where they do not, the headers are the truth."""

from pathlib import Path

from workbench.checkpoint.checkpoint import Finding
from workbench.checkpoint.index import INDEX_NAME, Index, read_weight_map
from workbench.checkpoint.weights import Weights
from workbench.escape import visible


def agreement(path: Path, index: Index, weights: Weights) -> list[Finding]:
    """What the index at `path` says otherwise than the headers of a complete set of files."""
    findings = []
    if any(index.files.get(file) != names for file, names in weights.names.items() if file in index.files):
        findings += _misplaced(path, weights)
    counted = {number for number, file in enumerate(weights.files) if file.name in index.files}
    total = sum(tensor.nbytes for tensor in weights.tensors if tensor.file in counted)
    if index.total_size is not None and index.total_size != total:
        findings.append(
            Finding(
                "index_total_differs",
                f"the headers say {total:,} bytes, {INDEX_NAME} says {index.total_size:,}: "
                "the headers are the truth",
            )
        )
    return findings


def covers(path: Path, weights: Weights) -> bool:
    """Whether the counted files hold every tensor that the index at `path` names."""
    if weights.failures:
        return False
    held = {tensor.name for tensor in weights.tensors}
    return all(name in held for name, _ in read_weight_map(path))


def _misplaced(path: Path, weights: Weights) -> list[Finding]:
    place = {tensor.name: weights.files[tensor.file].name for tensor in weights.tensors}
    wrong = []
    unnamed = set(place)
    for name, file in read_weight_map(path):
        unnamed.discard(name)
        if place.get(name) != file:
            wrong.append(name)
    findings = []
    if wrong:
        findings.append(
            Finding(
                "index_disagrees",
                f"{INDEX_NAME} places {len(wrong):,} tensors where the headers do not have them "
                f"(first: '{visible(wrong[0])}'): the headers are the truth",
            )
        )
    if unnamed:
        findings.append(
            Finding(
                "index_incomplete",
                f"{INDEX_NAME} does not name {len(unnamed):,} tensors that the headers hold "
                f"(first: '{visible(min(unnamed))}'): they count",
            )
        )
    return findings
