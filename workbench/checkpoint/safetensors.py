"""The safetensors header: a length, a JSON object, and nothing of the weights behind it.

Nothing is believed: lengths are held against the format's limit and the file's size, every entry against
its dtype, shape and neighbours. https://huggingface.co/docs/safetensors#format
"""

import json
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from workbench.checkpoint.checkpoint import Finding, Tensor
from workbench.checkpoint.files import open_regular, read_exactly, refuse_other_content
from workbench.checkpoint.integrity import Span, check_spans
from workbench.errors import CheckpointError, IncompleteCheckpointError
from workbench.escape import visible

HEADER_LIMIT_BYTES = 100_000_000
"""The format's own limit: MAX_HEADER_SIZE of the safetensors library."""

DTYPE_BITS = {
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "U16": 16, "I16": 16, "F16": 16, "BF16": 16,
    "U32": 32, "I32": 32, "F32": 32,
    "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
"""Bits per element of the dtypes that the safetensors library writes."""

_OFFSET_LIMIT = 2**63
_RANK_LIMIT = 32
_NAMED = 3
"""How many of a kind a message names."""


@dataclass(slots=True)
class Header:
    """One file's tensors in header order, and what a reader must be told about the file."""

    tensors: list[Tensor]
    findings: list[Finding] = field(default_factory=list)


class Forms:
    """The dtypes and shapes met so far, each kept once: a checkpoint repeats a few of them 100,000 times."""

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], tuple[str, tuple[int, ...], int | None]] = {}

    def add(self, dtype: Any, shape: Any) -> tuple[str, tuple[int, ...], int | None]:
        """The pair with the bytes that it needs, None for an unknown dtype; ValueError for nonsense."""
        if type(dtype) is not str or type(shape) is not list or len(shape) > _RANK_LIMIT:
            raise ValueError("no dtype and shape")
        if not all(type(size) is int and 0 <= size < _OFFSET_LIMIT for size in shape):
            raise ValueError("no shape")
        bits = DTYPE_BITS.get(dtype)
        form = (dtype, tuple(shape), None if bits is None else (prod(shape) * bits + 7) // 8)
        self.known[(dtype, *shape)] = form
        return form


def read_header(path: Path, name: str, file: int = 0, forms: Forms | None = None) -> Header:
    """Read a safetensors file's header; `name` is how messages call it, `file` what its tensors refer to.

    At most 100 MB are read, never a weight. Raises CheckpointError where there is no header to read,
    IncompleteCheckpointError where the file is cut short; what can be lived with becomes a finding.
    """
    opened, size = open_regular(path, name)
    with opened:
        raw = _header_bytes(opened, size, name)
    return parse_header(raw, size - 8 - len(raw), name, file, forms)


def parse_header(raw: bytes, data_bytes: int, name: str, file: int = 0, forms: Forms | None = None) -> Header:
    """Make tensors of the header's JSON; `data_bytes` is the size of what follows it in the file."""
    shown = visible(name)
    try:
        text = raw.decode()
        entries = json.loads(text, parse_float=str, parse_constant=str)
    except UnicodeDecodeError as error:
        raise CheckpointError(
            f"{shown}: the header is not UTF-8 at byte {8 + error.start}", code="header_not_utf8"
        ) from None
    except json.JSONDecodeError as error:
        raise CheckpointError(
            f"{shown}: the header is not JSON, line {error.lineno} column {error.colno}: {error.msg}",
            code="header_not_json",
        ) from None
    except (ValueError, RecursionError):
        raise CheckpointError(
            f"{shown}: the header is not JSON that can be read: a number too long or nesting too deep",
            code="header_not_json",
        ) from None
    if type(entries) is not dict:
        raise CheckpointError(
            f"{shown}: the header is JSON, but no object of tensors", code="header_not_object"
        )
    entries.pop("__metadata__", None)
    header = _tensors_of(entries, data_bytes, name, file, forms or Forms())
    if not raw.startswith(b"{"):
        header.findings.append(
            Finding("header_leading_space", f"{shown}: the header begins with white space: read all the same")
        )
    if raw.count(b'"data_offsets"') != len(header.tensors) or b"\\u" in raw:
        header.findings += _name_findings(text, name)
    return header


def _header_bytes(opened: BinaryIO, size: int, name: str) -> bytes:
    shown = visible(name)
    if size == 0:
        raise IncompleteCheckpointError(
            f"{shown} is empty (0 bytes): the download did not finish",
            "Download it again.",
            code="file_empty",
        )
    if size < 8:
        raise IncompleteCheckpointError(
            f"{shown} is too short to be safetensors ({size} bytes)",
            "Download it again.",
            code="file_too_short",
        )
    start = read_exactly(opened, min(size, 512), name)
    refuse_other_content(start, name)
    length = int.from_bytes(start[:8], "little")
    if length > HEADER_LIMIT_BYTES:
        raise CheckpointError(
            f"{shown}: {_misnamed(start)}a header of {length:,} bytes is over the format's limit of "
            f"{HEADER_LIMIT_BYTES:,}: refused without reading it",
            code="header_too_long",
        )
    if length > size - 8:
        raise IncompleteCheckpointError(
            f"{shown}: the header says {length:,} bytes, only {size - 8:,} are present: "
            "the file is truncated",
            "Download it again.",
            code="file_truncated",
        )
    begin = start[8:].lstrip(b" \t\r\n")
    if length > len(start) and begin and not begin.startswith(b"{"):
        raise CheckpointError(
            f"{shown}: the header of {length:,} bytes is not JSON: it does not begin with '{{'",
            code="header_not_json",
        )
    rest = length - (len(start) - 8)
    return start[8 : 8 + length] if rest <= 0 else start[8:] + read_exactly(opened, rest, name)


def _misnamed(start: bytes) -> str:
    if start.startswith(b"GGUF"):
        return "it is a GGUF file by another name; "
    if start.startswith((b"PK\x03\x04", b"\x80\x02", b"\x80\x04")):
        return "it is a pickle of PyTorch by another name; "
    return ""


def _tensors_of(entries: dict[str, Any], data_bytes: int, name: str, file: int, forms: Forms) -> Header:
    header = Header([])
    tensors = header.tensors
    known = forms.known
    spans: list[Span] = []
    malformed: list[str] = []
    mismatched: list[Tensor] = []
    unknown: set[str] = set()
    for tensor_name, entry in entries.items():
        try:
            dtype, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
            form = known.get((dtype, *shape)) or forms.add(dtype, shape)
            if type(start) is not int or type(end) is not int or not 0 <= start <= end < _OFFSET_LIMIT:
                raise ValueError("no offsets")
        except (TypeError, KeyError, ValueError):
            malformed.append(tensor_name)
            continue
        nbytes = end - start
        needed = form[2]
        spans.append((start, end, tensor_name))
        if needed == nbytes:
            tensors.append(Tensor(tensor_name, form[0], form[1], needed, file))
            continue
        tensors.append(Tensor(tensor_name, form[0], form[1], nbytes, file))
        if needed is None:
            unknown.add(form[0])
        else:
            mismatched.append(tensors[-1])
    shown = visible(name)
    if malformed:
        raise CheckpointError(
            f"{shown}: dtype, shape or data_offsets of {_some(malformed)} make no sense",
            code="header_entry_malformed",
        )
    header.findings += check_spans(spans, data_bytes, name)
    if mismatched:
        header.findings.append(_mismatch(mismatched, shown, forms))
    if unknown:
        header.findings.append(
            Finding(
                "unknown_dtype",
                f"{shown}: unknown dtypes {', '.join(visible(dtype, 40) for dtype in sorted(unknown)[:20])}: "
                "bytes come from the offsets",
            )
        )
    return header


def _mismatch(mismatched: list[Tensor], shown: str, forms: Forms) -> Finding:
    first = mismatched[0]
    needed = forms.known[(first.dtype, *first.shape)][2]
    more = f" (and {len(mismatched) - 1:,} more tensors)" if len(mismatched) > 1 else ""
    return Finding(
        "shape_mismatch",
        f"{shown}: '{visible(first.name)}': shape {list(first.shape)} {first.dtype} needs {needed:,} bytes, "
        f"the offsets give {first.nbytes:,}{more}: bytes come from the offsets",
    )


def _name_findings(text: str, name: str) -> list[Finding]:
    """Look at the names again, with what a JSON object hides: one name twice, names that are no text."""
    pairs = json.loads(text, object_pairs_hook=tuple, parse_float=str, parse_constant=str)
    seen: set[str] = set()
    twice: list[str] = []
    for tensor_name, entry in pairs:
        tensor = tensor_name != "__metadata__" and isinstance(entry, tuple)
        fields = [pair[0] for pair in entry] if tensor else []
        if tensor_name in seen or len(set(fields)) != len(fields):
            twice.append(tensor_name)
        seen.add(tensor_name)
    try:
        "".join(seen).encode()
    except UnicodeEncodeError:
        raise CheckpointError(
            f"{visible(name)}: a tensor's name is no Unicode text (half a surrogate pair)",
            code="header_not_utf8",
        ) from None
    if not twice:
        return []
    return [
        Finding(
            "duplicate_tensor",
            f"{visible(name)}: {_some(twice)} stands in the header more than once: ambiguous; "
            "the last entry is taken",
        )
    ]


def _some(names: list[str]) -> str:
    named = ", ".join(f"'{visible(name)}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{len(names):,} tensors ({named}{more})" if len(names) > 1 else named
