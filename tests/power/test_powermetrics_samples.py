"""Every recorded powermetrics output with the figures that it states."""

import pytest

from tests.power.recorded import documents, recorded
from workbench.power.powermetrics import ROW, Powermetrics
from workbench.power.powermetrics_document import read_document
from workbench.power.powermetrics_text import TextStream, read_text


def test_m3_max_on_macos_26_counts_15_mj_in_its_short_first_document():
    (document,) = documents(recorded("m3max_macos26_trimmed.plist"))
    assert document.elapsed_ns == 259_901_333
    assert document.rails_mj == {"cpu": 15, "gpu": 0, "ane": 0}
    assert document.hw_model == "Mac15,9" and document.os_build == "25G83"
    assert document.thermal == "Nominal"
    # the counter divided by the interval is the document's own cpu_power, to its six digits
    assert document.sample(0).rails_w["cpu"] == pytest.approx(57.7142e-3, rel=1e-5)


def test_m4_on_macos_26_counts_cpu_and_gpu_in_the_processor_group():
    (document,) = documents(recorded("own_m4_macos26.plist"))
    assert document.rails_mj == {"cpu": 12, "gpu": 4, "ane": 0}
    sample = document.sample(7)
    assert sample.at_ns == 7 and sample.elapsed_ns == 504_962_500
    assert sample.rails_w["cpu"] == pytest.approx(23.7641e-3, rel=1e-5)
    assert sum(sample.rails_w.values()) == pytest.approx(31.6855e-3, rel=1e-5)  # its combined_power


def test_m4_pro_gpu_sampler_has_the_energy_in_the_gpu_group_and_mhz_under_the_name_freq_hz():
    (document,) = documents(recorded("m4pro_macos15_gpu.plist"))
    assert document.rails_mj == {"gpu": 9}
    assert document.gpu_mhz == 338 and document.elapsed_ns == 5_005_449_083


def test_five_documents_are_separated_by_nul_and_the_last_needs_none():
    found = documents(recorded("m4pro_macos15_gpu_x5.plist"))
    assert [d.rails_mj["gpu"] for d in found] == [19, 107, 788, 146, 126]
    assert [d.elapsed_ns for d in found] == [
        5_004_758_375, 5_014_447_083, 5_010_073_541, 5_014_230_916, 5_009_178_500,
    ]  # fmt: skip
    assert found[2].sample(0).rails_w["gpu"] == pytest.approx(0.15728, rel=1e-4)


def test_battery_documents_have_no_rails_at_all():
    found = documents(recorded("m4pro_macos15_battery_x3.plist"))
    assert [d.rails_mj for d in found] == [{}, {}, {}]
    assert [d.elapsed_ns for d in found] == [1_002_093_500, 1_004_160_750, 1_001_210_833]


def test_macos_12_has_dram_and_a_package_that_is_no_part_of_the_sum():
    (document,) = documents(recorded("own_m1_macos12.plist"))
    assert document.rails_mj == {"cpu": 1200, "gpu": 8000, "ane": 0, "dram": 900, "package": 11000}
    assert "package" not in ROW.parts
    assert ROW.scope(document.rails_mj) == "SoC CPU+GPU+ANE+DRAM, Apple estimate"


def test_two_dies_are_one_cpu_rail():
    (document,) = documents(recorded("own_m1ultra_macos15.plist"))
    assert document.rails_mj == {"cpu": 4020, "gpu": 60300, "ane": 0}


def test_a_virtual_machine_says_nothing_about_power():
    (document,) = documents(recorded("own_vm.plist"))
    assert document.rails_mj == {} and document.hw_model == "VirtualMac2,1"


def test_a_stalled_cpu_rail_is_recorded_as_it_is():
    found = documents(recorded("own_m5_macos27_stalled_x3.plist"))
    assert [d.rails_mj["cpu"] for d in found] == [0, 0, 0]
    assert [d.rails_mj["gpu"] for d in found] == [9000, 9001, 9002]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m1_macos11_cpu_gpu.txt", [
            (1005.03, {"cpu": 23, "gpu": 1, "ane": 0, "dram": 10, "package": 48}),
            (1014.57, {"cpu": 3, "gpu": 0, "ane": 0, "dram": 5, "package": 12}),
            (1014.23, {"cpu": 2, "gpu": 0, "ane": 0, "dram": 1, "package": 3}),
        ]),
        ("m1max_macos14_all.txt", [(5037.96, {"cpu": 44, "gpu": 10, "ane": 0})]),
        ("m4max_macos15.txt", [(5021.96, {"cpu": 954, "gpu": 28, "ane": 0})]),
        ("own_m2air_macos26_x2.txt", [
            (1002.90, {"cpu": 823, "gpu": 26, "ane": 323}), (1010.09, {"cpu": 205, "gpu": 19, "ane": 221}),
        ]),
        ("own_m5pro.txt", [(1000.0, {"cpu": 1673, "gpu": 560, "ane": 0})]),
        ("own_m5_two_gpu_lines.txt", [(1000.0, {"cpu": 5267, "gpu": 128, "ane": 0})]),
        ("own_m1max_macos14_gpu.txt", [(503.45, {"gpu": 16})]),
    ],
)  # fmt: skip
def test_the_text_form_states_milliwatts_and_its_interval(name, expected):
    found = read_text(recorded(name))
    assert [d.elapsed_ns for d in found] == [round(ms * 1e6) for ms, _ in expected]
    for document, (ms, milliwatts) in zip(found, expected, strict=True):
        assert document.rails_mj == pytest.approx({r: mw * ms / 1000 for r, mw in milliwatts.items()})


def test_the_text_form_knows_machine_clock_and_thermal_pressure():
    (m1max,) = read_text(recorded("m1max_macos14_all.txt"))
    assert m1max.hw_model == "MacBookPro18,2" and m1max.os_build == "23G93" and m1max.thermal == "Nominal"
    (m4max,) = read_text(recorded("m4max_macos15.txt"))
    assert m4max.gpu_mhz == 338


@pytest.mark.parametrize("chunk", [1, 7, 777])
def test_the_text_form_may_arrive_in_any_chunks(chunk):
    data = recorded("m1_macos11_cpu_gpu.txt")
    stream = TextStream()
    found = [d for at in range(0, len(data), chunk) for d in stream.feed(data[at : at + chunk])]
    assert [*found, *stream.finish()] == read_text(data)


def test_a_text_cut_before_its_power_lines_yields_no_document_for_that_block():
    data = recorded("m1_macos11_cpu_gpu.txt")
    third = data.rindex(b"*** Sampled")
    assert len(read_text(data[: third + 200])) == 2


def test_every_option_that_we_pass_exists_since_macos_11():
    help_text = recorded("help_macos11.txt").decode()
    argv = Powermetrics(("/usr/bin/powermetrics",)).argv(60)
    options = [word for word in argv if word.startswith("-")]
    assert options == ["-s", "-i", "-n", "-f", "-b"]
    assert all(f"    {option} | --" in help_text for option in options)
    assert argv[argv.index("-n") + 1] == "240"  # 60 s of 250 ms: it ends by itself


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<string>no dictionary</string>",
        "<dict><key>elapsed_ns</key><integer>0</integer></dict>",
        "<dict><key>elapsed_ns</key><integer>-5</integer></dict>",
        "<dict><key>elapsed_ns</key><string>1000</string></dict>",
        "<dict><key>elapsed_ns</key><true/></dict>",
        "<dict><key>elapsed_ns</key></dict>",
        "<dict><key>timestamp</key><date>yesterday</date></dict>",
        "<array><integer>1</integer></array>",
    ],
)
def test_what_is_no_document_is_none(body):
    assert read_document(f'<plist version="1.0">{body}</plist>'.encode()) is None


def test_impossible_figures_are_missing_rather_than_zero():
    body = (
        "<dict><key>elapsed_ns</key><integer>1000000</integer><key>processor</key><dict>"
        "<key>cpu_energy</key><integer>-3</integer><key>gpu_energy</key><real>nan</real>"
        "<key>ane_energy</key><string>4</string><key>dram_energy</key><real>inf</real></dict>"
        "<key>gpu</key><string>none</string><key>thermal_pressure</key><integer>1</integer></dict>"
    )
    document = read_document(f'<plist version="1.0">{body}</plist>'.encode())
    assert document is not None and document.rails_mj == {} and document.thermal is None


def test_milliwatts_stand_in_where_a_document_has_no_counter():
    body = (
        "<dict><key>elapsed_ns</key><integer>500000000</integer><key>processor</key><dict>"
        "<key>cpu_power</key><real>2000</real></dict></dict>"
    )
    document = read_document(f'<plist version="1.0">{body}</plist>'.encode())
    assert document is not None and document.rails_mj == {"cpu": 1000}
