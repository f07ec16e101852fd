"""powermetrics' text form, for output somebody kept: the same documents, from rounded milliwatts.

`GPU Power` is printed twice and may differ (128 and 124 mW in one document): the first line belongs to the
power block. On macOS 11 the CPU is `Clusters Total Power`, and `Package Power` includes more than its parts.
"""

import itertools
import re
from collections.abc import Iterator

from workbench.power.powermetrics_document import Document

BLOCK = re.compile(
    rb"^\*\*\* Sampled system activity \([^\n]*\) \(([0-9]+(?:\.[0-9]+)?)ms elapsed\) \*\*\*", re.MULTILINE
)
POWER = re.compile(r"^([A-Za-z0-9-]+(?: Total)?) Power: +([0-9]+(?:\.[0-9]+)?) mW$", re.MULTILINE)
GPU_MHZ = re.compile(r"^GPU (?:HW )?active frequency: +([0-9]+(?:\.[0-9]+)?) MHz$", re.MULTILINE)
THERMAL = re.compile(r"^Current pressure level: +(\w+)$", re.MULTILINE)
NAMES = (
    ("cpu", "CPU"),
    ("cpu", "Clusters Total"),
    ("gpu", "GPU"),
    ("ane", "ANE"),
    ("dram", "DRAM"),
    ("package", "Package"),
)
MODEL = re.compile(r"^Machine model: *(\S+)$", re.MULTILINE)
BUILD = re.compile(r"^OS version: *(\S+)$", re.MULTILINE)


class TextStream:
    """Feed it bytes, take documents; a block is complete when the next one begins or the text ends."""

    def __init__(self) -> None:
        self._buffer = b""
        self._model: str | None = None
        self._build: str | None = None

    def feed(self, data: bytes) -> Iterator[Document]:
        """The documents whose block `data` shows to be complete."""
        self._buffer += data
        starts = [found.start() for found in BLOCK.finditer(self._buffer)]
        if starts:
            self._head(self._buffer[: starts[0]])
        for start, end in itertools.pairwise(starts):
            yield from self._document(self._buffer[start:end])
        if starts:
            self._buffer = self._buffer[starts[-1] :]

    def finish(self) -> Iterator[Document]:
        """The last block, if it states any power."""
        block, self._buffer = self._buffer, b""
        for document in self._document(block):
            if document.rails_mj:
                yield document

    def _head(self, text: bytes) -> None:
        words = text.decode("utf-8", "replace")
        self._model = _first(MODEL, words) or self._model
        self._build = _first(BUILD, words) or self._build

    def _document(self, block: bytes) -> Iterator[Document]:
        header = BLOCK.match(block)
        if header is None:
            return
        elapsed_ns = round(float(header.group(1)) * 1e6)
        if elapsed_ns <= 0:
            return
        text = block.decode("utf-8", "replace").replace("\r\n", "\n")
        yield Document(
            elapsed_ns=elapsed_ns,
            rails_mj={rail: mw * elapsed_ns / 1e9 for rail, mw in _rails_mw(text).items()},
            hw_model=self._model,
            os_build=self._build,
            gpu_mhz=_float(_first(GPU_MHZ, text)),
            thermal=_first(THERMAL, text),
        )


def read_text(text: bytes) -> list[Document]:
    """Every document of a whole text."""
    stream = TextStream()
    return [*stream.feed(text), *stream.finish()]


def _rails_mw(text: str) -> dict[str, float]:
    stated: dict[str, float] = {}
    for found in POWER.finditer(text):
        stated.setdefault(found.group(1), float(found.group(2)))
    rails: dict[str, float] = {}
    for rail, name in NAMES:
        if name in stated:
            rails.setdefault(rail, stated[name])
    return rails


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found.group(1) if found else None


def _float(text: str | None) -> float | None:
    return float(text) if text is not None else None
