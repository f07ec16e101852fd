"""The settings file: what it may hold, and what is said of what it may not."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.prediction.ceiling import BandwidthKind
from workbench.settings import Settings, from_mapping, load_settings

WHOLE = """
models = ["~/models", "/Volumes/big"]
alias = "office"
repeats = 5
tokens = 400
prompt_tokens = 100
cooldown_s = 10
hz = 2
theme = "light"

[[bandwidth]]
gbps = 638
source = "what a kernel streamed here"

[[bandwidth]]
gbps = 819
kind = "spec"
source = "vendor's page"

[keys]
run = "f5"
"""


def test_without_a_file_the_defaults_are_the_protocols_own():
    settings = load_settings()
    assert settings == Settings()
    assert (settings.repeats, settings.tokens, settings.prompt_tokens) == (3, 200, 209)


def test_every_setting_is_read(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text(WHOLE)
    settings = load_settings(path)
    assert settings.warnings == ()
    assert settings.models == (Path.home() / "models", Path("/Volumes/big"))
    assert (settings.alias, settings.theme, settings.hz, settings.cooldown_s) == (
        "office",
        "light",
        2.0,
        10.0,
    )
    assert (settings.repeats, settings.tokens, settings.prompt_tokens) == (5, 400, 100)
    assert [(f.gbps, f.kind) for f in settings.bandwidth] == [
        (638.0, BandwidthKind.STATED),
        (819.0, BandwidthKind.SPEC),
    ]
    assert settings.keys == {"run": "f5"}


def test_the_users_own_file_is_found(home):
    home.mkdir()
    (home / "settings.toml").write_text('alias = "studio"\n')
    assert load_settings().alias == "studio"


def test_an_unknown_setting_is_a_warning_that_names_the_known_ones():
    settings = from_mapping({"repeat": 5})
    assert settings.repeats == 3
    assert "no setting 'repeat'" in settings.warnings[0]
    assert "repeats" in settings.warnings[0]


@pytest.mark.parametrize(
    "given_settings",
    [
        {"repeats": 0},
        {"repeats": True},
        {"repeats": "three"},
        {"tokens": 1},
        {"hz": 100},
        {"hz": float("nan")},
        {"models": "~/models"},
        {"alias": ""},
        {"theme": "pink"},
        {"keys": ["f5"]},
        {"bandwidth": 638},
        {"bandwidth": [{"gbps": 638}]},
        {"bandwidth": [{"gbps": -1, "source": "x"}]},
        {"bandwidth": [{"gbps": 638, "source": "x", "kind": "guessed"}]},
        {"bandwidth": [{"gbps": 638, "source": "x", "speed": 1}]},
    ],
)
def test_a_setting_that_makes_no_sense_keeps_its_default_and_says_so(given_settings):
    settings = from_mapping(given_settings)
    (warning,) = settings.warnings
    assert next(iter(given_settings)) in warning
    assert Settings(warnings=settings.warnings) == settings


def test_one_wrong_setting_leaves_the_others_alone():
    settings = from_mapping({"repeats": -1, "alias": "office"})
    assert settings.alias == "office"
    assert len(settings.warnings) == 1


def test_a_file_that_is_no_toml_is_an_error_in_words(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("repeats = = 3\n")
    with pytest.raises(UsageError, match="are no TOML"):
        load_settings(path)
    path.write_bytes(b'alias = "\xff"\n')
    with pytest.raises(UsageError, match="are no TOML"):
        load_settings(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        load_settings(path)


def test_a_byte_order_mark_is_no_obstacle(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_bytes(b'\xef\xbb\xbfalias = "office"\n')
    assert load_settings(path).alias == "office"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*Settings.__slots__, "other"]), values))
def test_no_value_of_any_kind_brings_the_settings_down(given_settings):
    from_mapping(given_settings)


@pytest.mark.parametrize("kind", ["a FIFO", "a device", "a folder", "too much"])
def test_what_is_no_file_of_settings_is_refused_not_waited_for(tmp_path, kind):
    path = tmp_path / "settings.toml"
    if kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    elif kind == "a folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(2_000_000_000)
    with pytest.raises(UsageError, match=r"cannot be read: .*settings\.toml"):
        load_settings(path)


def test_a_link_that_leads_nowhere_is_no_settings(tmp_path):
    (tmp_path / "settings.toml").symlink_to(tmp_path / "gone")
    assert load_settings(tmp_path / "settings.toml") == Settings()


def test_a_folders_name_with_a_zero_byte_is_said():
    settings = from_mapping({"models": ["a\0b"]})
    assert settings.models == ()
    assert "zero byte" in settings.warnings[0]
