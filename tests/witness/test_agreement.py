"""Count and graph held against each other: pure arithmetic on invented results."""

from dataclasses import replace
from fractions import Fraction

import pytest

from workbench.accounting.count import Count, Row, SeedCount
from workbench.accounting.roles import Role
from workbench.checkpoint.checkpoint import Finding
from workbench.protocol.witnessing import as_recorded
from workbench.witness.agreement import Status, compare
from workbench.witness.groups import by_role
from workbench.witness.reasons import SENTENCES, NotWitnessed, Reason, heard, not_witnessed
from workbench.witness.result import GraphReading, TensorRead


def row(name, weight_bytes, role=Role.MLP, rule="feed-forward", disk=1000):
    share = Fraction(weight_bytes, disk)
    return Row(name, "F32", (10, 25), disk, disk, weight_bytes, 0, role, share, rule)


def counted(*rows, **changes):
    total = sum(r.weight_bytes for r in rows)
    seed = SeedCount(0, 0, 0, 0, False, 0, 0, 0)
    made = Count("mlx-lm", rows, 0, 0, total, 0, {}, False, 0, 0, seed, ())
    return replace(made, **changes)


def seen(*reads, **changes):
    total = sum(read.weight_bytes for read in reads)
    fields = {"context": 209, "weight_bytes": total, "lookup_bytes": 0, "resident_bytes": 0}
    return GraphReading(
        **(fields | {"context_read_bytes": 0, "reads": list(reads), "mlx_lm": "0.32.2"} | changes)
    )


def read(name, weight_bytes, kind="full"):
    return TensorRead(name, kind, weight_bytes, 0, 0, 1)


def test_equal_bytes_agree():
    agreement = compare(counted(row("a", 1000)), seen(read("a", 1000)))
    assert (agreement.status, agreement.difference) == (Status.AGREES, 0.0)
    assert agreement.disagreements == ()
    assert agreement.bytes_in_force is None


@pytest.mark.parametrize(
    ("by_graph", "status"), [(100_100, "agrees"), (100_101, "differs"), (99_899, "differs")]
)
def test_a_thousandth_of_the_count_is_the_border(by_graph, status):
    agreement = compare(counted(row("a", 100_000, disk=100_000)), seen(read("a", by_graph)))
    assert agreement.status == status
    assert agreement.bytes_in_force == (None if status == "agrees" else by_graph)


def test_the_differing_tensors_are_listed_with_their_rule_the_largest_first():
    agreement = compare(
        counted(
            row("tower.weight", 1000, rule="unclassified"),
            *(row(f"layers.{i}.mlp.up.weight", 1000) for i in range(2)),
            row("same", 500),
        ),
        seen(
            read("tower.weight", 0, "dropped"),
            *(read(f"layers.{i}.mlp.up.weight", 2000) for i in range(2)),
            read("same", 500),
        ),
    )
    assert [(d.pattern, d.rule, d.tensors, d.difference_bytes) for d in agreement.disagreements] == [
        ("layers.*.mlp.up.weight", "feed-forward", 2, 2000),
        ("tower.weight", "unclassified", 1, -1000),
    ]
    assert agreement.disagreements[0].words == (
        "layers.*.mlp.up.weight (2 tensors): count 2,000 B by rule feed-forward, graph 4,000 B (full)"
    )


def test_a_tensor_that_is_read_more_than_once_is_listed_with_how_often():
    twice = TensorRead("a", "full", 2000, 0, 1000, 2)
    (found,) = compare(counted(row("a", 1000)), seen(twice)).disagreements
    assert found.words == "a: count 1,000 B by rule feed-forward, graph 2,000 B (full, 2 times)"


def test_a_byte_of_rounding_is_no_disagreement():
    assert compare(counted(row("a", 333)), seen(read("a", 334))).disagreements == ()


def test_a_name_cannot_move_the_cursor():
    (found,) = compare(counted(row("a\x1b[2Jb", 10)), seen(read("a\x1b[2Jb", 1000))).disagreements
    assert "\x1b" not in found.words


def test_experts_of_an_assumed_routing_are_compared_by_their_sum():
    experts = [row(f"experts.{e}.weight", 250, Role.EXPERT, "routed-expert") for e in range(4)]
    first = [read(f"experts.{e}.weight", 1000 if e == 0 else 0) for e in range(4)]
    agreement = compare(counted(*experts), seen(*first, assumed_routing=True))
    assert agreement.disagreements == ()
    assert "assumed routing" in agreement.notes[0]
    assert compare(counted(*experts), seen(*first)).disagreements != ()


def test_a_refused_count_agrees_with_nothing_and_the_graph_stands_alone():
    agreement = compare(counted(row("a", 1000), refusal=Finding("experts", "No k.")), seen(read("a", 1000)))
    assert agreement.status is Status.DIFFERS
    assert agreement.bytes_in_force == 1000
    assert "refused" in agreement.notes[0]
    assert agreement.refused


def test_without_a_graph_the_reason_stands_in_its_place():
    agreement = compare(counted(row("a", 1000)), not_witnessed(Reason.UNSUPPORTED_TYPE, "zebra"))
    assert agreement.status is Status.NOT_WITNESSED
    assert agreement.graph_bytes is None
    assert agreement.reason == "this mlx-lm does not know the model type (zebra)"


def test_unknown_and_waiting_tensors_are_noted():
    agreement = compare(
        counted(row("a", 1000), row("idx", 0)),
        seen(read("a", 1000), read("idx", 0, "never"), unknown=["odd"], cache_only=["idx"]),
    )
    assert any("no place for 1 tensors, for example odd" in note for note in agreement.notes)
    assert any("1 tensors (1,000 B) only feed the cache" in note for note in agreement.notes)


def test_the_record_has_the_seal():
    recorded = as_recorded(compare(counted(row("a", 1000)), seen(read("a", 2000))))
    assert (recorded.status, recorded.bytes_per_token, recorded.at_context) == ("differs", 2000, 209)
    assert recorded.differs == ["a: count 1,000 B by rule feed-forward, graph 2,000 B (full)"]
    assert recorded.mlx_lm == "0.32.2"


def test_the_record_says_when_the_routing_was_assumed():
    agreement = compare(counted(row("a", 1000)), seen(read("a", 1000), assumed_routing=True))
    recorded = as_recorded(agreement)
    assert recorded.status == "agrees"
    assert recorded.reason.startswith("assumed routing")


def test_every_reason_has_a_sentence():
    assert set(SENTENCES) == set(Reason)
    assert all(sentence and not sentence.endswith(".") for sentence in SENTENCES.values())


def test_a_code_that_is_no_reason_is_a_plain_failure():
    assert heard("evaluates", "it computes") == NotWitnessed(Reason.EVALUATES, "it computes")
    assert heard("worker_failed", "boom").reason is Reason.FAILED
    assert "boom" in heard("worker_failed", "boom").words


def test_a_reason_shows_nothing_dangerous_and_stays_short():
    words = not_witnessed(Reason.FAILED, "a\x1b[31m\n" + "b" * 5000).words
    assert "\x1b" not in words
    assert "\n" not in words
    assert len(words) < 400


def test_groups_follow_the_roles_that_there_are():
    count = counted(row("v", 0, Role.VISION), row("m", 10), row("n", 10))
    assert by_role(count) == {"vision": ["v"], "mlp": ["m", "n"]}
