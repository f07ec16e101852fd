"""config.json: what is tolerated, what is refused, and in which words."""

import math

import pytest

from workbench.checkpoint.config import parse_config, read_config
from workbench.errors import CheckpointError, IncompleteCheckpointError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config.json"


def test_a_byte_order_mark_is_read_and_told(path):
    path.write_bytes(b'\xef\xbb\xbf{"model_type": "llama"}')
    config, findings = read_config(path)
    assert config == {"model_type": "llama"}
    assert [finding.code for finding in findings] == ["config_bom"]


def test_nan_and_infinity_are_read_in_both_spellings():
    config, _ = parse_config(
        b'{"a": NaN, "b": -Infinity, "c": {"__float__": "Infinity"}, "d": {"__float__": "x"}}'
    )
    assert math.isnan(config["a"])
    assert (config["b"], config["c"], config["d"]) == (-math.inf, math.inf, {"__float__": "x"})


def test_a_key_that_stands_twice_is_told_and_the_last_one_taken(path):
    path.write_text('{"num_experts": 8, "text_config": {"k": 1, "k": 2, "k": 3}, "num_experts": 16}')
    config, findings = read_config(path)
    assert config == {"num_experts": 16, "text_config": {"k": 3}}
    (finding,) = findings
    assert finding.code == "config_duplicate_key"
    assert "'k', 'num_experts'" in finding.message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"  \n ", "is empty"),
        (b"[1, 2]", "holds a list, not an object"),
        (b"null", "holds null"),
        (b'"llama"', "holds a text"),
        (b"true", "holds a truth value"),
        (b"3", "holds a number"),
        (b'{"a": 1,}', r"line 1 column \d+"),
        (b'{"a":\n 1', r"line 2 column \d+"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
        (b'{"a": "\\ud800"}', "half a surrogate pair"),
        (b'{"a": ' + b"9" * 100 + b"}", "too many digits"),
        (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", "nested too deeply"),
        (b'{"a": ' + b"[" * 200_000, "nested too deeply"),
        (b"\x1f\x8b\x08" + bytes(20), "not UTF-8"),
    ],
)
def test_anything_else_is_refused_in_words(content, words):
    with pytest.raises(CheckpointError, match=words) as error:
        parse_config(content)
    assert error.value.code == "config_unreadable"
    assert error.value.message.startswith("config.json")


def test_pointers_pages_and_giants_are_not_parsed(path):
    path.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 700\n")
    with pytest.raises(IncompleteCheckpointError, match="git-lfs pointer to a file of 700 bytes"):
        read_config(path)
    path.write_text("<html><body>gated</body></html>")
    with pytest.raises(CheckpointError, match="web page"):
        read_config(path)
    with path.open("wb") as file:
        file.truncate(10_000_001)
    with pytest.raises(CheckpointError, match="10,000,001 bytes"):
        read_config(path)


def test_a_directory_in_its_place_is_no_config(path):
    path.mkdir()
    with pytest.raises(CheckpointError, match="a directory, not a file"):
        read_config(path)


def test_a_million_keys_with_one_twice_take_no_quadratic_time():
    content = "{" + ",".join(f'"{number}":0' for number in range(200_000)) + ',"7":1}'
    assert parse_config(content.encode())[0]["7"] == 1
