"""`predict`, `check` and `compare`: ceilings before a run, other people's numbers, two checkpoints."""

import json

import pytest

from tests.checkpoints import invent

# "The Decode Ceiling", second table: checkpoint, measured, fraction of 638 and of 819 GB/s as printed there
OFFICE = [
    ("mlx-Qwen3.5-0.8B-4bit", "338", 0.22, 0.17),
    ("mlx-Qwen3.5-2B-4bit", "257", 0.43, 0.33),
    ("mlx-Qwen3.5-4B-4bit", "148", 0.55, 0.43),
    ("mlx-Qwen3.5-9B-4bit", "95", 0.665, 0.52),
    ("mlx-Qwen3.5-27B-4bit", "32.6", 0.74, 0.57),
    ("mlx-Qwen3.5-35B-A3B-4bit", "89", 0.23, 0.18),
]
MOE = "mlx-Qwen3.5-35B-A3B-4bit"


def test_predict_gives_every_rules_ceiling_by_name(run, published):
    found = run(
        "predict", published(MOE), "--bandwidth", "638", "--bandwidth-source", "a kernel", "--json"
    ).json
    assert found["schema_version"] == 1
    assert found["predicted_decode_tps"] == pytest.approx(384.56, abs=0.01)
    assert found["weight_bytes_per_token"] == 1_659_035_776
    assert (found["bandwidth_gbps"], found["bandwidth_kind"], found["bandwidth_source"]) == (
        *(638.0, "stated"),
        "a kernel",
    )
    assert [one["name"] for one in found["ceilings"]] == [
        *("stated 638 GB/s, count", "stated 638 GB/s, seed"),
        *("stated 638 GB/s, whole-file", "stated 638 GB/s, all-bytes"),
    ]
    said = run("predict", published(MOE), "--bandwidth", "638", "--rule", "seed")
    assert (said.code, said.err) == (0, "")
    assert next(line for line in said.out.splitlines() if line.startswith("*")).split()[1] == "seed"


def silent_loop(folder):
    """A checkpoint whose layers run twice, which its configuration does not tell."""
    from tests.witness.looking import from_truth, truth

    found = from_truth(truth()["iquestloopcoder"])
    config = {key: value for key, value in found.config.items() if key != "loop_window_size"}
    return invent(folder / "silent-loop", {t.name: (t.dtype, t.shape) for t in found.tensors}, config)


def test_predict_takes_the_graph_where_it_differs_and_says_so(run, tmp_path):
    path = silent_loop(tmp_path)
    words = ("predict", path, "--bandwidth", "100")
    found = run(*words, "--witness", "--json").json
    assert (found["in_force"], found["witness"]["status"]) == ("graph", "differs")
    assert found["weight_bytes_per_token"] == found["witness"]["bytes_per_token"]
    assert found["predicted_decode_tps"] == pytest.approx(100e9 / found["weight_bytes_per_token"])
    alone = run(*words, "--json").json
    assert (alone["in_force"], alone["witness"]["status"]) == ("count", "not asked")
    assert alone["weight_bytes_per_token"] < found["weight_bytes_per_token"]
    said = run(*words, "--witness")
    assert next(line for line in said.out.splitlines() if line.startswith("*")).split()[1] == "graph"
    assert "the ceiling uses the graph" in said.out
    seed = run(*words, "--witness", "--rule", "seed").out
    assert next(line for line in seed.splitlines() if line.startswith("*")).split()[1] == "seed"
    assert "the ceiling uses the graph" not in seed


def test_measure_says_that_its_ceiling_uses_the_graph(run, tmp_path):
    said = run("measure", silent_loop(tmp_path), "--predict", "5", "--bandwidth", "100", "--tokens", "2")
    assert "the decode graph differs, and the ceiling uses it: 8.899 MB" in " ".join(said.err.split())


@pytest.mark.parametrize(
    ("name", "gbps", "ceiling"),
    [  # "The Decode Ceiling": ceilings at both denominators; 4B's 269 there came from a rounded input
        ("mlx-Qwen3.5-0.8B-4bit", "638", 1505),
        ("mlx-Qwen3.5-4B-4bit", "638", 269.53),
        ("mlx-Qwen3.5-9B-4bit", "819", 183.4),
        ("mlx-Qwen3.5-27B-4bit", "819", 56.8),
    ],
)
def test_predict_reproduces_published_ceilings(run, published, name, gbps, ceiling):
    found = run("predict", published(name), "--bandwidth", gbps, "--json").json
    assert found["predicted_decode_tps"] == pytest.approx(ceiling, rel=0.0005)


def test_predict_needs_a_bandwidth_that_is_one(run, shelf):
    assert run("predict", "synthetic/tiny-1").code == 2
    said = run("predict", "synthetic/tiny-1", "--bandwidth", "fast")
    assert (said.code, said.out) == (2, "")
    assert "fast is no bandwidth figure" in said.err
    assert run("predict", "synthetic/tiny-1", "--bandwidth", "800 Gb/s").code == 2


@pytest.mark.parametrize(("name", "tps", "of_638", "of_819"), OFFICE)
def test_check_judges_the_source_documents_rows_at_both_denominators(
    run, published, name, tps, of_638, of_819
):
    for gbps, expected in (("638", of_638), ("819", of_819)):
        said = run("check", published(name), "--measured", tps, "--bandwidth", gbps, "--json")
        assert said.code == 0
        record = said.json
        assert record["verdict"] in {"ok", "low"}
        assert record["fractions"][0]["of"] == f"stated {gbps} GB/s, count"
        assert record["fractions"][0]["value"] == pytest.approx(expected, abs=0.006)
        assert (record["experiment"], record["status"]) == ("external", "imported")


def test_check_flags_run_1_and_says_what_was_miscounted(run, published, home):
    # "Write the Prediction Before the Number", run 1: 88.99 tok/s over all bytes on disk
    words = ("check", published(MOE), "--measured", "88.99", "--bandwidth", "819 spec Apple")
    said = run(*words, "--rule", "all-bytes", "--json")
    assert said.code == 1
    assert said.json["verdict"] == "counting error"
    assert said.json["effective_gbps"] == pytest.approx(1814.6, abs=0.05)
    assert said.json["fractions"][0]["value"] == pytest.approx(2.216, abs=0.0005)  # published 221 %
    said = run(*words, "--rule", "all-bytes")
    assert said.out.startswith(f"{MOE}: COUNTING ERROR\n")
    assert "experts counted in full" in " ".join(said.out.split())
    assert "221.6 %  of spec 819 GB/s, all-bytes" in said.out
    assert "office, Apple M3 Ultra, 2026-09-15" in said.out
    assert run(*words).code == 0
    assert not (home / "ledger.jsonl").exists()


def test_check_keeps_a_number_only_when_asked_and_marks_it_as_external(run, published, home):
    words = ("check", published(MOE), "--measured", "11 ms", "--bandwidth", "819", "--by", "a post")
    said = run(*words, "--record", "--json")
    [line] = (home / "ledger.jsonl").read_text().splitlines()
    kept = json.loads(line)
    assert kept == said.json
    assert (kept["measured_by"], kept["experiment"]) == ("a post", "external")
    assert kept["generation_tps"] == pytest.approx(1000 / 11)
    assert run("ledger", "verify").code == 0


def test_check_refuses_a_rate_that_is_none_and_does_not_judge_a_batch(run, published):
    assert run("check", published(MOE), "--measured", "nan", "--bandwidth", "819").code == 2
    assert run("check", published(MOE), "--measured", "-3", "--bandwidth", "819").code == 2
    said = run("check", published(MOE), "--measured", "5000", "--bandwidth", "819", "--batch", "64")
    assert said.code == 0
    assert "NOT APPLICABLE" in said.out


def test_compare_sets_two_checkpoints_side_by_side_by_role(run, published):
    left, right = published("hf-Qwen3.5-9B"), published("mlx-Qwen3.5-9B-4bit")
    found = run("compare", left, right, "--bandwidth", "819", "--json").json
    assert found["models"] == ["hf-Qwen3.5-9B", "mlx-Qwen3.5-9B-4bit"]
    assert found["weight_bytes_per_token"][1] == 4_465_912_320
    assert sum(pair[1] for pair in found["roles"].values()) == 4_465_912_320
    assert found["predicted_decode_tps"] == [
        pytest.approx(819e9 / nbytes) for nbytes in found["weight_bytes_per_token"]
    ]
    said = run("compare", left, right, "--bandwidth", "819")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[-1].startswith("tok/s at stated 819 GB/s")
    assert not any(line.startswith("vision") for line in said.out.splitlines())  # no step reads it
