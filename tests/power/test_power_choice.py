"""Which sources a machine has, in order, and why the others are not there."""

import subprocess
import sys

import pytest

from workbench.errors import PowerError
from workbench.exits import ExitCode
from workbench.power.choice import Choice, LookedFor, look, required
from workbench.power.external import External
from workbench.power.sudoers import doctor_text, sudoers_line, why_not
from workbench.power.surroundings import Surroundings, here, quick

PLUG = External("Shelly plug, whole desk", watts=143)


def mac(*programs, sudo_allows=True, root=False, modules=(), battery=""):
    asked = []

    def run(argv, timeout_s):
        asked.append(list(argv))
        if "sudo" in argv[0]:
            return (0 if sudo_allows else 1), ""
        return 0, "Apple M2 Ultra" if "sysctl" in argv[0] else battery

    place = Surroundings(
        system="Darwin",
        is_root=root,
        which=lambda name: f"/usr/bin/{name}" if name in programs else None,
        has_module=lambda name: name in modules,
        run=run,
    )
    return place, asked


def test_a_mac_with_everything_uses_everything_in_order():
    place, asked = mac("sudo", "powermetrics", "macmon", modules=("zeus_apple_silicon",))
    choice = look(place, PLUG)
    assert [source.name for source in choice.sources] == ["external", "powermetrics", "ioreport", "macmon"]
    assert [row.key for row in choice.rows] == [
        "external", "powermetrics", "ioreport", "ioreport-gpu", "macmon-system", "macmon",
    ]  # fmt: skip
    assert choice.looked_for == (LookedFor("battery", "this Mac has no battery"),)
    assert choice.unavailable_reason is None and choice.window_needed_s == 10
    assert choice.window_for_all_s == 44  # typed watts never ask for more
    assert asked[0] == [
        "/usr/bin/sudo",
        "-n",
        "-l",
        "/usr/bin/powermetrics",
    ]  # asks, runs nothing, never prompts


def test_a_mac_without_a_password_free_sudo_says_how_to_allow_it():
    place, _ = mac("sudo", "powermetrics", "macmon", sudo_allows=False)
    choice = look(place)
    assert [source.name for source in choice.sources] == ["macmon"]
    reasons = dict(choice.looked_for)
    assert "workbench doctor" in reasons["powermetrics"] and "pip install" in reasons["ioreport"]


def test_root_needs_no_sudo():
    place, asked = mac("powermetrics", root=True)
    (source,) = look(place).sources
    assert source.argv(60)[0] == "/usr/bin/powermetrics" and not any("sudo" in a[0] for a in asked)


def test_a_mac_without_sudo_says_so():
    place, _ = mac("powermetrics")
    assert dict(look(place).looked_for)["powermetrics"] == "it needs root, and there is no sudo"


def test_a_bare_linux_machine_says_what_was_looked_for_and_what_always_works(tmp_path):
    choice = look(Surroundings(system="Linux", root=tmp_path))
    assert choice.sources == () and choice.rows == () and choice.window_needed_s == 10
    assert [name for name, _ in choice.looked_for] == ["nvml", "rapl", "battery"]
    words = choice.unavailable_reason
    assert words.startswith("No power source on this machine. nvml: no NVIDIA driver here. rapl: no RAPL")
    assert words.endswith("type its watts, or name a command that prints them.")
    with pytest.raises(PowerError, match="no NVIDIA driver here") as refused:
        required(choice)
    assert refused.value.exit_code is ExitCode.POWER and "meter always works" in refused.value.hint


def test_an_unknown_system_still_takes_a_meter():
    assert look(Surroundings(system="FreeBSD")).looked_for == (
        LookedFor("sensors", "none are known for FreeBSD"),
    )
    choice = look(Surroundings(system="FreeBSD"), PLUG)
    assert [source.name for source in choice.sources] == ["external"] and required(choice) is choice


def test_this_machine_answers_in_words_whatever_it_is():
    choice = look()
    assert isinstance(choice, Choice)
    assert all(why and not why.endswith(".") for _, why in choice.looked_for)
    assert bool(choice.sources) != bool(choice.unavailable_reason)
    assert here().system


def test_looking_imports_no_measuring_library():
    script = (
        "import sys\nfrom workbench.power.choice import look\nlook()\n"
        "print(sorted({'pynvml', 'zeus_apple_silicon', 'psutil', 'msgspec', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_quick_command_never_raises():
    assert quick([sys.executable, "-c", "print('x')"], 10) == (0, "x\n")
    assert quick(["/no/such/program"], 10)[0] == 127
    assert quick([sys.executable, "-c", "import time; time.sleep(60)"], 0.05)[0] == 124


def test_the_sudoers_line_allows_one_program_to_one_user():
    assert sudoers_line("ana") == "ana ALL=(root) NOPASSWD: /usr/bin/powermetrics"
    text = doctor_text("ana")
    assert sudoers_line("ana") in text and "visudo" in text and "Nothing was changed" in text


@pytest.mark.parametrize("user", ["", "ALL", "%admin", "ana bob", "ana\nroot ALL=(ALL) ALL", "#0", "+group"])
def test_a_user_name_that_sudoers_would_read_otherwise_gets_no_line(user):
    with pytest.raises(ValueError, match="cannot write a sudoers line"):
        sudoers_line(user)


@pytest.mark.parametrize(
    ("status", "complaint", "seen", "words"),
    [
        (1, "sudo: a terminal is required to read the password", 0, "sudo asks for a password"),
        (0, "", 40, "ended after 40 samples, as its own count told it"),
        (-15, "", 3, "ended after 3 samples with exit status -15"),
        (64, "powermetrics: bad option\nusage", 0, "exit status 64 and no sample: powermetrics: bad option"),
    ],
)
def test_why_powermetrics_ended(status, complaint, seen, words):
    assert words in why_not(status, complaint, seen)
