"""`bytes`: three totals by role, the seed rule beside, every rule by name, what was not counted."""

import json

import pytest

from tests.checkpoints import invent, write_index
from workbench.ledger.record import Record

BYTES_GROUP = {
    *("weight_bytes_total", "weight_bytes_resident", "weight_bytes_vision", "weight_bytes_embed"),
    *("weight_bytes_experts", "weight_bytes_draft", "weight_bytes_other_skipped", "tied_embeddings"),
    *("experts", "experts_per_token", "weight_bytes_per_token", "lookup_row_bytes", "roles"),
    *("seed_rule_bytes_per_token", "witness", "rule", "in_force", "rule_version", "overrides", "warnings"),
    *("weight_bytes_per_token_without_overrides", "context_bytes_per_token_start"),
    "context_bytes_per_token_end",
}
MOE = "mlx-Qwen3.5-35B-A3B-4bit"


def test_json_is_the_records_bytes_group_with_complete_and_warnings(run, published):
    found = run("bytes", published(MOE), "--json").json
    assert set(found) >= BYTES_GROUP
    assert set(Record.__struct_fields__) >= BYTES_GROUP
    assert found["schema_version"] == 1
    assert (found["complete"], found["warnings"], found["not_counted"]) == (True, [], [])
    # "The Decode Ceiling": 20.39 GB on disk, 1.659 GB per token, 8 of 256 experts
    assert found["weight_bytes_total"] == 20_391_405_152
    assert found["weight_bytes_per_token"] == found["seed_rule_bytes_per_token"] == 1_659_035_776
    assert (found["experts"], found["experts_per_token"], found["tied_embeddings"]) == (256, 8, False)
    assert sum(role["per_token"] for role in found["roles"].values()) == 1_659_035_776
    assert found["runtime"].startswith("mlx-lm ")
    assert "predicted_decode_tps" not in found


def test_words_show_the_three_totals_and_the_seed_rule_side_by_side(run, published):
    said = run("bytes", published(MOE))
    assert (said.code, said.err) == (0, "")
    total = next(line for line in said.out.splitlines() if line.split()[:1] == ["total"])
    assert total.split() == ["total", "20.391", "GB", "19.498", "GB", "1.659", "GB", "1.659", "GB"]
    assert "counted for mlx-lm" in said.out
    assert "8 of 256 experts a token" in said.out
    assert "look-up rows: 1,152 bytes" in said.out
    assert max(map(len, said.out.splitlines())) <= 110


@pytest.mark.parametrize(
    ("name", "whole_file", "per_tensor"),
    [
        ("gguf-Bonsai-8B-Q1_0", 235.6, 256.2),  # "Bandwidth Ledger": the whole file at 273 GB/s
        ("gguf-Qwen3-8B-F16", 16.66, 18.0),
    ],
)
def test_a_gguf_file_shows_both_rules_by_name(run, published, name, whole_file, per_tensor):
    found = run("bytes", published(name), "--bandwidth", "273", "--json").json
    ceilings = {one["name"]: one["tps"] for one in found["ceilings"]}
    assert ceilings["stated 273 GB/s, whole-file"] == pytest.approx(whole_file, rel=0.0005)
    assert ceilings["stated 273 GB/s, count"] == pytest.approx(per_tensor, rel=0.0025)
    assert found["predicted_decode_tps"] == ceilings["stated 273 GB/s, count"]
    assert (found["state"], found["complete"], found["runtime"]) == ("not loadable", True, "llama.cpp")
    said = run("bytes", published(name), "--bandwidth", "273")
    assert said.code == 0
    assert "counted for llama.cpp" in said.out
    rules = [line.split()[0] for line in said.out.split("tok/s at")[1].splitlines()[1:]]
    assert rules == ["*", "seed", "whole-file", "all-bytes"]
    assert f"{whole_file:.1f}" in said.out
    assert f"{per_tensor:.1f}" in said.out
    assert said.err == ""  # that mlx-lm does not load it is said once, with the state


def test_another_rule_is_marked_and_given_in_json(run, published):
    said = run("bytes", published(MOE), "--rule", "all-bytes", "--bandwidth", "819")
    assert next(line for line in said.out.splitlines() if line.startswith("*")).split()[1] == "all-bytes"
    found = run("bytes", published(MOE), "--rule", "all-bytes", "--json").json
    assert (found["rule"], found["weight_bytes_per_token"]) == ("all-bytes", 20_391_405_152)
    assert found["weight_bytes_per_token_without_overrides"] == 1_659_035_776


def test_a_stated_figure_carries_its_kind_and_source(run, shelf):
    found = run("bytes", "synthetic/tiny-1", "--bandwidth", "819 spec Apple page", "--json").json
    given = found["bandwidth_gbps"], found["bandwidth_kind"], found["bandwidth_source"]
    assert given == (819.0, "spec", "Apple page")
    assert found["predicted_decode_tps"] == pytest.approx(819e9 / 500_992)


def test_a_source_without_its_figure_is_a_usage_error(run, shelf):
    assert run("bytes", "synthetic/tiny-1", "--bandwidth-source", "a page").code == 2


def test_files_that_no_runtime_loads_are_named_with_their_size(run, published):
    path = published("hf-Devstral-Small-2507-consolidated")
    said = run("bytes", path)
    assert "not counted\n  consolidated.safetensors (47.145 GB): " in said.out
    [beside] = run("bytes", path, "--json").json["not_counted"]
    assert (beside["name"], beside["why"] != "") == ("consolidated.safetensors", True)
    other = next(line for line in said.out.splitlines() if "other, not loaded" in line)
    assert other.split()[-2:] == ["47.145", "GB"]  # the seed rule reads them


@pytest.fixture
def incomplete(tmp_path):
    tensors = {f"model.layers.{n}.mlp.up_proj.weight": ("BF16", [64, 64]) for n in range(4)}
    path = invent(tmp_path / "torn", tensors, {"model_type": "llama", "num_hidden_layers": 4}, shards=2)
    (path / "model-00002-of-00002.safetensors").unlink()
    return path


def test_an_incomplete_checkpoint_gives_no_figure_and_exit_code_3(run, incomplete):
    said = run("bytes", incomplete)
    assert said.code == 3
    assert "model-00002-of-00002.safetensors" in said.err
    total = next(line for line in said.out.splitlines() if line.split()[:1] == ["total"])
    assert total.split()[5] == "-"
    assert "a token reads" not in said.out
    said = run("bytes", incomplete, "--bandwidth", "819", "--json")
    assert said.code == 3
    assert said.json["complete"] is False
    assert said.json["weight_bytes_per_token"] is None
    assert said.json.get("predicted_decode_tps") is None
    assert {"code", "message"} == set(said.json["warnings"][0])


def test_experts_without_a_valid_k_have_no_honest_count(run, tmp_path):
    tensors = {
        "model.embed_tokens.weight": ("BF16", [128, 64]),
        "model.layers.0.mlp.switch_mlp.up_proj.weight": ("BF16", [8, 64, 64]),
    }
    path = invent(tmp_path / "moe", tensors, {"model_type": "qwen3_moe", "num_hidden_layers": 1})
    said = run("bytes", path)
    assert said.code == 3
    assert "has no honest count" in said.err
    assert "--overrides" in said.err
    assert run("bytes", path, "--json").json["weight_bytes_per_token"] is None


def test_an_override_is_applied_shown_and_the_rules_own_figure_kept(run, shelf, tmp_path):
    file = tmp_path / "overrides.toml"
    file.write_text('[[override]]\ntensors = "*lm_head*"\nshare = 0\nreason = "a test"\n')
    found = run("bytes", "synthetic/tiny-mixture", "--overrides", file, "--json").json
    assert found["in_force"] == "override"
    assert found["weight_bytes_per_token"] == 607_856 - 131_072
    assert found["weight_bytes_per_token_without_overrides"] == 607_856
    assert found["overrides"][0]["reason"] == "a test"
    assert run("bytes", "synthetic/tiny-mixture", "--overrides", tmp_path / "none.toml").code == 2


def test_nothing_at_the_path_is_exit_code_3_with_the_nearest_names(run, tmp_path, shelf):
    invent(tmp_path / "here", {"a": ("F32", [1])}, {})
    said = run("bytes", tmp_path / "heer")
    assert (said.code, said.out) == (3, "")
    assert str(tmp_path / "here") in said.err
    error = run("bytes", "synthetic/tiny-9", "--json").json["error"]
    assert error["code"] == "checkpoint_missing"


def test_an_index_that_disagrees_is_a_warning_in_both_forms(run, tmp_path):
    path = invent(tmp_path / "odd", {"model.norm.weight": ("F32", [8])}, {"model_type": "llama"})
    write_index(path, {"model.norm.weight": "model.safetensors", "ghost": "model.safetensors"}, {})
    said = run("bytes", path)
    codes = [one["code"] for one in json.loads(run("bytes", path, "--json").out)["warnings"]]
    assert codes
    assert "warning: " in said.err
