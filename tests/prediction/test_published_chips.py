"""Every chip of the table against Apple's published figures, in every configuration that Apple sold.

(device, GPU cores, memory in GB where it tells the bins apart, GB/s as Apple writes it, bus width x rate).
Wrong figures are in the wild (M3 Ultra 800, M5 Max 300, 410, 600 or 688, an M4 Ultra): none may come back.
"""

from itertools import product

import pytest

from workbench.prediction.apple_chips import APPLE
from workbench.prediction.chips import figures_for

GIB = 2**30
PUBLISHED = [
    ("M1", (7, 8), (), 68.25, 68.3),
    ("M1 Pro", (14, 16), (), 200, 204.8),
    ("M1 Max", (24, 32), (), 400, 409.6),
    ("M1 Ultra", (48, 64), (), 800, 819.2),
    ("M2", (8, 10), (), 100, 102.4),
    ("M2 Pro", (16, 19), (), 200, 204.8),
    ("M2 Max", (30, 38), (), 400, 409.6),
    ("M2 Ultra", (60, 76), (), 800, 819.2),
    ("M3", (8, 10), (), 100, 102.4),
    ("M3 Pro", (14, 18), (), 150, 153.6),
    ("M3 Max", (30,), (36, 96), 300, 307.2),
    ("M3 Max", (40,), (48, 64, 128), 400, 409.6),
    ("M3 Ultra", (60, 80), (), 819, 819.2),
    ("M4", (8, 10), (), 120, None),
    ("M4 Pro", (16, 20), (), 273, 273.1),
    ("M4 Max", (32,), (36,), 410, 409.6),
    ("M4 Max", (40,), (48, 64, 128), 546, 546.1),
    ("M5", (8, 10), (), 153, 153.6),
    ("M5 Pro", (16, 20), (), 307, 307.2),
    ("M5 Max", (32,), (36,), 460, 460.8),
    ("M5 Max", (40,), (48, 64, 128), 614, 614.4),
    ("M5 Ultra", (64, 80), (), 1200, 1228.8),
    ("M6", (12,), (16,), 153, None),
    ("M6", (12,), (24, 32), 170, None),
    ("A18 Pro", (5,), (8,), 60, None),
]
SOLD = [
    (f"Apple {name}", cores, memory, spec, exact)
    for name, all_cores, all_memory, spec, exact in PUBLISHED
    for cores, memory in product(all_cores, all_memory or (None,))
]


def gbps(device, cores=None, memory=None, **bus):
    answer = figures_for(device, cores, None if memory is None else memory * GIB, **bus)
    return [figure.gbps for figure in answer.figures]


@pytest.mark.parametrize(("device", "cores", "memory", "spec", "exact"), SOLD)
def test_every_configuration_has_apples_figure_and_that_of_its_bus(device, cores, memory, spec, exact):
    found = gbps(device, cores, memory)
    assert found[0] == spec
    assert found[1:] == ([] if exact is None else [pytest.approx(exact, abs=0.05)])


def test_the_table_has_no_chip_that_is_not_published():
    assert sorted({chip.name for chip in APPLE}) == sorted({name for name, *_ in PUBLISHED})


BINNED = ["M3 Max", "M4 Max", "M5 Max", "M6"]


@pytest.mark.parametrize("name", BINNED)
def test_the_name_alone_of_a_binned_chip_is_never_enough(name):
    answer = figures_for(f"Apple {name}")
    assert answer.figures == ()
    assert "more than one bandwidth: which one is this machine's?" in answer.question
    specs = [spec for chip, *_, spec, _ in PUBLISHED if chip == name]
    assert [one.figures[0].gbps for one in answer.candidates] == specs


@pytest.mark.parametrize("name", sorted({name for name, *_ in PUBLISHED} - set(BINNED)))
def test_every_other_name_is(name):
    assert gbps(f"Apple {name}")[0] == next(spec for chip, *_, spec, _ in PUBLISHED if chip == name)


@pytest.mark.parametrize(
    ("name", "memory", "spec"),
    [
        *(("M3 Max", memory, 300) for memory in (36, 96)),
        *(("M3 Max", memory, 400) for memory in (48, 64, 128)),
        ("M4 Max", 36, 410),
        *(("M4 Max", memory, 546) for memory in (48, 64, 128)),
        ("M5 Max", 36, 460),
        ("M5 Max", 128, 614),
        ("M6", 16, 153),
        ("M6", 32, 170),
    ],
)
def test_without_cores_the_memory_decides_where_it_was_sold_in_one_bin_only(name, memory, spec):
    assert gbps(f"Apple {name}", None, memory)[0] == spec


@pytest.mark.parametrize(("name", "memory"), [("M5 Max", 48), ("M5 Max", 64), ("M3 Max", 24), ("M6", 64)])
def test_without_cores_a_memory_size_of_both_bins_or_of_none_is_asked_about(name, memory):
    answer = figures_for(f"Apple {name}", None, memory * GIB)
    assert answer.figures == ()
    assert answer.question
    assert len(answer.candidates) == 2


@pytest.mark.parametrize(
    ("name", "cores"), [("M3 Max", 32), ("M4 Max", 30), ("M5 Max", 38), ("M3 Ultra", 76), ("M6", 10)]
)
def test_cores_that_a_chip_does_not_have_are_asked_about(name, cores):
    answer = figures_for(f"Apple {name}", cores, 64 * GIB)
    assert answer.figures == ()
    assert f"No configuration like Apple {name} with {cores} GPU cores" in answer.question


@pytest.mark.parametrize(
    "device",
    [
        *("Apple M4 Ultra", "Apple M6 Pro", "Apple M6 Max", "Apple A17 Pro", "Apple Paravirtual device"),
        *("applegpu_g15d", "Apple M3 Ultra Max", "M3 Ultra", "Apple", "Apple processor"),
    ],
)
def test_what_is_no_chip_of_the_table_is_asked_about(device):
    answer = figures_for(device, 40, 64 * GIB)
    assert answer.figures == ()
    assert answer.candidates == ()
    assert "State a figure with its source" in answer.question


# --- NVIDIA: the driver's whole name; a variant is another card ---


@pytest.mark.parametrize(
    ("device", "spec"),
    [
        ("NVIDIA H100 80GB HBM3", 3350),
        ("NVIDIA H100 PCIe", 2000),
        ("NVIDIA H200", 4800),
        ("NVIDIA A100-SXM4-40GB", 1555),
        ("NVIDIA A100-SXM4-80GB", 2039),
        ("NVIDIA B200", 8000),
        ("NVIDIA GB10", 273),
        ("NVIDIA GeForce RTX 4090", 1008),
        ("NVIDIA GeForce RTX 5090", 1792),
        ("  nvidia   geforce rtx 4090 ", 1008),
    ],
)
def test_a_card_has_the_figure_of_its_data_sheet(device, spec):
    assert gbps(device) == [spec]


@pytest.mark.parametrize(
    "device",
    [
        *("NVIDIA H100 NVL", "NVIDIA H100", "NVIDIA H200 NVL", "NVIDIA H20", "NVIDIA GH200 480GB"),
        *("NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-40GB", "NVIDIA A100-SXM4-80GB MIG 1g.10gb"),
        *("NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 5090 Laptop GPU"),
        *("NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 5090 D v2", "NVIDIA RTX 5000 Ada Generation"),
        *("NVIDIA B300", "NVIDIA Thor", "Orin (nvgpu)", "NVIDIA Jetson AGX Orin"),
    ],
)
def test_a_variant_has_no_figure_but_that_of_its_own_bus(device):
    answer = figures_for(device)
    assert answer.figures == ()
    assert "State a figure with its source" in answer.question
    if "nvidia" in device.casefold():
        assert gbps(device, bus_width_bits=256, memory_clock_mhz=9001) == [576.1]
        assert gbps(device, bus_width_bits=0, memory_clock_mhz=0) == []
