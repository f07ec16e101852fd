"""Whether a header's offsets describe its file: overlaps, gaps, trailing and missing bytes.

Pure arithmetic on spans; how a format writes them down stays in its own module.
"""

from collections.abc import Iterable

from workbench.checkpoint.checkpoint import Finding
from workbench.escape import visible

REFUSED = frozenset({"offsets_overlap"})
"""Codes of findings after which no byte figure is honest."""

TRUNCATED = frozenset({"data_truncated"})
"""Codes of findings that say that a file is shorter than its header promises."""


Span = tuple[int, int, str]
"""Where one tensor's bytes lie in the data section: start, end, name. Plain, as there are 100,000 of them."""


def check_spans(spans: Iterable[Span], data_bytes: int, where: str, alignment: int = 1) -> list[Finding]:
    """What is wrong with the tensors' places in a data section of `data_bytes`; [] where nothing is.

    Gaps shorter than `alignment` are padding. `where` names the file.
    """
    findings = []
    unnamed = position = 0
    last = ""
    overlap: tuple[Span, str, int] | None = None
    for span in sorted(spans):
        start, end, name = span
        if start == end:
            continue
        if start < position:
            overlap = overlap or (span, last, position)
        elif start - position >= alignment:
            unnamed += start - position
        if end > position:
            position, last = end, name
    shown = visible(where)
    if overlap:
        (start, end, name), other, other_end = overlap
        findings.append(
            Finding(
                "offsets_overlap",
                f"{shown}: '{visible(name)}' ({start:,}..{end:,}) overlaps "
                f"'{visible(other)}' (up to {other_end:,}): the sizes add up to more than the data",
            )
        )
    if unnamed:
        findings.append(
            Finding("offsets_gap", f"{shown}: {unnamed:,} bytes between tensors have no name: not counted")
        )
    if position > data_bytes:
        findings.append(
            Finding(
                "data_truncated",
                f"{shown}: the file ends {position - data_bytes:,} bytes before the end of the last tensor: "
                "the download is incomplete, and the count is of what should be there",
            )
        )
    elif data_bytes - position >= alignment:
        findings.append(
            Finding(
                "trailing_bytes", f"{shown}: {data_bytes - position:,} bytes after the last tensor: ignored"
            )
        )
    return findings
