"""What reading a foreign file gives: records labelled as not measured here, and what was refused."""

from dataclasses import dataclass

from workbench.ledger.record import Record


@dataclass(frozen=True, slots=True)
class Imported:
    """Records read from another form, and (line or row number, why) for what could not be."""

    records: tuple[Record, ...]
    refused: tuple[tuple[int, str], ...]
