import pytest

from workbench.prediction.apple_chips import APPLE
from workbench.prediction.ceiling import BandwidthKind
from workbench.prediction.chips import figures_for

GIB = 2**30


def gbps(*args, **named) -> list[float]:
    return [figure.gbps for figure in figures_for(*args, **named).figures]


def test_every_figure_carries_its_kind_and_its_source():
    spec, theoretical = figures_for("Apple M4 Max", 40, 64 * GIB).figures
    assert spec.kind is BandwidthKind.SPEC
    assert "122211" in spec.source
    assert theoretical.kind is BandwidthKind.THEORETICAL
    assert theoretical.source == "Apple M4 Max: 512 bit x 8533 MT/s"
    assert all(chip.source for chip in APPLE)


def test_theoretical_figures_stay_within_three_percent_of_the_vendors():
    for chip in APPLE:
        for figure in chip.figures():
            assert figure.gbps == pytest.approx(chip.spec_gbps, rel=0.03), chip.label


def test_a_chip_without_bins_needs_no_core_count():
    assert gbps("Apple M3 Ultra") == [819, 819.2]


def test_the_core_count_decides_between_bins():
    # a 36 GB M4 Max is the 410 GB/s bin, whatever a table says that has one figure for a chip
    assert gbps("Apple M4 Max", 32) == [410, 409.584]
    assert gbps("Apple M4 Max", 40) == [546, 546.112]


@pytest.mark.parametrize(
    ("device", "cores", "memory", "candidates"),
    [
        ("Apple M3 Max", None, None, [300, 400]),
        ("Apple M5 Max", None, 48, [460, 614]),
        ("Apple M6", 12, None, [153, 170]),
        ("Apple M6", None, None, [153, 170]),
    ],
)
def test_an_ambiguous_mac_is_a_question_with_its_candidates(device, cores, memory, candidates):
    answer = figures_for(device, cores, memory * GIB if memory else None)
    assert answer.figures == ()
    assert "more than one bandwidth" in answer.question
    assert [candidate.figures[0].gbps for candidate in answer.candidates] == candidates


@pytest.mark.parametrize(
    ("device", "cores", "memory"),
    [
        ("Apple M7", 12, 16),
        ("Apple M4 Ultra", 80, 256),
        ("Apple M6 Max", 40, 64),
        ("Apple M2 Max", 45, 64),
        ("Apple M6", 12, 48),
        ("Apple M1 (Virtual)", 1, 8),
        ("AMD EPYC", None, 8),
        ("", None, None),
        (None, None, None),
        ("NVIDIA Something New", None, None),
    ],
)
def test_an_unknown_chip_is_asked_about_and_never_extrapolated(device, cores, memory):
    answer = figures_for(device, cores, memory * GIB if memory else None)
    assert answer.figures == ()
    assert "State a figure with its source" in answer.question


def test_a_chip_that_never_shipped_is_said_to_be_none():
    assert "never shipped" in figures_for("Apple M4 Ultra").question


def test_a_device_name_cannot_write_to_the_terminal():
    assert "\x1b" not in figures_for("Apple \x1b[31m").question


@pytest.mark.parametrize(
    ("clock", "bits", "expected"),
    [
        (10501, 384, 1008.1),
        (14001, 512, 1792.1),
        (1593, 5120, 2039.0),
        (2619, 5120, 3352.3),
        (3201, 6016, 4814.3),
    ],
)
def test_bus_width_times_clock_gives_the_theoretical_figure(clock, bits, expected):
    assert gbps("NVIDIA Unheard Of", bus_width_bits=bits, memory_clock_mhz=clock) == [expected]


def test_an_h200_has_both_figures_spec_first():
    answer = figures_for("NVIDIA H200", bus_width_bits=6016, memory_clock_mhz=3201)
    assert [figure.name for figure in answer.figures] == ["spec 4800 GB/s", "theoretical 4814.3 GB/s"]
    assert gbps("NVIDIA GB10", bus_width_bits=0, memory_clock_mhz=0) == [273]
