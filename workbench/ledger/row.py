"""One row of the ledger's table: the few fields that a list shows, small enough for 100,000 of them."""

import msgspec

from workbench.ledger.parts import Whole
from workbench.prediction.ceiling import fraction


class RowQuantization(msgspec.Struct, frozen=True, gc=False):
    """The bits of a row's weights."""

    bits: float | None = None


class Row(msgspec.Struct, frozen=True, gc=False):
    """What a table shows of a record: the fields that its line begins with, with their names and units.

    `offset` is the line's place in the file.
    """

    record_id: str
    run_group_id: str
    experiment: str
    status: str
    discards: str | None
    reason: str | None
    alias: str | None
    device: str | None
    date: str | None
    model: str | None
    quantization: RowQuantization | None
    rule: str | None
    weight_bytes_per_token: Whole | None
    predicted_tps_human: float | None
    predicted_decode_tps: float | None
    bandwidth_gbps: float | None
    bandwidth_kind: str | None
    generation_tps: float | None
    achieved_gbps: float | None
    verdict: str | None
    offset: int = 0

    @property
    def machine(self) -> str:
        """The alias, else the chip's name."""
        return self.alias or self.device or "unnamed"

    @property
    def denominator(self) -> str:
        """The principal bandwidth figure's name, for example `spec 819 GB/s`."""
        if self.bandwidth_gbps is None:
            return "no bandwidth figure"
        return f"{self.bandwidth_kind or 'stated'} {self.bandwidth_gbps:g} GB/s"

    @property
    def fraction(self) -> float | None:
        """Measured / the principal ceiling; None where either is missing."""
        if not self.generation_tps or not self.predicted_decode_tps:
            return None
        return fraction(self.generation_tps, self.predicted_decode_tps)
