"""Byte figures for columns: one unit for a whole column, so that numbers align and compare at a glance."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ByteUnit:
    """A decimal unit for a column of sizes, for example GB = 10^9 bytes."""

    name: str
    bytes: int

    def text(self, size_bytes: float) -> str:
        """The size with three decimals; an exact zero is `0`, what three decimals cannot show is `<0.001`."""
        if size_bytes == 0:
            return "0"
        if size_bytes * 2000 < self.bytes:
            return "<0.001"
        return f"{size_bytes / self.bytes:,.3f}"


UNITS = (ByteUnit("GB", 10**9), ByteUnit("MB", 10**6), ByteUnit("kB", 10**3))


def unit_for(total_bytes: float) -> ByteUnit:
    """The largest unit in which the total is at least 0.1: the column's other sizes stay readable in it."""
    return next((unit for unit in UNITS if total_bytes * 10 >= unit.bytes), UNITS[-1])


def rounded(size_bytes: float) -> str:
    """A size in three significant digits for narrow columns: `20.4 GB`, `338 MB`."""
    if size_bytes < 1000:
        return f"{size_bytes:.0f} B"
    unit = next((unit for unit in UNITS if size_bytes >= unit.bytes), UNITS[-1])
    value = size_bytes / unit.bytes
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit.name}"


def sized(size_bytes: float) -> str:
    """One size alone, with its own unit: `4.466 GB`, `512 B`."""
    if size_bytes < 1000:
        return f"{size_bytes:.0f} B"
    unit = next((unit for unit in UNITS if size_bytes >= unit.bytes), UNITS[-1])
    return f"{size_bytes / unit.bytes:,.3f} {unit.name}"
