"""The GGUF header, versions 2 and 3, little-endian: metadata and tensor list, never a weight.

Vocabulary and merges are skipped over, string by string, not read: the reference reader takes seconds to
build 300,000 objects of them. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from struct import Struct, unpack
from typing import Any, NamedTuple, overload

from workbench.checkpoint import ggml
from workbench.checkpoint.checkpoint import Finding, Tensor
from workbench.checkpoint.cursor import Cursor
from workbench.checkpoint.files import open_regular, read_exactly, refuse_other_content
from workbench.checkpoint.integrity import Span, check_spans
from workbench.errors import CheckpointError, IncompleteCheckpointError
from workbench.escape import visible

HEADER_LIMIT_BYTES = 100_000_000
KEPT_ARRAY_VALUES = 1_024
"""Arrays of numbers up to this length are kept: they give a value per layer. Longer ones are skipped."""

_KV_LIMIT = 4_096
_TENSOR_LIMIT = 1_000_000
_NAME_LIMIT_BYTES = 65_535
_TEXT_LIMIT_BYTES = 4_096
_DIMS_LIMIT = 4
_SIZE_LIMIT = 2**63
_WIDEST_BYTES = 8
_SMALLEST_TENSOR_ENTRY_BYTES = 24
_SMALLEST_KV_BYTES = 13

_SCALARS = {
    0: Struct("<B"), 1: Struct("<b"), 2: Struct("<H"), 3: Struct("<h"), 4: Struct("<I"), 5: Struct("<i"),
    6: Struct("<f"), 7: Struct("<?"), 10: Struct("<Q"), 11: Struct("<q"), 12: Struct("<d"),
}  # fmt: skip
_STRING = 8
_ARRAY = 9


class SkippedArray(Sequence[Any]):
    """An array of the metadata of which only the length was kept."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> "Sequence[Any]": ...
    def __getitem__(self, index: int | slice) -> Any:
        raise IndexError("this array's content was skipped")

    def __repr__(self) -> str:
        return f"SkippedArray({self._length})"


@dataclass(slots=True)
class GgufHeader:
    """One file's metadata and tensors (shapes in row-major order), and what a reader must be told."""

    metadata: dict[str, Any]
    tensors: list[Tensor]
    findings: list[Finding] = field(default_factory=list)


class _Entry(NamedTuple):
    name: str
    dims: tuple[int, ...]
    type_id: int
    offset: int


def read_header(path: Path, name: str, file: int = 0) -> GgufHeader:
    """Read a GGUF file's header; `name` is how messages call it, `file` what its tensors refer to.

    At most 100 MB are looked at. Raises CheckpointError where there is no header to read,
    IncompleteCheckpointError where the file is cut short; what can be lived with becomes a finding.
    Texts of more than 4,096 bytes (chat templates) are None in the metadata.
    """
    opened, size = open_regular(path, name)
    with opened:
        if size < 24:
            raise IncompleteCheckpointError(
                f"{visible(name)} is too short to be GGUF ({size} bytes)",
                "Download it again.",
                code="file_too_short",
            )
        start = read_exactly(opened, min(size, 512), name)
        refuse_other_content(start, name)
        _check_version(start, name)
        opened.seek(0)
        cursor = Cursor(opened, size, HEADER_LIMIT_BYTES, name)
        cursor.skip(8, "the magic")
        tensor_count, kv_count = cursor.u64("the tensor count"), cursor.u64("the metadata count")
        cursor.check_count(tensor_count, _TENSOR_LIMIT, _SMALLEST_TENSOR_ENTRY_BYTES, "tensors")
        cursor.check_count(kv_count, _KV_LIMIT, _SMALLEST_KV_BYTES, "metadata entries")
        pairs = list(_metadata(cursor, kv_count, name))
        entries = [_tensor_entry(cursor, name) for _ in range(tensor_count)]
        position = cursor.position
    metadata = dict(pairs)
    alignment = _alignment(metadata, name)
    data_start = position + -position % alignment
    header = _located(entries, max(0, size - data_start), alignment, name, file)
    header.metadata = metadata
    header.findings += _duplicates((key for key, _ in pairs), "metadata key", name)
    header.findings += _duplicates((entry.name for entry in entries), "tensor", name)
    return header


def _check_version(start: bytes, name: str) -> None:
    shown = visible(name)
    if not start.startswith(b"GGUF"):
        raise CheckpointError(
            f"{shown} is not a GGUF file: its first bytes are not 'GGUF'", code="gguf_bad_magic"
        )
    version = int.from_bytes(start[4:8], "little")
    if version in {2, 3}:
        return
    if version and not version & 0xFFFF:
        why = "it is big-endian, and only little-endian files are read"
    else:
        why = f"its version is {version:,}, and only 2 and 3 are read"
    raise CheckpointError(
        f"{shown}: {why}", "Convert the model again with a current llama.cpp.", code="gguf_version"
    )


def _metadata(cursor: Cursor, count: int, name: str) -> Iterator[tuple[str, Any]]:
    for _ in range(count):
        key = cursor.text(_NAME_LIMIT_BYTES, "a metadata key")
        yield key, _value(cursor, cursor.u32("a value's type"), key, name)


def _value(cursor: Cursor, kind: int, key: str, name: str) -> Any:
    if scalar := _SCALARS.get(kind):
        return scalar.unpack(cursor.take(scalar.size, "a value"))[0]
    if kind == _STRING:
        length = cursor.u64("a text's length")
        if length > _TEXT_LIMIT_BYTES:
            cursor.skip(length, "a text")
            return None
        return cursor.take(length, "a text").decode("utf-8", "backslashreplace")
    if kind == _ARRAY:
        return _array(cursor, key, name)
    raise CheckpointError(
        f"{visible(name)}: metadata '{visible(key)}' has the unknown type {kind}", code="gguf_malformed"
    )


def _array(cursor: Cursor, key: str, name: str) -> Any:
    kind = cursor.u32("an array's type")
    length = cursor.u64("an array's length")
    if kind == _STRING:
        if length * 8 > cursor.left:
            cursor.skip(length * 8, "an array of texts")
        cursor.skip_strings(length, "a text in an array")
        return SkippedArray(length)
    scalar = _SCALARS.get(kind)
    if scalar is None:
        raise CheckpointError(
            f"{visible(name)}: metadata '{visible(key)}' is an array of the unknown type {kind}",
            code="gguf_malformed",
        )
    if length > KEPT_ARRAY_VALUES:
        cursor.skip(length * scalar.size, "an array")
        return SkippedArray(length)
    raw = cursor.take(length * scalar.size, "an array")
    return unpack(f"<{length}{scalar.format[1:]}", raw)


def _tensor_entry(cursor: Cursor, name: str) -> _Entry:
    tensor_name = cursor.text(_NAME_LIMIT_BYTES, "a tensor's name")
    rank = cursor.u32("a tensor's rank")
    if rank > _DIMS_LIMIT:
        raise CheckpointError(
            f"{visible(name)}: tensor '{visible(tensor_name)}' has {rank:,} dimensions, "
            f"more than {_DIMS_LIMIT}",
            code="gguf_malformed",
        )
    *dims, type_id, offset = unpack(f"<{rank}QIQ", cursor.take(8 * rank + 12, "a tensor's entry"))
    if max(*dims, prod(dims) * _WIDEST_BYTES, offset) >= _SIZE_LIMIT:
        raise CheckpointError(
            f"{visible(name)}: tensor '{visible(tensor_name)}' has a size or offset beyond 2^63",
            code="gguf_malformed",
        )
    return _Entry(tensor_name, tuple(dims), type_id, offset)


def _alignment(metadata: dict[str, Any], name: str) -> int:
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or not 0 < alignment <= 1 << 30 or alignment & (alignment - 1):
        raise CheckpointError(
            f"{visible(name)}: general.alignment is {visible(repr(alignment))}, not a power of two",
            code="gguf_malformed",
        )
    return alignment


def _located(entries: list[_Entry], data_bytes: int, alignment: int, name: str, file: int) -> GgufHeader:
    """The tensors with their bytes by block size, or by the next offset where the type is not known."""
    shown = visible(name)
    starts = sorted({entry.offset for entry in entries})
    after = dict(zip(starts, [*starts[1:], data_bytes], strict=False))
    header = GgufHeader({}, [])
    spans: list[Span] = []
    unknown = set()
    unfit = []
    for entry in entries:
        nbytes = ggml.tensor_bytes(entry.type_id, entry.dims)
        if nbytes is None:
            nbytes = max(0, after[entry.offset] - entry.offset)
            if entry.type_id in ggml.TYPES:
                unfit.append(entry)
            else:
                unknown.add(entry.type_id)
        header.tensors.append(
            Tensor(entry.name, ggml.type_name(entry.type_id), entry.dims[::-1], nbytes, file)
        )
        spans.append((entry.offset, entry.offset + nbytes, entry.name))
    header.findings += check_spans(spans, data_bytes, name, alignment)
    if unknown:
        types = ", ".join(str(type_id) for type_id in sorted(unknown)[:20])
        header.findings.append(
            Finding("unknown_dtype", f"{shown}: unknown ggml types {types}: bytes come from the offsets")
        )
    if unfit:
        first = unfit[0]
        row = first.dims[0] if first.dims else 1
        header.findings.append(
            Finding(
                "shape_mismatch",
                f"{shown}: '{visible(first.name)}': rows of {row:,} values are no whole blocks of "
                f"{ggml.type_name(first.type_id)} ({len(unfit):,} such tensors): bytes come from the offsets",
            )
        )
    if any(entry.offset % alignment for entry in entries):
        header.findings.append(
            Finding(
                "offset_unaligned", f"{shown}: tensors lie at offsets that are no multiple of {alignment}"
            )
        )
    return header


def _duplicates(names: Iterator[str], what: str, name: str) -> list[Finding]:
    twice = [text for text, times in Counter(names).items() if times > 1]
    if not twice:
        return []
    code = "duplicate_tensor" if what == "tensor" else "gguf_duplicate_key"
    return [
        Finding(code, f"{visible(name)}: {what} '{visible(twice[0])}' stands in the header more than once")
    ]
