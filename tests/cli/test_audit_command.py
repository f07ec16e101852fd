"""`audit`: every tensor under its rule, the witness beside the count, contexts, proof by damage."""

import signal
import time

import psutil
import pytest

from tests.checkpoints import invent
from tests.cli.processes import begun

WITNESS_GROUP = {"bytes_per_token", "status", "reason", "at_context", "mlx_lm", "differs"}


def test_words_put_every_tensor_under_the_rule_that_decided_it(run, published):
    said = run("audit", published("mlx-Qwen3.5-35B-A3B-4bit"), "--bandwidth", "819")
    assert (said.code, said.err) == (0, "")
    assert "expert: A routed expert: k of E are read per token. [routed-expert]" in said.out
    line = next(line for line in said.out.splitlines() if "layers.#.mlp.switch_mlp.up_proj" in line)
    assert line.split() == [
        *("language_model.model.layers.#.mlp.switch_mlp.up_proj", "120", "U32", "1/32"),
        *("6.040", "GB", "0.189", "GB"),
    ]
    contexts = [
        line.split()[0] for line in said.out.splitlines() if line.strip().startswith(("0 ", "131,072"))
    ]
    assert contexts == ["0", "131,072"]
    assert "verify 4 drafted at 70%" in said.out
    assert "graph witness" not in said.out
    assert max(map(len, said.out.splitlines())) <= 120


def test_every_tensor_by_name_is_one_row_each(run, shelf):
    folded = run("audit", "synthetic/tiny-mixture").out.splitlines()
    every = run("audit", "synthetic/tiny-mixture", "--tensors").out.splitlines()
    assert any("layers.0.linear_attn.in_proj_qkv.weight" in line for line in every)
    assert len(every) > 2 * len(folded) - 60


def test_json_has_every_tensor_and_no_witness_unasked(run, shelf):
    found = run("audit", "synthetic/tiny-mixture", "--bandwidth", "25", "--json").json
    assert found["schema_version"] == 1
    assert sum(tensor["weight_bytes"] for tensor in found["tensors"]) == found["weight_bytes_per_token"]
    assert sum(tensor["bytes"] for tensor in found["tensors"]) == 1_553_904
    assert found["witness_bytes_per_token"] is None
    assert (found["witness"]["status"], found["witness_at_contexts"]) == ("not asked", [])
    assert [one["tokens"] for one in found["context"]] == [0, 4096, 32768, 131072]
    assert found["context"][0]["ceiling_tps"] > found["context"][3]["ceiling_tps"]
    assert [one["name"] for one in found["what_if"]][:2] == ["batch 1", "batch 4"]
    assert found["proof"] is None


def test_the_seed_rule_and_its_difference_stand_by_role(run, tmp_path):
    tensors = {
        "model.embed_tokens.weight": ("BF16", [128, 64]),
        "model.layers.0.mlp.up_proj.weight": ("BF16", [64, 64]),
        "visual.patch.weight": ("BF16", [64, 64]),
        "multi_modal_projector.linear.weight": ("BF16", [64, 64]),
    }
    config = {"model_type": "llama", "num_hidden_layers": 1, "tie_word_embeddings": True, "vocab_size": 128}
    path = invent(tmp_path / "seen", tensors, config)
    said = run("audit", path)
    assert "the seed rule reads +8,192 bytes of projector" in said.out
    assert run("audit", path, "--json").json["seed_rule_differs"]["projector"]["bytes"] == 8192


def test_the_witness_agrees_with_what_the_rules_alone_say(run, shelf, tmp_path):
    contexts = ("--at-context", 64, "--at-context", 300)
    found = run("audit", "synthetic/tiny-mixture", "--witness", *contexts, "--json").json
    assert found["witness_bytes_per_token"] == 607_856
    assert set(found["witness"]) == WITNESS_GROUP
    assert [one["at_context"] for one in found["witness_at_contexts"]] == [64, 300]
    assert found["witness"]["status"] == "agrees"
    for one in found["witness_at_contexts"]:
        assert one["context_read_bytes"] == one["count_context_read_bytes"] > 0
        assert (one["count_bytes_per_token"], one["notes"]) == (607_856, [])
    by_count, by_graph = (sum(t[key] for t in found["tensors"]) for key in ("weight_bytes", "graph_bytes"))
    assert by_count == by_graph == 607_856
    # From the cache, in words; an override is a person's word, and the graph is not held against it.
    file = tmp_path / "overrides.toml"
    file.write_text('[[override]]\ntensors = "*lm_head*"\nshare = 0\nreason = "a test"\n')
    said = run("audit", "synthetic/tiny-mixture", "--at-context", 64, "--overrides", file)
    assert "graph witness: agrees\n  at a context of 64 tokens, mlx-lm " in said.out
    assert "graph 607,856, count 607,856 bytes" in said.out
    assert "of cache and state: graph " in said.out
    assert "override of *lm_head*: 1 tensors; a test" in said.out
    rules = said.out.split("a token reads\n")[1].splitlines()
    assert [rule.split()[0] for rule in rules[:3]] == ["*", "graph", "seed"]


def test_three_accounts_stand_at_every_tensor(run, tmp_path):
    from tests.witness.looking import configurations, saved_by_mlx_lm

    lean = saved_by_mlx_lm(configurations()["qwen3_vl_moe"])
    tower = {"language_model.gizmo.fc.weight": ("F32", [128, 128])}
    tensors = {tensor.name: (tensor.dtype, tensor.shape) for tensor in lean.tensors} | tower
    path = invent(tmp_path / "towered", tensors, lean.config)
    found = run("audit", path, "--witness", "--json").json
    rows = {row["name"]: row for row in found["tensors"]}
    columns = ("seed_bytes", "weight_bytes", "graph_bytes", "graph_kind", "graph_reads")
    assert [rows["language_model.gizmo.fc.weight"][key] for key in columns] == [65536, 65536, 0, "dropped", 0]
    assert rows["language_model.lm_head.weight"]["graph_kind"] == "full"
    assert sum(row["graph_bytes"] for row in found["tensors"]) == found["witness_bytes_per_token"]
    assert found["weight_bytes_per_token"] == found["witness_bytes_per_token"]
    assert found["in_force"] == "graph"
    unasked = run("audit", path, "--json").json["tensors"][0]
    assert unasked["graph_bytes"] is None


def test_a_refused_count_is_not_said_to_lend_its_ceiling_to_the_graph(run, tmp_path):
    from tests.witness.looking import from_truth, truth

    whole = from_truth(truth()["mixtral"])
    config = {key: value for key, value in whole.config.items() if key != "num_experts_per_tok"}
    tensors = {tensor.name: (tensor.dtype, tensor.shape) for tensor in whole.tensors}
    said = run("audit", invent(tmp_path / "without-k", tensors, config), "--witness")
    assert said.code == 3
    assert "the graph stands alone" in said.out
    assert "the ceiling uses the graph" not in said.out


def test_what_cannot_be_witnessed_says_why(run, published):
    found = run("audit", published("gguf-Bonsai-8B-Q1_0"), "--witness", "--json").json
    assert found["witness_bytes_per_token"] is None
    assert found["witness"]["status"] == "not witnessed"
    assert "GGUF" in found["witness"]["reason"]
    said = run("audit", published("gguf-Bonsai-8B-Q1_0"), "--witness")
    assert said.code == 0
    assert "graph witness: not witnessed: mlx-lm loads no GGUF files" in said.out


def test_proof_by_damage_shows_which_parts_move_a_logit(run, shelf):
    found = run("audit", "synthetic/tiny-mixture", "--prove", "--json").json
    moved = {(one["label"], one["part"]): one["moved"] for one in found["proof"]}
    assert moved["vision", "not loaded"] is False
    assert moved["expert", "other experts"] is False
    assert moved["expert", "chosen experts"] is True
    assert all(one["moved"] == one["expected"] for one in found["proof"])


def test_chosen_tensors_can_be_damaged(run, shelf):
    said = run(
        *("audit", "synthetic/tiny-mixture", "--json"),
        *("--damage", "vision_tower.*", "--damage", "language_model.model.norm.weight"),
    )
    assert said.code == 0
    trials = {one["label"]: (one["part"], one["tensors"], one["moved"]) for one in said.json["proof"]}
    assert trials == {
        "vision_tower.*": ("not loaded", 33, False),
        "language_model.model.norm.weight": ("read", 1, True),
    }


def test_a_pattern_that_names_no_tensor_damages_nothing(run, shelf):
    said = run("audit", "synthetic/tiny-mixture", "--damage", "no.such.*")
    assert said.code == 2
    assert "No tensor of this checkpoint is named no.such.*" in said.err


def test_a_proof_that_contradicts_the_graph_is_flagged(run, shelf, monkeypatch):
    from workbench.protocol import proving
    from workbench.worker.messages import Damaged

    async def surprising(*_):
        yield Damaged("vision", "not loaded", 33, 225_152, expected=False, moved=True)

    monkeypatch.setattr(proving, "prove", surprising)
    said = run("audit", "synthetic/tiny-mixture", "--prove")
    assert said.code == 1
    assert "NOT as the graph says" in said.out


def test_what_has_no_weights_for_mlx_lm_cannot_be_damaged(run, published, tmp_path):
    said = run("audit", published("gguf-Bonsai-8B-Q1_0"), "--prove")
    assert said.code == 3
    assert "mlx-lm loads no GGUF files" in said.err
    lone = invent(tmp_path / "lone", {"model.norm.weight": ("BF16", [64])}, {"model_type": "llama"})
    said = run("audit", lone / "model.safetensors", "--prove")
    assert said.code == 3
    assert "a proof loads the model" in said.err


@pytest.mark.parametrize("context", [0, -5, 10**9 + 1, 10**30])
def test_a_context_is_a_token_or_more_and_no_fantasy(run, shelf, context):
    said = run("audit", "synthetic/tiny-1", f"--at-context={context}")
    assert said.code == 2
    assert "1 to 1,000,000,000" in said.err


@pytest.mark.parametrize(
    ("command", "options", "number"),
    [
        ("audit", ("--witness",), signal.SIGINT),
        ("audit", ("--witness",), signal.SIGTERM),
        ("audit", ("--witness",), signal.SIGHUP),
        ("predict", ("--witness", "--bandwidth", "819"), signal.SIGTERM),
        ("measure", ("--predict", "9", "--bandwidth", "819"), signal.SIGTERM),
    ],
)
def test_a_signal_ends_the_look_with_its_process_and_its_folder(
    published, tmp_path, monkeypatch, command, options, number
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    workbench = begun(command, published("mlx-DeepSeek-R1-4bit"), *options)
    program, deadline = psutil.Process(workbench.pid), time.monotonic() + 60
    while not (workers := program.children()) or not list(tmp_path.glob("witness-*")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    workbench.send_signal(number)
    _, err = workbench.communicate(timeout=60)
    assert workbench.returncode == 128 + number
    assert "Traceback" not in err
    assert psutil.wait_procs(workers, timeout=20)[1] == []
    assert not list(tmp_path.glob("witness-*"))
