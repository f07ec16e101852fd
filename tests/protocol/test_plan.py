"""The plan: which bytes, which settings, how long."""

import hashlib
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.checkpoints import in_memory
from tests.protocol.stage import checkpoint, count, plan
from workbench.accounting import engine
from workbench.accounting.context import Cache, CacheKind, Context
from workbench.accounting.count import AppliedOverride
from workbench.accounting.roles import Role
from workbench.checkpoint.checkpoint import Finding, State
from workbench.errors import CheckpointError, UsageError
from workbench.ledger.parts import Warn
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.protocol.accounts import bytes_fields, figure_fields, model_fields, revision
from workbench.protocol.plan import RULES, Plan, RunSettings, expected_seconds, require_runnable

OVERRIDE = AppliedOverride("w", Role.HEAD, Fraction(1, 2), "read in the code", 1)
OVERRIDDEN = {
    "overrides": (OVERRIDE,),
    "weight_bytes": 2_000_000,
    "weight_bytes_without_overrides": 4_000_000,
}


def test_the_plan_divides_by_the_rule_that_was_chosen():
    assert RULES == ("count", "seed", "whole-file", "all-bytes")
    counted = {rule: plan(rule=rule).weight_bytes for rule in RULES}
    assert counted == {"count": 4_000_000, "seed": 4_000_000, "whole-file": 5_000_400, "all-bytes": 5_000_000}


def test_override_then_graph_then_count_is_in_force():
    overridden = count(
        overrides=(OVERRIDE,), weight_bytes=2_000_000, weight_bytes_without_overrides=4_000_000
    )
    assert plan().in_force == "count"
    assert plan(graph_bytes=3_000_000).in_force == "graph"
    both = plan(count=overridden, graph_bytes=3_000_000)
    assert (both.in_force, both.weight_bytes) == ("override", 2_000_000)
    idle = replace(count(), overrides=(OVERRIDE._replace(tensors=0),))
    elsewhere = plan(count=idle, graph_bytes=3_000_000)
    assert (elsewhere.in_force, elsewhere.weight_bytes) == ("graph", 3_000_000)


def test_an_override_hides_neither_itself_nor_what_the_rules_said():
    overridden = count(
        overrides=(OVERRIDE,), weight_bytes=2_000_000, weight_bytes_without_overrides=4_000_000
    )
    fields = bytes_fields(plan(count=overridden))
    assert fields["weight_bytes_per_token"] == 2_000_000
    assert fields["weight_bytes_per_token_without_overrides"] == 4_000_000
    assert fields["overrides"] == [
        {"tensors": "w", "role": "head", "share": "1/2", "reason": "read in the code", "matched": 1}
    ]
    names = [ceiling.name for ceiling in figure_fields(plan(count=overridden))["ceilings"]]
    assert names[0] == "spec 8 GB/s, count"
    assert "spec 8 GB/s, count without overrides" in names


def test_every_figure_has_a_ceiling_and_the_principal_one_comes_first():
    stated = BandwidthFigure(6.0, BandwidthKind.STATED, "a benchmark")
    fields = figure_fields(plan(bandwidths=(stated, plan().bandwidths[0])))
    named = {ceiling.name: ceiling.tps for ceiling in fields["ceilings"]}
    assert (fields["bandwidth_gbps"], fields["bandwidth_kind"]) == (6.0, "stated")
    assert fields["predicted_decode_tps"] == pytest.approx(1500)
    assert named["spec 8 GB/s, count"] == pytest.approx(2000)
    assert named["stated 6 GB/s, whole-file"] == pytest.approx(6e9 / 5_000_400)
    assert "stated 6 GB/s, seed" not in named  # it counts the same bytes here


def test_a_plan_without_any_bandwidth_has_no_ceiling():
    assert figure_fields(plan(bandwidths=()))["ceilings"] == []
    assert figure_fields(plan(bandwidths=()))["predicted_decode_tps"] is None


def test_the_bytes_group_names_what_no_token_reads():
    fields = bytes_fields(plan())
    assert fields["weight_bytes_total"] == 5_000_000
    assert fields["weight_bytes_vision"] == 1_000_000
    assert fields["weight_bytes_other_skipped"] == 0
    assert fields["roles"]["vision"].per_token == 0
    doubtful = plan(count=count(findings=(Finding("odd", "An odd tensor."),)))
    assert bytes_fields(doubtful)["warnings"] == [Warn("odd", "An odd tensor.")]


def test_a_snapshot_of_the_hub_has_its_commit_and_other_folders_have_none(tmp_path):
    commit = "0123456789abcdef0123456789abcdef01234567"
    assert revision(tmp_path / "models--a--b" / "snapshots" / commit) == commit
    assert revision(tmp_path / commit) is None
    assert revision(tmp_path / "snapshots" / "main") is None


def test_synthetic_weights_are_marked_and_a_configuration_has_its_hash(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    fields = model_fields(
        checkpoint(path=tmp_path, config={"model_type": "llama", "synthetic_weights": True})
    )
    assert fields["synthetic_weights"] is True
    assert fields["config_sha256"] == hashlib.sha256(b'{"model_type": "llama"}').hexdigest()
    assert model_fields(checkpoint())["synthetic_weights"] is False
    assert model_fields(checkpoint())["config_sha256"] is None


def test_the_duration_follows_from_the_persons_own_number():
    settings = RunSettings(max_tokens=200, warmup_tokens=8, repeats=3, cooldown_s=5)
    assert expected_seconds(plan(settings=settings), 10.0) == pytest.approx(60.8 + 10)
    energetic = replace(settings, energy_min_s=30, idle_s=20)
    settle, edges = 10, 2 * 3
    assert expected_seconds(plan(settings=energetic), 10.0) == pytest.approx(60.8 + 10 + settle + 50 + edges)


@pytest.mark.parametrize(
    ("idle_s", "window_s", "settle_s", "edge_s"),
    [(0, 0, 0, 0), (1, 2, 2, 0.6), (12, 10, 6, 3), (60, 44, 10, 3)],
)
def test_an_energy_pass_settles_before_its_idle_and_runs_in_and_out(idle_s, window_s, settle_s, edge_s):
    request = plan(settings=RunSettings(idle_s=idle_s, energy_min_s=window_s)).decode_request
    assert (request.settle_s, request.edge_s) == pytest.approx((settle_s, edge_s))


@pytest.mark.parametrize(
    "wrong",
    [{"max_tokens": 1}, {"repeats": 0}, {"prompt_tokens": 0}, {"warmup_tokens": -1}]
    + [{"cooldown_s": wrong} for wrong in (-1, float("nan"), float("inf"))],
)
def test_settings_that_measure_nothing_are_refused(wrong):
    with pytest.raises(UsageError):
        RunSettings(**wrong)


def test_an_unknown_rule_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="no rule 'guess'") as raised:
        Plan(checkpoint(), count(), rule="guess")
    assert "all-bytes" in raised.value.hint


def test_the_request_is_the_settings_word_for_word():
    settings = RunSettings(
        prompt_tokens=7, max_tokens=9, repeats=4, seed=3, warm_until_stable=True, text=True
    )
    request = plan(settings=settings).decode_request
    assert (request.prompt_tokens, request.max_tokens, request.repeats) == (7, 9, 4)
    assert (request.seed, request.warm_until_stable, request.text) == (3, True, True)
    assert request.path == "/nowhere/tiny"


def test_the_context_is_counted_after_the_prompt_and_at_the_last_token():
    cached = count(context=Context((Cache(CacheKind.FULL, layers=2, items=128),)))
    fields = bytes_fields(plan(count=cached, settings=RunSettings(prompt_tokens=209, max_tokens=200)))
    assert fields["context_bytes_per_token_start"] == 2 * 128 * 2 * 209
    assert fields["context_bytes_per_token_end"] == 2 * 128 * 2 * 409
    needed = plan(count=cached, settings=RunSettings(prompt_tokens=209, max_tokens=200)).needed_bytes
    assert needed == 4_000_000 + 2 * 128 * 2 * 409


@pytest.mark.parametrize(
    "name",
    [
        "mlx-Qwen3.5-0.8B-4bit",
        "mlx-Qwen3.5-2B-4bit",
        "mlx-Qwen3.5-4B-4bit",
        "mlx-Qwen3.5-9B-4bit",
        "mlx-Qwen3.5-27B-4bit",
        "mlx-Qwen3.5-35B-A3B-4bit",
        "mlx-Llama-3.2-1B-Instruct-4bit",
    ],
)
def test_on_the_source_documents_own_checkpoints_every_field_is_theirs(name):
    published = in_memory(name)
    counted = engine.count(published)
    fields = bytes_fields(Plan(published, counted))
    assert fields["weight_bytes_total"] == counted.seed.total_bytes
    assert fields["weight_bytes_vision"] == counted.seed.vision_bytes
    assert fields["weight_bytes_embed"] == counted.seed.embedding_bytes
    assert fields["weight_bytes_experts"] == counted.seed.expert_bytes
    assert fields["weight_bytes_per_token"] == counted.seed.weight_bytes
    assert fields["tied_embeddings"] == counted.seed.tied
    assert (fields["weight_bytes_draft"], fields["weight_bytes_other_skipped"]) == (0, 0)


def test_why_a_checkpoint_cannot_be_run_is_one_sentence_whether_its_reason_ends_in_a_stop_or_not():
    for reason in ("a shard is missing", "A pointer. Run `git lfs pull`."):
        damaged = checkpoint(state=State.INCOMPLETE, reason=reason)
        with pytest.raises(CheckpointError) as refused:
            require_runnable(Plan(damaged, count()))
        assert refused.value.message == f"tiny cannot be run: it is incomplete ({reason.rstrip('.')})."
