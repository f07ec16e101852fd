"""Which published bandwidth figures a machine's chip has, or what to ask where that is not certain.

Keyed by device name, GPU cores and memory, never by an architecture string; nothing is extrapolated. The
tables are `apple_chips` and `nvidia_chips`.
"""

from dataclasses import dataclass

from workbench.escape import visible
from workbench.prediction.apple_chips import APPLE, AppleChip
from workbench.prediction.ceiling import BandwidthFigure
from workbench.prediction.nvidia_chips import NVIDIA_SPECS, nvidia_theoretical

ASK = "State a figure with its source, or measure one with `workbench bandwidth`."


@dataclass(frozen=True, slots=True)
class Candidate:
    """One chip that the machine may have, with its figures."""

    label: str
    figures: tuple[BandwidthFigure, ...]


@dataclass(frozen=True, slots=True)
class ChipAnswer:
    """Figures when the chip is certain; otherwise none, a question for the person, and the candidates."""

    figures: tuple[BandwidthFigure, ...] = ()
    question: str = ""
    candidates: tuple[Candidate, ...] = ()


def figures_for(
    device: str | None,
    gpu_cores: int | None = None,
    memory_bytes: int | None = None,
    *,
    bus_width_bits: int | None = None,
    memory_clock_mhz: float | None = None,
) -> ChipAnswer:
    """The published figures of a device, spec first.

    `device` is the name that MLX or the driver gives ("Apple M3 Ultra", "NVIDIA H200"). The last two are an
    NVIDIA driver's maximum memory clock and bus width.
    """
    name = " ".join((device or "").split())
    if not name:
        return ChipAnswer(question=f"The machine does not say what it is. {ASK}")
    if name.casefold().startswith("apple "):
        return _apple(name, gpu_cores, memory_bytes)
    if "nvidia" in name.casefold():
        return _nvidia(name, bus_width_bits, memory_clock_mhz)
    return ChipAnswer(question=f"No vendor's figure is known here for {visible(name, 80)}. {ASK}")


def _apple(name: str, gpu_cores: int | None, memory_bytes: int | None) -> ChipAnswer:
    named = [chip for chip in APPLE if chip.name.casefold() == name.removeprefix("Apple ").casefold()]
    if not named:
        never = " Apple never shipped one." if name.casefold().endswith("m4 ultra") else ""
        return ChipAnswer(
            question=f"No figure of Apple's is known here for {visible(name, 80)}.{never} {ASK}"
        )
    memory_gib = None if memory_bytes is None else round(memory_bytes / 2**30)
    fitting = [chip for chip in named if _fits(chip, gpu_cores, memory_gib)]
    if len({chip.spec_gbps for chip in fitting}) == 1 and (len(fitting) == 1 or len(named) == len(fitting)):
        return ChipAnswer(figures=fitting[0].figures())
    return ChipAnswer(
        question=_apple_question(name, gpu_cores, memory_gib, bool(fitting)),
        candidates=tuple(Candidate(chip.label, chip.figures()) for chip in fitting or named),
    )


def _fits(chip: AppleChip, gpu_cores: int | None, memory_gib: int | None) -> bool:
    if gpu_cores is not None:
        if gpu_cores not in chip.gpu_cores:
            return False
        if not chip.memory_decides:
            return True
    elif not chip.memory_gib:
        return True
    return memory_gib is None or not chip.memory_gib or memory_gib in chip.memory_gib


def _apple_question(name: str, gpu_cores: int | None, memory_gib: int | None, is_known: bool) -> str:
    seen = [f"{gpu_cores} GPU cores"] if gpu_cores is not None else []
    seen += [f"{memory_gib} GB of memory"] if memory_gib is not None else []
    what = f"{visible(name, 80)}{' with ' if seen else ''}{' and '.join(seen)}"
    if is_known:
        return f"{what} has more than one bandwidth: which one is this machine's?"
    return f"No configuration like {what} is known here. {ASK}"


def _nvidia(name: str, bus_width_bits: int | None, memory_clock_mhz: float | None) -> ChipAnswer:
    spec = NVIDIA_SPECS.get(name.casefold())
    theoretical = nvidia_theoretical(bus_width_bits, memory_clock_mhz)
    figures = tuple(figure for figure in (spec, theoretical) if figure is not None)
    if figures:
        return ChipAnswer(figures=figures)
    return ChipAnswer(question=f"No figure of NVIDIA's is known here for {visible(name, 80)}. {ASK}")
