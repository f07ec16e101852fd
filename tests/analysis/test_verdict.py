import math

import pytest
from msgspec.structs import replace

from tests.analysis.office import SPEC, STREAMED, office_record
from workbench.accounting.count import Count, RoleTotals, SeedCount
from workbench.accounting.roles import Role
from workbench.analysis.counting_error import Miscounted
from workbench.analysis.excess import alternatives, alternatives_of, composition, explanations
from workbench.analysis.low import parameters
from workbench.analysis.verdict import judge, judged
from workbench.ledger.parts import InterTokenMs, KernelFigure, NamedCeiling, Quantization, Warn, Witness
from workbench.ledger.record import Record
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind, ceilings

MIXTURE = "Qwen3.5-35B-A3B-4bit"
THEORETICAL = BandwidthFigure(819.2, BandwidthKind.THEORETICAL, "1024 bit x 6400 MT/s")


def run_1(**fields) -> Record:
    return office_record(MIXTURE, 88.99, rule="all-bytes", **fields)


def the_count() -> Count:
    """The mixture's count by roles, from its headers."""
    total, vision, table, experts = 20391405152, 893142496, 286064640, 18119393280
    read = experts * 8 // 256
    rest = total - vision - table - experts
    return Count(
        runtime="mlx-lm 0.32.2",
        rows=(),
        disk_bytes=total,
        resident_bytes=total - vision,
        weight_bytes=rest + read,
        lookup_bytes=1152,
        by_role={
            Role.ATTENTION: RoleTotals(rest, rest, rest),
            Role.EXPERT: RoleTotals(experts, experts, read),
            Role.EMBEDDING: RoleTotals(table, table, 0),
            Role.VISION: RoleTotals(vision, 0, 0),
        },
        tied=False,
        experts=256,
        experts_per_token=8,
        seed=SeedCount(total, vision, table, experts, False, 256, 8, rest + read),
        findings=(),
    )


# --- over 100 % ---


def test_run_1_is_a_counting_error_and_the_experts_explain_it():
    verdict = judge(run_1())
    assert verdict.word == "counting error"
    assert verdict.excess_explained_by[0] == "experts counted in full"
    assert "221.6 %" in verdict.reasons[0]
    assert "1,814.6 GB/s effective" in verdict.reasons[0]
    assert "not a fast machine, a wrong count" in verdict.reasons[0]


def test_run_1_is_blamed_on_its_rule_with_the_right_figure_beside_it():
    verdict = judge(run_1())
    assert verdict.miscounted is Miscounted.RULE
    text = " ".join(verdict.reasons)
    assert "all-bytes counts every byte on disk as read per token (20.391 GB)" in text
    assert "Put right, a token reads 2.838 GB and the fraction is 30.8 %" in text
    assert "the count of 1.659 GB and: vision tower counted (0.893 GB), embedding table" in text


def test_the_counts_own_alternatives_explain_run_1_alike():
    from_record, from_count = alternatives_of(run_1()), alternatives(the_count())
    assert [one.name for one in from_count] == [one.name for one in from_record]
    assert [one.weight_bytes for one in from_count] == [one.weight_bytes for one in from_record]
    assert judge(run_1(), from_count) == judge(run_1())


def test_the_alternatives_come_in_the_published_order_of_frequency():
    assert [one.name for one in alternatives(the_count())] == [
        "vision tower counted",
        "embedding table counted though the head is a tensor of its own",
        "experts counted in full",
    ]


def test_run_1_without_its_rule_stamped_is_an_error_of_the_bytes():
    record = replace(run_1(), rule=None, in_force=None)
    verdict = judge(record)
    assert verdict.miscounted is Miscounted.BYTES
    assert verdict.excess_explained_by == ("experts counted in full",)


def test_a_small_vlm_that_counts_its_tower_is_explained_by_the_tower():
    # a fifth of a small VLM's bytes: the 0.8B at 1,500 tok/s reads 114.5 % with the tower and 77.6 % without
    record = replace(
        office_record("Qwen3.5-0.8B-4bit", 1500.0, rule="all-bytes", figures=(SPEC,)), rule="count"
    )
    verdict = judge(record)
    assert verdict.miscounted is Miscounted.BYTES
    assert verdict.excess_explained_by == ("vision tower counted",)
    assert "the fraction is 77.6 %" in " ".join(verdict.reasons)


def test_errors_that_only_explain_together_are_named_together():
    # the 9B at 180 tok/s, both tower and untied table counted: 130.8 %; without the tower still 110.7 %
    record = office_record("Qwen3.5-9B-4bit", 180.0, rule="all-bytes", figures=(SPEC,))
    assert judge(record).excess_explained_by == (
        "vision tower counted and embedding table counted though the head is a tensor of its own",
    )


def test_draft_layers_that_were_counted_are_named():
    roles = {
        Role.MLP: RoleTotals(1000, 1000, 1000),
        Role.DRAFT: RoleTotals(500, 0, 0),
        Role.AUDIO: RoleTotals(40, 0, 0),
        Role.POSITION: RoleTotals(7, 7, 0),
    }
    count = replace_count(weight_bytes=1000, by_role=roles)
    assert [(one.name, one.excess_bytes) for one in alternatives(count)] == [
        ("draft layers counted", 500),
        ("audio tower counted", 40),
        ("other tensors counted that no token reads", 7),
    ]
    assert [names[0].name for names in explanations(1547, 1.4, alternatives(count))] == [
        "draft layers counted"
    ]


def test_a_tied_table_may_have_been_taken_wrongly():
    roles = {Role.MLP: RoleTotals(1000, 1000, 1000), Role.EMBEDDING: RoleTotals(400, 400, 400)}
    count = replace_count(weight_bytes=1400, by_role=roles, tied=True)
    [flipped] = alternatives(count)
    assert (flipped.name, flipped.excess_bytes) == (
        "the tie of embedding and head taken the wrong way round",
        -400,
    )
    assert explanations(1400, 1.3, [flipped]) == [(flipped,)]
    assert explanations(1400, 1.5, [flipped]) == []
    record = office_record("Qwen3.5-0.8B-4bit", 2100.0)  # 108.7 %; without the tied table 72.0 %
    verdict = judge(record)
    assert verdict.excess_explained_by == ("the tie of embedding and head taken the wrong way round",)
    assert "Put right, a token reads 0.281 GB and the fraction is 72.0 %." in " ".join(verdict.reasons)


def test_overrides_that_hide_an_excess_are_named():
    overridden = replace(
        office_record("Qwen3.5-9B-4bit", 95.1),
        in_force="override",
        ceilings=[
            NamedCeiling("spec 819 GB/s, count", 819, 183.4),
            NamedCeiling("spec 819 GB/s, count without overrides", 819, 90.0),
        ],
    )
    verdict = judge(overridden)
    assert verdict.word == "ok"
    assert verdict.reasons[1] == (
        "Without the overrides it would be 105.7 % of the ceiling at spec 819 GB/s, count without overrides."
    )


def replace_count(**fields) -> Count:
    from dataclasses import replace as replaced

    return replaced(the_count(), **fields)


def test_an_error_that_is_not_in_the_bytes_in_force_explains_nothing():
    assert explanations(the_count().weight_bytes, 1.2, alternatives(the_count())) == []
    assert composition(the_count().weight_bytes, alternatives(the_count())) is None


def test_over_the_spec_by_the_right_count_the_bytes_are_blamed_and_nothing_invented():
    verdict = judge(office_record("Qwen3.5-27B-4bit", 60.0))
    assert verdict.word == "counting error"
    assert verdict.miscounted is Miscounted.BYTES
    assert verdict.excess_explained_by == ()
    assert "None of the usual errors explains it" in " ".join(verdict.reasons)


def test_between_the_vendors_figure_and_bus_times_rate_it_is_said_that_vendors_round():
    m3_max = (
        BandwidthFigure(400, BandwidthKind.SPEC, "Apple"),
        BandwidthFigure(409.6, BandwidthKind.THEORETICAL, "512 bit x 6400 MT/s"),
    )
    tps = 404e9 / 14417645056
    verdict = judge(office_record("Qwen3.5-27B-4bit", tps, figures=m3_max))
    assert verdict.word == "counting error"
    assert "Bus width x rate gives 409.6 GB/s, of which it is 98.6 %" in " ".join(verdict.reasons)


@pytest.mark.parametrize("kind", [BandwidthKind.ACHIEVED, BandwidthKind.STATED])
def test_over_an_achieved_or_stated_figure_alone_the_bandwidth_is_doubted_first(kind):
    figures = (BandwidthFigure(400, kind, "a probe"), SPEC)
    verdict = judge(office_record("Qwen3.5-27B-4bit", 32.6, figures=figures))
    assert verdict.word == "counting error"
    assert verdict.miscounted is Miscounted.BANDWIDTH
    assert verdict.reasons[1] == f"Only the {kind} figure is exceeded: is 400 GB/s understated?"
    assert verdict.reasons[2] == "Of the ceiling at spec 819 GB/s, count it is 57.4 %."
    assert "the bytes per token were counted too high" in verdict.reasons[3]


def test_all_bytes_against_a_probe_alone_is_the_rules_error():
    verdict = judge(run_1(figures=(STREAMED,)))
    assert verdict.miscounted is Miscounted.RULE
    assert verdict.excess_explained_by[0] == "experts counted in full"


def test_over_another_rules_ceiling_only_that_rule_is_named_and_the_run_stands():
    both = ceilings([SPEC], {"count": 1659035776, "whole-file": 20391405152})
    record = office_record(MIXTURE, ceilings=[NamedCeiling(c.name, c.gbps, c.tps) for c in both])
    verdict = judge(record)
    assert verdict.word == "ok"
    assert any(
        reason.startswith(
            "The rule whole-file would make it 221.8 % of the ceiling at spec 819 GB/s, whole-file"
        )
        for reason in verdict.reasons
    )


def test_with_another_rule_in_force_the_right_count_is_set_beside():
    both = ceilings([SPEC], {"all-bytes": 20391405152, "count": 1659035776})
    record = run_1(ceilings=[NamedCeiling(c.name, c.gbps, c.tps) for c in both])
    assert (
        "By the rule count, the same rate is 18.0 % of the ceiling at spec 819 GB/s, count."
        in judge(record).reasons
    )


def test_run_1s_mistake_below_a_bus_that_is_far_from_full_is_said():
    # the mixture on an H200 at 52 tok/s: all its bytes make a plausible 22 % of what are 1.8 %
    h200 = BandwidthFigure(4800, BandwidthKind.SPEC, "NVIDIA")
    both = ceilings([h200], {"all-bytes": 20391405152, "count": 1659035776})
    record = office_record(
        *(MIXTURE, 52.0, "all-bytes"), ceilings=[NamedCeiling(c.name, c.gbps, c.tps) for c in both]
    )
    verdict = judge(record)
    assert verdict.word == "ok"
    assert verdict.reasons[1] == (
        "The rule in force, all-bytes, counts every byte on disk as read per token; by the count it is 1.8 %"
        " of the ceiling at spec 4800 GB/s, count."
    )


def test_a_graph_or_an_override_in_force_counts_as_the_count():
    made = ceilings([SPEC], {"graph": 1659035776})
    record = office_record(MIXTURE, 600.0, ceilings=[NamedCeiling(c.name, c.gbps, c.tps) for c in made])
    assert judge(record).miscounted is Miscounted.BYTES


# --- not bound by the bus ---


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"batch": 8}, "Batch 8"),
        ({"draft_model": "Qwen3.5-0.8B"}, "A draft model guesses ahead"),
        ({"hosts": 2}, "2 machines share the weights"),
        ({"warnings": [Warn("prompt_cache", "A prompt cache was used.")]}, "A prompt cache was in use"),
        ({"last_level_cache_bytes": 2_000_000_000}, "fit the last-level cache (2.000 GB)"),
    ],
)
def test_where_the_bus_is_not_the_limit_the_rule_does_not_apply(fields, why):
    verdict = judge(office_record(MIXTURE, 600.0, **fields))
    assert verdict.word == "not applicable"
    assert why in verdict.reasons[0]


def test_batch_one_on_one_host_is_the_ordinary_case():
    assert judge(office_record(MIXTURE, batch=1, hosts=1, last_level_cache_bytes=96_000_000)).word == "ok"


# --- low ---

CLEAN = {
    "tps_cv": 0.01,
    "tps_first_quarter": 20.0,
    "tps_last_quarter": 20.2,
    "load1_start": 0.4,
    "top_other_process_cpu_pct": 3.0,
}


def test_low_on_a_large_model_asks_the_published_question():
    verdict = judge(office_record("Qwen3.5-9B-4bit", 20.0))
    assert verdict.word == "low"
    assert "10.9 % of the ceiling at spec 819 GB/s, count is low for" in verdict.reasons[0]
    assert "was it warmed up, was the machine busy?" in verdict.reasons[0]
    assert "there is no second repeat" in verdict.reasons[0]
    assert "load was not measured" in verdict.reasons[0]


def test_fifteen_percent_is_not_low_and_just_under_is():
    ceiling = 819e9 / 4465912320
    assert judge(office_record("Qwen3.5-9B-4bit", 0.1501 * ceiling)).word == "ok"
    assert judge(office_record("Qwen3.5-9B-4bit", 0.1499 * ceiling)).word == "low"


def test_a_small_model_may_be_low():
    assert judge(office_record("Qwen3.5-0.8B-4bit", 20.0)).word == "ok"


def test_a_low_fraction_of_an_achieved_figure_is_no_question():
    assert judge(office_record("Qwen3.5-9B-4bit", 20.0, figures=(STREAMED,))).word == "ok"


def test_a_clean_low_run_is_bound_by_overhead_or_kernels():
    verdict = judge(office_record("Qwen3.5-9B-4bit", 20.0, **CLEAN))
    assert verdict.word == "low"
    assert "bound by overhead or kernels" in verdict.reasons[0]
    assert "?" not in verdict.reasons[0]


def test_the_probes_kernel_of_the_same_format_is_the_evidence():
    # MLX's 4-bit matvec on an H200: 0.93 of 4.27 TB/s
    probe = replace(
        office_record(MIXTURE),
        experiment="bandwidth",
        achieved_gbps=4270.0,
        kernels=[
            KernelFigure("sum", "float32", 1, 12, 8, 4270.0, 4220.0),
            KernelFigure("matvec", "4-bit affine", 1, 12, 8, 930.0, 925.0),
            KernelFigure("matvec", "bfloat16", 1, 12, 8, 2000.0, 1990.0),
        ],
    )
    reason = judge(office_record("Qwen3.5-9B-4bit", 20.0, **CLEAN), probe=probe).reasons[0]
    assert "the probe's matvec in 4-bit affine stops at 930.0 GB/s, 21.8 % of the 4,270.0 GB/s" in reason


@pytest.mark.parametrize(
    ("fields", "doubt"),
    [
        ({"tps_cv": 0.2}, "the repeats spread by 20.0 %"),
        ({"tps_last_quarter": 15.0}, "the last quarter ran at 75.0 % of the first"),
        ({"top_other_process_cpu_pct": 180.0}, "another process used 180 % of a core"),
        ({"top_other_process_cpu_pct": None, "load1_start": 7.0}, "the load was 7.0 at the start"),
    ],
)
def test_any_doubt_keeps_the_question(fields, doubt):
    reason = judge(office_record("Qwen3.5-9B-4bit", 20.0, **{**CLEAN, **fields})).reasons[0]
    assert doubt in reason
    assert "was it warmed up" in reason


@pytest.mark.parametrize(
    ("nbytes", "quantization", "dtype", "billions"),
    [
        (4_466_000_000, Quantization(4, 64, "affine"), None, 7.94),
        (15_000_000_000, None, None, 7.5),
        (15_000_000_000, None, "BF16", 7.5),
        (15_000_000_000, None, "F32", 3.75),
        (8_000_000_000, Quantization(mode="fp8"), "F8_E4M3", 8.0),
        (4_500_000_000, None, "Q4_K", 8.0),
        (8_000_000_000, Quantization(4, 32, "mxfp4"), None, 15.06),
    ],
)
def test_parameters_follow_from_bytes_and_bits(nbytes, quantization, dtype, billions):
    record = replace(
        office_record(MIXTURE, weight_bytes_vision=None),
        weight_bytes_total=nbytes,
        quantization=quantization,
        dtype=dtype,
    )
    assert parameters(record) / 1e9 == pytest.approx(billions, abs=0.01)


def test_a_vision_tower_beside_quantized_weights_is_not_taken_for_quantized():
    # the originals in bfloat16, without their draft layers, hold 9.410 and 35.107 billion
    assert parameters(office_record("Qwen3.5-9B-4bit")) / 1e9 == pytest.approx(9.410, abs=0.005)
    assert parameters(office_record(MIXTURE)) / 1e9 == pytest.approx(35.107, abs=0.005)


def test_a_weight_format_that_nobody_states_gives_no_number_of_parameters():
    record = replace(office_record(MIXTURE), quantization=Quantization(mode="exotic"), dtype="X9")
    assert parameters(record) is None


def test_an_unquantized_checkpoints_evidence_is_the_product_in_its_own_type():
    kernels = [
        KernelFigure("copy", "float32", 1, 4, 8, 24.0, 23.0),
        KernelFigure("matvec", "float32", 1, 4, 8, 4.7, 4.6),
        KernelFigure("matvec", "bfloat16", 1, 4, 8, 2.6, 2.5),
    ]
    probe = replace(office_record(MIXTURE), experiment="bandwidth", achieved_gbps=25.0, kernels=kernels)
    large = {**CLEAN, "quantization": None, "weight_bytes_total": 40_000_000_000}
    stops = {"F32": "matvec in float32 stops at 4.7", "BF16": "matvec in bfloat16 stops at 2.6"}
    for dtype, words in stops.items():
        record = replace(office_record("Qwen3.5-9B-4bit", 20.0, **large), dtype=dtype)
        assert words in judge(record, probe=probe).reasons[0]
    record = replace(office_record("Qwen3.5-9B-4bit", 20.0, **large), dtype="F16")
    assert "stops at" not in judge(record, probe=probe).reasons[0]


# --- conditions and observations ---


def test_conditions_that_spoilt_the_run_are_its_verdict():
    verdict = judge(office_record("Qwen3.5-9B-4bit"), spoiled=["The machine throttled."])
    assert verdict.word == "spoiled"
    assert verdict.reasons[0] == "The machine throttled."


def test_a_counting_error_is_louder_than_spoilt_conditions():
    verdict = judge(run_1(), spoiled=["The machine throttled."])
    assert verdict.word == "counting error"
    assert "The machine throttled." in verdict.reasons


def said(**fields) -> str:
    return " ".join(judge(office_record("Qwen3.5-9B-4bit", 95.1, **fields)).reasons)


def test_a_median_token_more_than_three_percent_off_the_mean_is_said():
    tokens = InterTokenMs(p50=1e3 / 98.5, p95=12.0, p99=40.0, max=90.0)
    assert "differ by 3.6 % (4 stalls)" in said(inter_token_ms=tokens, stalls=4)
    near = InterTokenMs(p50=1e3 / 97.0, p95=12.0, p99=40.0, max=90.0)
    assert "differ" not in said(inter_token_ms=near, stalls=4)


def test_repeats_whose_mean_and_median_part_are_said():
    assert "one repeat stands apart" in said(tps_mean=95.1, tps_median=99.0)
    assert "apart" not in said(tps_mean=95.1, tps_median=97.0)


def test_a_slower_last_quarter_is_heat_or_company_and_a_grown_context_only_where_it_grew():
    slower = {"tps_first_quarter": 100.0, "tps_last_quarter": 94.0}
    assert "(94.0 %): heat slowed the machine, or something else took the bus." in said(**slower)
    grown = {"context_bytes_per_token_start": 10**7, "context_bytes_per_token_end": 9 * 10**8}
    words = "took the bus, or the context that each token reads grew."
    assert words in said(**slower, **grown, repeats_tps=[97.0])
    assert words not in said(**slower, **grown, repeats_tps=[97.0, 97.0])  # each repeat begins anew
    assert "context" not in said(**slower, context_bytes_per_token_start=0, context_bytes_per_token_end=10**7)


def test_a_faster_last_quarter_is_called_warming_up_only_where_the_warm_up_had_not_settled():
    faster = {"tps_first_quarter": 94.0, "tps_last_quarter": 100.0}
    maybe = "(106.4 %): it was still warming up, or the machine itself became faster on the way."
    assert maybe in said(**faster)
    assert maybe in said(**faster, warmup_passes=8, warmup_steady=False)
    settled = said(**faster, warmup_passes=3, warmup_steady=True)
    assert "(106.4 %): its warm-up had settled, so the machine itself became faster on the way." in settled
    assert "warming up" not in settled


def test_level_quarters_are_no_news():
    assert "quarter" not in said(tps_first_quarter=96.0, tps_last_quarter=95.0)


def test_a_warm_up_that_never_settled_is_said():
    assert "The warm-up's 8 passes never came to one rate" in said(warmup_passes=8, warmup_steady=False)
    assert "never came" not in said(warmup_passes=3, warmup_steady=True)
    assert "never came" not in said(warmup_passes=1)


def test_a_small_checkpoint_on_a_cache_of_unknown_size_is_said_to_be_unchecked():
    small = office_record("Qwen3.5-0.8B-4bit")
    words = "Not checked: whether the 0.424 GB that a token reads fit the last-level cache"
    assert words in " ".join(judge(small).reasons)
    over = judge(replace(small, generation_tps=3000.0))  # over 100 %: the cache may be why
    assert over.word == "counting error"
    assert words in " ".join(over.reasons)
    known = replace(small, last_level_cache_bytes=96_000_000)
    assert "Not checked" not in " ".join(judge(known).reasons)
    assert "Not checked" not in said()  # 4.5 GB fit no cache


def test_a_run_that_was_suspended_at_a_token_is_spoiled_and_is_not_called_warming_up():
    paused = InterTokenMs(p50=10.0, p95=12.0, p99=14.0, max=10036.0)
    quarters = {"tps_first_quarter": 14.7, "tps_last_quarter": 52.0}
    verdict = judge(office_record("Qwen3.5-9B-4bit", 95.1, inter_token_ms=paused, **quarters))
    assert verdict.word == "spoiled"
    assert verdict.reasons[0].startswith("One token took 10.0 s, the median one 10 ms: the run was suspended")
    assert not any("warming up" in reason for reason in verdict.reasons)


@pytest.mark.parametrize(("median_ms", "longest_ms"), [(10.0, 990.0), (900.0, 3000.0)])
def test_a_slow_token_of_a_fast_model_and_a_slow_model_stood_not_still(median_ms, longest_ms):
    tokens = InterTokenMs(p50=median_ms, p95=longest_ms, p99=longest_ms, max=longest_ms)
    assert judge(office_record("Qwen3.5-9B-4bit", 95.1, inter_token_ms=tokens)).word != "spoiled"


def test_a_rate_of_a_run_that_ended_early_says_so():
    text = said(status="failed", reason="The worker crashed.", repeats=3, repeats_tps=[95.1])
    assert "The run is failed, its rate is that of 1 of 3 repeats: The worker crashed." in text
    assert "its rate is that" not in said()


def test_synthetic_weights_are_said():
    assert "The weights are synthetic" in said(synthetic_weights=True)


def test_warnings_and_a_differing_graph_are_said():
    text = said(
        warnings=[Warn("gap", "A shard has a gap.")],
        witness=Witness(status="differs", differs=["a.weight", "b.weight", "c.weight", "d.weight"]),
    )
    assert "The count warns: A shard has a gap." in text
    assert "differ in a.weight, b.weight, c.weight and 1 more." in text


def test_figures_from_elsewhere_are_labelled():
    assert "Not measured here" in said(experiment="external", status="imported")


# --- nothing to judge ---


def test_a_cancelled_run_has_no_verdict():
    record = replace(
        office_record(MIXTURE), status="cancelled", generation_tps=None, reason="stopped by hand."
    )
    verdict = judge(record)
    assert verdict.word == "none"
    assert verdict.reasons == ("Nothing was measured (the run's status is cancelled: stopped by hand).",)


@pytest.mark.parametrize("tps", [0.0, -3.0, math.nan, math.inf, 90_000.0])
def test_a_rate_that_no_machine_has_is_not_judged(tps):
    verdict = judge(office_record(MIXTURE, tps))
    assert verdict.word == "none"
    assert "No machine decodes at" in verdict.reasons[0]


def test_without_a_bandwidth_figure_or_bytes_there_is_no_ceiling():
    assert "no bandwidth figure" in judge(office_record(MIXTURE, figures=())).reasons[0]
    record = replace(office_record(MIXTURE, figures=()), weight_bytes_per_token=None)
    assert "the bytes are not known" in judge(record).reasons[0]


def test_a_judged_record_carries_its_verdict():
    record = judged(run_1())
    assert record.verdict == "counting error"
    assert record.excess_explained_by[0] == "experts counted in full"
    assert record.verdict_reasons[0].startswith("89.0 tok/s is 221.6 %")
    assert round(record.effective_gbps, 1) == 1814.6


def test_an_ok_verdict_names_every_denominator():
    assert judge(office_record("Qwen3.5-27B-4bit")).reasons[0] == (
        "Plausible: 57.4 % of the ceiling at spec 819 GB/s, count;"
        " 73.7 % of the ceiling at achieved 638 GB/s, count."
    )
