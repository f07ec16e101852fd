"""Which bandwidth figures this machine has: the user's own, its chip's published ones, those probed here."""

from dataclasses import dataclass
from pathlib import Path

from workbench.machine import nvidia
from workbench.machine.stamp import MachineStamp
from workbench.prediction.ceiling import BandwidthFigure
from workbench.prediction.chips import Candidate, ChipAnswer, figures_for
from workbench.protocol.prepare import stored_figures


@dataclass(frozen=True, slots=True)
class KnownFigures:
    """`figures`, the principal one first. Where the chip is not certain: a question, and the candidates."""

    figures: tuple[BandwidthFigure, ...] = ()
    question: str = ""
    candidates: tuple[Candidate, ...] = ()


def known_figures(
    stamp: MachineStamp, own: tuple[BandwidthFigure, ...] = (), ledger: Path | None = None
) -> KnownFigures:
    """The user's own figures, then the chip's spec and theoretical ones, then the newest probe here.

    `own` are the settings' figures. Raises LedgerError when the ledger cannot be read.
    """
    chip = published_figures(stamp.device, stamp.gpu_cores, stamp.memory_bytes)
    probed = stored_figures(stamp, ledger)[:1]
    return KnownFigures((*own, *chip.figures, *probed), chip.question, chip.candidates)


def published_figures(device: str | None, gpu_cores: int | None, memory_bytes: int | None) -> ChipAnswer:
    """What is published of this machine's `device`; of an NVIDIA GPU also what its own bus and clock give."""
    bus = nvidia.memory_bus() if device is not None and "nvidia" in device.casefold() else None
    width_bits, clock_mhz = bus or (None, None)
    return figures_for(device, gpu_cores, memory_bytes, bus_width_bits=width_bits, memory_clock_mhz=clock_mhz)
