"""The stamp: who measures with what, and nothing that tells whose machine it is."""

import json
import socket
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from workbench.machine import macos, stamp
from workbench.machine.stamp import Facts, compose, private_command, private_text
from workbench.worker.messages import Stamp

ULTRA = Facts(
    os="macOS 26.7",
    macos="26.7",
    os_build="25H21",
    hw_model="Mac15,14",
    chip="Apple M3 Ultra",
    gpu_cores=80,
    memory_bytes=274_877_906_944,
    cpu_cache_bytes=None,
)
METAL = Stamp(
    device="Apple M3 Ultra",
    backend="metal",
    memory_bytes=274_877_906_944,
    recommended_working_set_bytes=233_646_220_902,
    mlx="0.32.2",
    mlx_lm="0.32.2",
    transformers="5.24.0",
)


def test_the_workers_word_and_the_systems_facts_make_one_stamp():
    made = compose(ULTRA, METAL, alias="office", command=["/opt/bin/workbench", "measure", "x"])
    assert (made.alias, made.device, made.gpu_cores) == ("office", "Apple M3 Ultra", 80)
    assert (made.memory_gb, made.recommended_working_set_gb) == (274.9, 233.6)
    assert (made.macos, made.os_build, made.mlx, made.mlx_lm) == ("26.7", "25H21", "0.32.2", "0.32.2")
    assert made.command == ["workbench", "measure", "x"]


def test_the_alias_is_the_chips_name_unless_the_user_chose_one():
    assert compose(ULTRA, METAL).alias == "Apple M3 Ultra"
    assert compose(ULTRA, None).alias == "Apple M3 Ultra"
    assert compose(Facts(), None).alias is None


def test_the_cpus_cache_counts_only_where_the_cpu_decodes():
    known = Facts(chip="EPYC", cpu_cache_bytes=32 * 2**20)
    assert compose(known, Stamp(backend="cpu")).last_level_cache_bytes == 32 * 2**20
    assert compose(known, Stamp(backend="cuda")).last_level_cache_bytes is None


def test_the_date_is_utc_in_whole_seconds():
    made = compose(ULTRA, METAL, now=datetime(2026, 9, 15, 10, 11, 12, 345678, tzinfo=UTC))
    assert made.date == "2026-09-15T10:11:12+00:00"


def test_a_terminal_over_ssh_is_marked():
    assert compose(ULTRA, METAL, environ={"SSH_CONNECTION": "a b"}).ssh is True
    assert compose(ULTRA, METAL, environ={}).ssh is False


def test_the_command_names_no_home_directory():
    home = Path("/Users/ana")
    argv = [
        "/Users/ana/.venv/bin/workbench",
        "measure",
        "/Users/ana/models/a",
        "--models=/Users/ana",
        "/data/b",
    ]
    assert private_command(argv, home) == ["workbench", "measure", "~/models/a", "--models=~", "/data/b"]
    assert private_command([], home) == []


def test_only_the_home_directory_itself_becomes_a_tilde():
    home = Path("/Users/ana")
    assert private_text("no file /Users/ana/x, nor /Users/ana: sorry", home) == "no file ~/x, nor ~: sorry"
    assert private_text("/Users/anabel/x", home) == "/Users/anabel/x"
    assert private_text("/etc/x", Path("/")) == "/etc/x"


def test_a_home_behind_a_link_is_hidden_by_both_its_names(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    assert private_text(f"{link}/a {real}/b", link) == "~/a ~/b"


async def test_this_machines_stamp_names_no_host_and_no_home():
    made = compose(await stamp.facts(), None, command=[str(Path.home() / "bin/workbench"), str(Path.home())])
    text = json.dumps(asdict(made))
    assert str(Path.home()) + '"' not in text
    if len(socket.gethostname()) > 3:
        assert socket.gethostname() not in text
    assert made.memory_bytes > 0
    assert made.python


async def test_a_mac_is_known_by_its_commands(monkeypatch):
    said = {
        "sw_vers": "ProductVersion:\t\t26.7\nBuildVersion:\t\t25H21\n",
        "sysctl": "hw.model: Mac15,14\nmachdep.cpu.brand_string: Apple M3 Ultra\n",
        "ioreg": '    "gpu-core-count" = 80\n',
    }

    async def text_of(*argv):
        return said[argv[0]]

    monkeypatch.setattr(stamp, "text_of", text_of)
    monkeypatch.setattr(stamp.sys, "platform", "darwin")
    monkeypatch.setattr(stamp.platform, "mac_ver", lambda: ("26.7", ("", "", ""), "arm64"))
    known = await stamp.facts()
    assert (known.os, known.macos, known.os_build) == ("macOS 26.7", "26.7", "25H21")
    assert (known.hw_model, known.chip, known.gpu_cores) == ("Mac15,14", "Apple M3 Ultra", 80)
    assert macos.chip("") is None
