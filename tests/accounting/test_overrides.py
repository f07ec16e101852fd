"""Overrides: a person's word over the rules', with a reason, applied and kept visible."""

import os
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkpoints import in_memory
from workbench.accounting.engine import count
from workbench.accounting.overrides import Override, parse_overrides, read_overrides
from workbench.accounting.roles import Role
from workbench.errors import UsageError

NAME = "mlx-Qwen3.5-0.8B-4bit"
TEXT = """
[[override]]
tensors = "vision_tower.*"
role = "vision"
share = 1
reason = "this runtime reads the tower for every token"

[[override]]
tensors = "vision_tower.blocks.0.*"
share = "1/4"
reason = "but the first block only in part"
"""


def test_a_file_is_read_in_order(tmp_path):
    path = tmp_path / "overrides.toml"
    path.write_text("﻿" + TEXT, encoding="utf-8")
    first, second = read_overrides(path)
    assert first == Override(
        "vision_tower.*", "this runtime reads the tower for every token", Role.VISION, Fraction(1)
    )
    assert (second.role, second.share) == (None, Fraction(1, 4))


def test_overrides_are_applied_and_the_rules_figure_is_kept():
    checkpoint = in_memory(NAME)
    plain, found = count(checkpoint), count(checkpoint, parse_overrides(TEXT))
    tower = plain.by_role[Role.VISION].on_disk
    first = sum(row.disk_bytes for row in plain.rows if row.name.startswith("vision_tower.blocks.0."))
    assert found.weight_bytes == plain.weight_bytes + tower - first + first // 4
    assert found.weight_bytes_without_overrides == plain.weight_bytes
    assert found.disk_bytes == plain.disk_bytes
    assert found.resident_bytes == plain.resident_bytes + tower
    assert {row.rule for row in found.rows if row.name.startswith("vision_tower")} == {"override"}
    assert [(entry.pattern, entry.tensors) for entry in found.overrides] == [
        ("vision_tower.*", sum(row.role is Role.VISION for row in plain.rows)),
        ("vision_tower.blocks.0.*", 12),
    ]


def test_without_overrides_both_figures_are_the_same():
    found = count(in_memory(NAME))
    assert found.weight_bytes_without_overrides == found.weight_bytes
    assert found.overrides == ()


def test_a_role_alone_keeps_the_share():
    found = count(
        in_memory(NAME), [Override("*.lm_head.*", "x", Role.OTHER), Override("*embed*", "y", Role.OTHER)]
    )
    rows = [row for row in found.rows if "embed_tokens" in row.name]
    assert {(row.role, row.share) for row in rows} == {(Role.OTHER, 1)}


def test_an_override_that_names_nothing_is_said():
    found = count(in_memory(NAME), [Override("model.nothing.*", "typo", share=Fraction(0))])
    assert [finding.code for finding in found.findings] == ["override_idle"]
    assert found.weight_bytes == found.weight_bytes_without_overrides


def test_a_name_that_looks_like_a_pattern_still_names_itself():
    from tests.checkpoints import checkpoint

    stored = {"model.embed_tokens.weight": ("BF16", [8, 8]), "weird[0].*": ("BF16", [4, 4])}
    found = count(checkpoint(stored), [Override("weird[0].*", "it is there", share=Fraction(0))])
    assert [row.rule for row in found.rows] == ["tied-embedding", "override"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[[override", "not TOML"),
        ("[override]\ntensors='a'", "override"),
        ("rules = 1", "unknown key 'rules'"),
        ("[[override]]\nreason='x'\nshare=1", "names no tensors"),
        ("[[override]]\ntensors='a'\nshare=1", "gives no reason"),
        ("[[override]]\ntensors='a'\nreason=' '\nshare=1", "gives no reason"),
        ("[[override]]\ntensors='a'\nreason='x'", "changes nothing"),
        ("[[override]]\ntensors='a'\nreason='x'\nrole='boss'", "no role 'boss'"),
        ("[[override]]\ntensors='a'\nreason='x'\nshare='1/0'", "no number"),
        ("[[override]]\ntensors='a'\nreason='x'\nshare=true", "no number"),
        ("[[override]]\ntensors='a'\nreason='x'\nshare=-1", "not between"),
        ("[[override]]\ntensors='a'\nreason='x'\nshare=nan", "no number"),
        ("[[override]]\ntensors='a'\nreason='x'\nshare='1e99999999'", "no number"),
        ("[[override]]\ntensors='a'\nreason='x'\nshare='1E-9_999_999'", "no number"),
        ("[[override]]\ntensors='a'\nreason='x'\nshare=1\nwho='me'", "unknown key 'who'"),
        ("override = " + "[" * 50_000, "not TOML"),
        ("override = " + "1" * 5000, "not TOML"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(text, word):
    with pytest.raises(UsageError, match=word):
        parse_overrides(text)


def test_an_unreadable_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_overrides(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        read_overrides(tmp_path / "bad.toml")


def test_what_is_no_file_is_refused_and_not_read(tmp_path):
    for path in (Path("/dev/zero"), fifo(tmp_path / "fifo"), tmp_path):
        with pytest.raises(UsageError, match=r"cannot be read: .* is a (device|FIFO|directory), not a file"):
            read_overrides(path)


def fifo(path):
    os.mkfifo(path)
    return path


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    try:
        parse_overrides(text)
    except UsageError as error:
        assert error.message
