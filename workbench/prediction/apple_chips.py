"""Apple's chips: the memory bandwidth that Apple states and what bus width x rate gives. Data only.

Public tables contradict each other (M5 Max at 300, 410, 600 and 688 GB/s; an M4 Ultra that never shipped):
each row names its source, and M3, M4 and M5 Max are told apart by GPU cores.
"""

from dataclasses import dataclass

from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind


@dataclass(frozen=True, slots=True)
class AppleChip:
    """One chip, or one bin of it. Bandwidths in GB/s; `bus_bits` x `mega_transfers` is the theoretical one.

    `memory_gib` is set where it tells bins apart; `memory_decides` where it does so even for equal cores.
    """

    name: str
    gpu_cores: tuple[int, ...]
    spec_gbps: float
    source: str
    bus_bits: int = 0
    mega_transfers: int = 0
    memory_gib: tuple[int, ...] = ()
    memory_decides: bool = False

    @property
    def label(self) -> str:
        """How a question names it: `M3 Max, 30 GPU cores, 36 or 96 GB`."""
        cores = " or ".join(str(cores) for cores in self.gpu_cores)
        memory = f", {' or '.join(str(size) for size in self.memory_gib)} GB" if self.memory_gib else ""
        return f"{self.name}, {cores} GPU cores{memory}"

    def figures(self) -> tuple[BandwidthFigure, ...]:
        """The spec figure, and the theoretical one where bus width and rate are known."""
        spec = BandwidthFigure(self.spec_gbps, BandwidthKind.SPEC, f"Apple {self.name}: {self.source}")
        if not self.bus_bits:
            return (spec,)
        theoretical = BandwidthFigure(
            round(self.bus_bits / 8 * self.mega_transfers / 1e3, 3),
            BandwidthKind.THEORETICAL,
            f"Apple {self.name}: {self.bus_bits} bit x {self.mega_transfers} MT/s",
        )
        return spec, theoretical


_AS_QUOTED = "Apple's technical specifications, as public chip tables quote them"
_APPLEGPU = "Apple's technical specifications, as quoted in philipturner/applegpuinfo"
_M3 = "Apple's technical specifications (support.apple.com/121553)"
_M4 = "Apple's technical specifications (support.apple.com/121555)"
_M4_MAX = "Apple's technical specifications (support.apple.com/122211)"
_M5 = "Apple's technical specifications (support.apple.com/126318)"
_M5_ULTRA = "Apple states 1.2 TB/s for the Mac Studio (August 2026)"
_M6 = "apple.com/mac-mini/specs, as quoted in one public data file; to be verified"

APPLE: tuple[AppleChip, ...] = (
    AppleChip("M1", (7, 8), 68.25, _AS_QUOTED, 128, 4266),
    AppleChip("M1 Pro", (14, 16), 200, _AS_QUOTED, 256, 6400),
    AppleChip("M1 Max", (24, 32), 400, _APPLEGPU, 512, 6400),
    AppleChip("M1 Ultra", (48, 64), 800, _APPLEGPU, 1024, 6400),
    AppleChip("M2", (8, 10), 100, _APPLEGPU, 128, 6400),
    AppleChip("M2 Pro", (16, 19), 200, _AS_QUOTED, 256, 6400),
    AppleChip("M2 Max", (30, 38), 400, _AS_QUOTED, 512, 6400),
    AppleChip("M2 Ultra", (60, 76), 800, _AS_QUOTED, 1024, 6400),
    AppleChip("M3", (8, 10), 100, _M3, 128, 6400),
    AppleChip("M3 Pro", (14, 18), 150, _M3, 192, 6400),
    AppleChip("M3 Max", (30,), 300, _M3, 384, 6400, memory_gib=(36, 96)),
    AppleChip("M3 Max", (40,), 400, _M3, 512, 6400, memory_gib=(48, 64, 128)),
    AppleChip("M3 Ultra", (60, 80), 819, _AS_QUOTED, 1024, 6400),
    AppleChip("M4", (8, 10), 120, _M4),
    AppleChip("M4 Pro", (16, 20), 273, _M4, 256, 8533),
    AppleChip("M4 Max", (32,), 410, _M4_MAX, 384, 8533, memory_gib=(36,)),
    AppleChip("M4 Max", (40,), 546, _M4_MAX, 512, 8533, memory_gib=(48, 64, 128)),
    AppleChip("M5", (8, 10), 153, _M5, 128, 9600),
    AppleChip("M5 Pro", (16, 20), 307, _M5, 256, 9600),
    # sources disagree on 48 and 64 GB, so that only 36 and 128 GB tell the bins apart without a core count
    AppleChip("M5 Max", (32,), 460, _M5, 384, 9600, memory_gib=(36, 48, 64)),
    AppleChip("M5 Max", (40,), 614, _M5, 512, 9600, memory_gib=(48, 64, 128)),
    AppleChip("M5 Ultra", (64, 80), 1200, _M5_ULTRA, 1024, 9600),
    AppleChip("M6", (12,), 153, _M6, memory_gib=(16,), memory_decides=True),
    AppleChip("M6", (12,), 170, _M6, memory_gib=(24, 32), memory_decides=True),
    AppleChip("A18 Pro", (5,), 60, "apple.com page of the MacBook Neo, second hand"),
)
"""Every chip that is known here; a chip that is missing is asked about, never extrapolated."""
