"""A bandwidth figure in a person's words: `819`, `819 spec Apple M3 Ultra page`, `4.8 TB/s`, `762 GiB/s`.

Which figure a chip has is `chips`' business; here words become a figure with its kind and source.
"""

import math
import re

from workbench.errors import UsageError
from workbench.escape import visible
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind

NO_SOURCE = "no source given"
MOST_GBPS = 100_000.0
LEAST_GBPS = 0.01

_GBPS_PER_UNIT = {
    "": 1.0,
    "gb/s": 1.0,
    "gbyte/s": 1.0,
    "tb/s": 1e3,
    "mb/s": 1e-3,
    "gib/s": 2**30 / 1e9,
    "tib/s": 2**40 / 1e9,
    "mib/s": 2**20 / 1e9,
}
_KINDS = {
    "spec": BandwidthKind.SPEC,
    "theoretical": BandwidthKind.THEORETICAL,
    "achieved": BandwidthKind.ACHIEVED,
    "measured": BandwidthKind.ACHIEVED,
    "probed": BandwidthKind.ACHIEVED,
    "stated": BandwidthKind.STATED,
}
_FIGURE = re.compile(
    r"(?P<number>[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+|nan|inf(?:inity)?)(?:e[+-]?\d+)?)"
    r"(?:\s*(?P<unit>[kmgt]i?(?:b|byte|bit)(?:/sec|/s|ps)))?(?P<words>(?:[\s,;:(].*)?)",
    re.IGNORECASE | re.DOTALL,
)


def parse_figure(text: str, source: str | None = None) -> BandwidthFigure:
    """The figure that `text` states, in GB/s (10^9); the words after the number are its kind and source.

    `source` wins over the text's own words. Without a kind word (spec, theoretical, achieved, stated) at the
    beginning of either, the figure is *stated*. Raises `UsageError` with a sentence that says what to write.
    """
    text = text.strip()
    shown = visible(text, 60)
    if re.match(r"[\d.]*\d,\d", text):
        raise UsageError(
            f"The comma in {shown} can mean two things.",
            "Write 819.2 with a point, 1228 without a separator.",
        )
    match = _FIGURE.fullmatch(text)
    if match is None:
        raise UsageError(f"{shown} is no bandwidth figure.", "GB/s like 819, or 4.8 TB/s.")
    unit = match["unit"] or ""
    gbps = float(match["number"]) * _factor(unit)
    if not math.isfinite(gbps):
        raise UsageError(f"{shown} is no number that a memory can reach.", "GB/s like 819.")
    if gbps <= 0:
        raise UsageError(f"{shown} is not above zero.", "GB/s like 819.")
    if not LEAST_GBPS <= gbps <= MOST_GBPS:
        raise UsageError(f"{shown} is {gbps:.3g} GB/s: no memory has that.", "GB/s like 819, or 4.8 TB/s.")
    kind, words = _kind_and_source(match["words"], source)
    if _factor(unit) != 1.0:
        words = f"{words}; written as {match['number']} {unit}"
    return BandwidthFigure(gbps, kind, words)


def _factor(unit: str) -> float:
    """GB/s per unit; what may mean bits is asked about."""
    if re.search(r"bit", unit, re.IGNORECASE) or re.search(r"[A-Z]b(/s|/sec|ps)", unit) or unit == "gbps":
        raise UsageError(
            f"{unit} means bits to many: is it bytes?", "Write GB/s for bytes; 8 Gb/s are 1 GB/s."
        )
    factor = _GBPS_PER_UNIT.get(unit.lower().replace("ps", "/s").replace("/sec", "/s"))
    if factor is None:
        raise UsageError(f"{visible(unit, 20)} is no unit of bandwidth.", "GB/s, TB/s, GiB/s, MB/s.")
    return factor


def _kind_and_source(words: str, source: str | None) -> tuple[BandwidthKind, str]:
    said, own = _kind_of(words)
    if source is None or not source.strip():
        return said or BandwidthKind.STATED, own or NO_SOURCE
    kind, rest = _kind_of(source)
    return kind or said or BandwidthKind.STATED, rest or NO_SOURCE


def _kind_of(words: str) -> tuple[BandwidthKind | None, str]:
    """A leading kind word taken off: `spec Apple page` is (spec, `Apple page`)."""
    words = " ".join(words.split()).strip(" ,;:()")
    first, _, rest = words.partition(" ")
    kind = _KINDS.get(first.rstrip(":,;").lower())
    return (kind, rest.strip(" ,;:()")) if kind is not None else (None, words)
