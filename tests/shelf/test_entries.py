"""The picker's rows: what each says, in which order, and that one bad checkpoint is only a row."""

import json
import subprocess
import sys

import pytest

from tests.checkpoint.cases import CASES
from tests.checkpoint.malformed import CONFIG, whole
from tests.checkpoint.malformed_sets import hub_cache
from tests.checkpoints import fixture, materialize
from workbench.checkpoint.checkpoint import State
from workbench.shelf import entries, synthetic
from workbench.shelf.entries import TO_BE_BUILT, Entry, entry_at, scan
from workbench.shelf.resolve import resolve


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "hub"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mlx-Qwen3.5-35B-A3B-4bit", ("qwen3_5_moe", "4-bit", 256, 8)),
        ("mlx-Qwen3-30B-A3B-4bit", ("qwen3_moe", "4-bit mixed", 128, 8)),
        ("mlx-Llama-3.2-1B-Instruct-4bit", ("llama", "4-bit", None, None)),
        ("hf-LFM2-1.2B", ("lfm2", "bf16", None, None)),
        ("hf-gpt-oss-20b", ("gpt_oss", "mxfp4", 32, 4)),
        ("gguf-Bonsai-8B-Q1_0", ("qwen3", "Q1_0", None, None)),
    ],
)
def test_a_row_says_what_the_checkpoint_is(tmp_path, name, expected):
    path = materialize(name, tmp_path)
    entry = entry_at(path)
    assert (entry.architecture, entry.quantization, entry.experts, entry.experts_per_token) == expected
    size = (
        path.stat().st_size
        if path.is_file()
        else sum(f.stat().st_size for f in path.glob("model*.safetensors"))
    )
    assert entry.bytes == size
    assert entry.state is (State.NOT_LOADABLE if path.is_file() else State.COMPLETE)


def test_all_sources_are_scanned_and_every_name_is_unique_and_resolvable(tmp_path, cache):
    for place in ("one/acme/tiny", "two/acme/tiny", "two/other"):
        root = tmp_path / place
        root.mkdir(parents=True)
        whole(root)
    hub_cache(cache, broken=True)
    dirs = [tmp_path / "one", tmp_path / "two"]
    rows = list(scan(dirs, cache=cache))
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)
    assert names[0] == "acme/tiny" and names[2:4] == ["other", "acme/tiny@c0ffee00"]
    assert names[4:] == [synthetic.PREFIX + name for name in synthetic.NAMES]
    assert (rows[3].state, rows[3].revision) == (State.INCOMPLETE, "c0ffee" + "0" * 34)
    for row in rows:
        assert resolve(row.name, dirs, cache=cache) == row.path


def test_a_checkpoint_that_is_reached_twice_is_one_row(tmp_path, cache):
    whole_one = tmp_path / "models" / "tiny"
    whole_one.mkdir(parents=True)
    whole(whole_one)
    dirs = [tmp_path / "models", tmp_path / "models" / "tiny", tmp_path / "models"]
    assert [row.path for row in scan(dirs, cache=cache) if not row.synthetic] == [whole_one]


def test_every_malformed_checkpoint_is_a_row_and_no_error(tmp_path, cache):
    for name, build in CASES.items():
        root = tmp_path / "models" / name
        root.mkdir(parents=True)
        build(root)
    rows = [row for row in scan([tmp_path / "models"], cache=cache) if not row.synthetic]
    assert len(rows) >= 50
    for row in rows:
        assert isinstance(row, Entry)
        assert (row.reason == "") == (row.state is State.COMPLETE)
        json.dumps([row.name, row.reason, row.architecture, row.quantization], ensure_ascii=False).encode()


def test_rows_are_read_one_at_a_time(tmp_path, cache, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / "models" / name).mkdir(parents=True)
        whole(tmp_path / "models" / name)
    read = []
    real = entries.open_for_mlx_lm
    monkeypatch.setattr(entries, "open_for_mlx_lm", lambda path: read.append(path.name) or real(path))
    rows = scan([tmp_path / "models"], cache=cache)
    assert next(rows).name == "a"
    assert read == ["a"]


def test_synthetic_checkpoints_are_offered_before_they_are_built(tmp_path, cache):
    rows = list(scan([], cache=cache))
    assert [row.name for row in rows] == [synthetic.PREFIX + name for name in synthetic.NAMES]
    for row in rows:
        assert (row.synthetic, row.state, row.reason) == (True, State.COMPLETE, TO_BE_BUILT)
        assert row.bytes == synthetic.SPECS[row.path.name].disk_bytes
    assert (rows[-1].experts, rows[-1].experts_per_token) == (128, 2)


def test_a_built_synthetic_checkpoint_is_read_from_its_files(tmp_path, cache):
    spec = synthetic.SPECS[synthetic.NAMES[0]]
    path = synthetic.path_of(spec.name)
    path.mkdir(parents=True)
    whole(path, [("model.embed_tokens.weight", "F32", [spec.disk_bytes // 4])], dict(spec.config))
    (path / "tokenizer_config.json").write_text("{}")
    row = next(iter(scan([], cache=cache)))
    assert (row.synthetic, row.state, row.reason) == (True, State.COMPLETE, "")
    assert row.bytes > spec.disk_bytes


def test_a_copied_synthetic_checkpoint_is_still_called_synthetic(tmp_path):
    whole(tmp_path, config=CONFIG | {synthetic.MARK: True})
    assert entry_at(tmp_path).synthetic


def test_a_model_type_that_mlx_lm_lacks_is_said_so(tmp_path):
    whole(tmp_path, config=CONFIG | {"model_type": "no_such_model"})
    row = entry_at(tmp_path)
    assert row.state is State.NOT_LOADABLE
    assert "no model type 'no_such_model'" in row.reason


def test_what_is_nothing_at_all_is_an_unreadable_row(tmp_path):
    row = entry_at(tmp_path / "gone")
    assert (row.name, row.state) == ("gone", State.UNREADABLE)
    assert row.reason


def test_scanning_imports_no_mlx_and_no_transformers(tmp_path):
    materialize("mlx-SmolLM2-135M-4bit", tmp_path / "models")
    code = (
        "import sys; from pathlib import Path; from workbench.shelf.entries import scan\n"
        f"rows = list(scan([Path({str(tmp_path / 'models')!r})]))\n"
        "assert rows[0].state == 'complete', rows[0]\n"
        "print([name for name in sys.modules if name.split('.')[0] in "
        "{'mlx', 'mlx_lm', 'transformers', 'textual', 'numpy', 'torch'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert fixture("mlx-SmolLM2-135M-4bit")
