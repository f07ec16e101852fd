"""NVIDIA's bandwidth figures: by the driver's exact device name, and by bus width x memory clock. Data only.

Names are matched whole: a "Laptop GPU" or an "NVL" is another card than its short name.
"""

from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind

_SHEETS = {
    "NVIDIA H200": (4800, "NVIDIA H200 data sheet, 4.8 TB/s"),
    "NVIDIA H100 80GB HBM3": (3350, "NVIDIA H100 SXM data sheet, 3.35 TB/s"),
    "NVIDIA H100 PCIe": (2000, "NVIDIA H100 PCIe data sheet, 2 TB/s"),
    "NVIDIA A100-SXM4-40GB": (1555, "NVIDIA A100 40 GB data sheet"),
    "NVIDIA A100-SXM4-80GB": (2039, "NVIDIA A100 80 GB data sheet"),
    "NVIDIA B200": (8000, "NVIDIA B200 data sheet, 8 TB/s"),
    "NVIDIA GB10": (273, "NVIDIA DGX Spark data sheet"),
    "NVIDIA GeForce RTX 4090": (1008, "NVIDIA GeForce RTX 4090 specification"),
    "NVIDIA GeForce RTX 5090": (1792, "NVIDIA GeForce RTX 5090 specification"),
}

NVIDIA_SPECS: dict[str, BandwidthFigure] = {
    name.casefold(): BandwidthFigure(gbps, BandwidthKind.SPEC, source)
    for name, (gbps, source) in _SHEETS.items()
}
"""Spec figures by case-folded device name."""


def nvidia_theoretical(bus_width_bits: int | None, memory_clock_mhz: float | None) -> BandwidthFigure | None:
    """2 transfers a clock x bus width, in GB/s; None where the driver gives either as unknown or 0."""
    if not bus_width_bits or not memory_clock_mhz or bus_width_bits < 0 or memory_clock_mhz < 0:
        return None
    return BandwidthFigure(
        round(2 * memory_clock_mhz * bus_width_bits / 8 / 1e3, 1),
        BandwidthKind.THEORETICAL,
        f"NVML: {bus_width_bits} bit x 2 x {memory_clock_mhz:g} MHz",
    )
