"""Every sentence that a verdict can say, whole, each beside the record that makes it say so.

Rates and bytes are the source documents' office rows; the word of each verdict is `test_verdict`'s.
"""

import inspect

import pytest
from msgspec.structs import replace

from tests.analysis.office import SPEC, STREAMED, office_record
from workbench.analysis import counting_error, low, observations, verdict
from workbench.analysis.verdict import judge
from workbench.ledger.parts import InterTokenMs, KernelFigure, NamedCeiling, Warn, Witness
from workbench.machine import spoiled
from workbench.machine.spoiled import spoiled_by
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind, ceilings

SMALL, NINE, LARGE = "Qwen3.5-0.8B-4bit", "Qwen3.5-9B-4bit", "Qwen3.5-27B-4bit"
MIXTURE = "Qwen3.5-35B-A3B-4bit"
STEADY = {
    "tps_cv": 0.01,
    "tps_first_quarter": 20.0,
    "tps_last_quarter": 20.2,
    "load1_start": 0.4,
    "top_other_process_cpu_pct": 3.0,
}
PROBE = replace(
    office_record(MIXTURE),
    experiment="bandwidth",
    achieved_gbps=4270.0,
    kernels=[KernelFigure("matvec", "4-bit affine", 1, 12, 8, 930.0, 925.0)],
)


def nine(tps=95.1, **fields):
    return office_record(NINE, tps, **fields)


def over(rule, tps=500.0):
    """A rate over the ceiling by a rule that is not the count, with the count's ceiling beside it."""
    made = ceilings([SPEC], {rule: 5_950_062_560, "count": 4_465_912_320})
    named = [NamedCeiling(one.name, one.gbps, one.tps) for one in made]
    return nine(tps, rule=rule, weight_bytes_per_token=5_950_062_560, ceilings=named)


def overridden(tps, per_token=4_465_912_320):
    made = ceilings([SPEC], {"count": per_token, "count without overrides": 6_000_000_000})
    named = [NamedCeiling(one.name, one.gbps, one.tps) for one in made]
    return nine(tps, in_force="override", weight_bytes_per_token=per_token, ceilings=named)


def tokens(p50, longest):
    return InterTokenMs(p50=p50, p95=longest, p99=longest, max=longest)


SENTENCES = [
    # nothing to judge
    (
        nine(status="cancelled", generation_tps=None, reason="Stopped by hand."),
        "Nothing was measured (the run's status is cancelled: Stopped by hand).",
    ),
    (nine(status="failed", generation_tps=None), "Nothing was measured (the run's status is failed)."),
    (
        nine(90_000.0),
        "No machine decodes at 90000 tok/s (the limit here is 20,000): this is a first-token spike or a"
        " broken clock, not a rate.",
    ),
    (nine(figures=()), "There is no ceiling to judge by: there is no bandwidth figure."),
    (
        nine(figures=(), weight_bytes_per_token=None),
        "There is no ceiling to judge by: the bytes are not known.",
    ),
    # not bound by the bus
    (nine(batch=8), "Batch 8: one read of the weights serves several tokens."),
    (
        nine(draft_model="Qwen3.5-0.8B"),
        "A draft model guesses ahead: one read of the weights may give several tokens.",
    ),
    (nine(hosts=2), "2 machines share the weights: one machine's bandwidth is not the limit."),
    (
        nine(warnings=[Warn("prompt_cache", "")]),
        "A prompt cache was in use: part of the work was done before the clock started.",
    ),
    (
        office_record(SMALL, last_level_cache_bytes=500_000_000),
        "The 0.424 GB that a token reads fit the last-level cache (0.500 GB): the memory bus is not what"
        " limits it.",
    ),
    # plausible, and other rules
    (
        nine(),
        "Plausible: 51.9 % of the ceiling at spec 819 GB/s, count; 66.6 % of the ceiling at achieved 638"
        " GB/s, count.",
    ),
    (
        replace(over("whole-file", 150.0), rule="count", weight_bytes_per_token=4_465_912_320),
        "The rule whole-file would make it 109.0 % of the ceiling at spec 819 GB/s, whole-file: that"
        " rule counts what no token reads.",
    ),
    (
        over("all-bytes", 100.0),
        "The rule in force, all-bytes, counts every byte on disk as read per token; by the count it is 54.5 %"
        " of the ceiling at spec 819 GB/s, count.",
    ),
    (
        overridden(150.0),
        "Without the overrides it would be 109.9 % of the ceiling at spec 819 GB/s, count without overrides.",
    ),
    # counting errors
    (
        office_record(LARGE, 60.0, figures=(SPEC,)),
        "60.0 tok/s is 105.6 % of the ceiling at spec 819 GB/s, count (56.8 tok/s), 865.1 GB/s"
        " effective: not a fast machine, a wrong count.",
    ),
    (
        office_record(LARGE, 60.0, figures=(SPEC,)),
        "The bytes were miscounted: 14.418 GB per token cannot be right.",
    ),
    (
        office_record(LARGE, 60.0, figures=(SPEC,)),
        "None of the usual errors explains it: check the bandwidth figure, and whether batch, draft"
        " model or prompt cache were in use.",
    ),
    (
        office_record(LARGE, 60.0, figures=(SPEC,), experiment="external", status="imported"),
        "60.0 tok/s is 105.6 % of the ceiling at spec 819 GB/s, count (56.8 tok/s), 865.1 GB/s"
        " effective: not a fast machine, a wrong count or a wrong claim.",
    ),
    (
        office_record(LARGE, 60.0, figures=(SPEC,), experiment="external", status="imported"),
        "Either the 14.418 GB per token are wrong, or the number is of another machine, another"
        " checkpoint or more than one stream.",
    ),
    (
        office_record(
            *(LARGE, 404e9 / 14_417_645_056),
            figures=(
                BandwidthFigure(400, BandwidthKind.SPEC, "Apple"),
                BandwidthFigure(409.6, BandwidthKind.THEORETICAL, "512 bit x 6400 MT/s"),
            ),
        ),
        "Bus width x rate gives 409.6 GB/s, of which it is 98.6 %: vendors round, but no kernel comes"
        " that near.",
    ),
    (
        overridden(110.0, per_token=8_000_000_000),
        "Without the overrides it is 80.6 % of the ceiling at spec 819 GB/s, count without overrides:"
        " check them.",
    ),
    (
        office_record(LARGE, 32.6, figures=(BandwidthFigure(400, BandwidthKind.STATED, "a post"), SPEC)),
        "32.6 tok/s is 117.5 % of the ceiling at stated 400 GB/s, count (27.7 tok/s), 470.0 GB/s"
        " effective: the figure is too low, or the count is wrong.",
    ),
    (
        office_record(LARGE, 32.6, figures=(BandwidthFigure(400, BandwidthKind.STATED, "a post"), SPEC)),
        "Only the stated figure is exceeded: is 400 GB/s understated?",
    ),
    (
        office_record(LARGE, 32.6, figures=(BandwidthFigure(400, BandwidthKind.STATED, "a post"), SPEC)),
        "Of the ceiling at spec 819 GB/s, count it is 57.4 %.",
    ),
    (
        office_record(LARGE, 46.0, figures=(STREAMED,)),
        "If the bandwidth figure holds, the bytes per token were counted too high.",
    ),
    (
        over("all-bytes"),
        "The rule was wrong: all-bytes counts every byte on disk as read per token (5.950 GB).",
    ),
    (
        over("whole-file"),
        "The rule was wrong: whole-file takes the whole file for what a token reads (5.950 GB).",
    ),
    (over("seed"), "The rule was wrong: seed is the four rules by name, taken literally (5.950 GB)."),
    (over("nameplate"), "The rule was wrong: nameplate is not the count (5.950 GB)."),
    (
        over("seed", 150.0),
        "By the rule count, the same rate is 81.8 % of the ceiling at spec 819 GB/s, count.",
    ),
    (
        office_record(MIXTURE, 88.99, rule="all-bytes"),
        "Explained by: experts counted in full. Put right, a token reads 2.838 GB and the fraction is"
        " 30.8 %.",
    ),
    (
        office_record(MIXTURE, 88.99, rule="all-bytes"),
        "The bytes in force are the count of 1.659 GB and: vision tower counted (0.893 GB), embedding"
        " table counted though the head is a tensor of its own (0.286 GB), experts counted in full"
        " (17.553 GB).",
    ),
    # the low question
    (
        nine(20.0),
        "10.9 % of the ceiling at spec 819 GB/s, count is low for about 9.4 billion parameters: was it"
        " warmed up, was the machine busy? (there is no second repeat to compare with; the machine's"
        " load was not measured.) Repeat it.",
    ),
    (
        nine(20.0, **{**STEADY, "tps_cv": 0.2, "tps_last_quarter": 15.0, "top_other_process_cpu_pct": 40.0}),
        "10.9 % of the ceiling at spec 819 GB/s, count is low for about 9.4 billion parameters: was it"
        " warmed up, was the machine busy? (the repeats spread by 20.0 %; the last quarter ran at 75.0 %"
        " of the first.) Repeat it.",
    ),
    (
        nine(20.0, **{**STEADY, "top_other_process_cpu_pct": None, "load1_start": 7.0}),
        "10.9 % of the ceiling at spec 819 GB/s, count is low for about 9.4 billion parameters: was it"
        " warmed up, was the machine busy? (the load was 7.0 at the start.) Repeat it.",
    ),
    (
        nine(20.0, **STEADY, warmup_passes=8, warmup_steady=False),
        "10.9 % of the ceiling at spec 819 GB/s, count is low for about 9.4 billion parameters: was it"
        " warmed up, was the machine busy? (its warm-up never came to one rate.) Repeat it.",
    ),
    (
        nine(20.0, **STEADY),
        "10.9 % of the ceiling at spec 819 GB/s, count is low for about 9.4 billion parameters; the"
        " repeats and the quarters are steady and no other process was seen busy, so it is bound by"
        " overhead or kernels (the probe's matvec in 4-bit affine stops at 930.0 GB/s, 21.8 % of the"
        " 4,270.0 GB/s that this memory gave).",
    ),
    # conditions
    (nine(low_power_mode=True), "Low power mode was on."),
    (nine(thermal_worst="heavy"), "The machine ran hot: thermal pressure reached heavy."),
    (
        nine(throttle_reasons=["hw slowdown", "sw power cap"]),
        "The clocks were held down: hw slowdown.",
    ),
    (
        nine(swap_used_start_bytes=0, swap_used_end_bytes=900_000_000),
        "The system swapped 0.9 GB out during the run.",
    ),
    (nine(memory_pressure_worst="critical"), "Memory pressure reached critical."),
    (nine(top_other_process_cpu_pct=97.3), "Another process used 97 % of a core."),
    (nine(gpu_other_processes=1), "1 other process computed on the same GPU."),
    (
        nine(clock_drift=0.12),
        "Wall clock and monotonic clock differ by 12.00% over the run: the machine slept, or its clock"
        " was set.",
    ),
    (
        nine(inter_token_ms=tokens(10.5, 10_000.0)),
        "One token took 10.0 s, the median one 10.5 ms: the run was suspended, or the machine stood still.",
    ),
    # observations
    (
        nine(status="failed", reason="The worker crashed.", repeats=3, repeats_tps=[95.1]),
        "The run is failed, its rate is that of 1 of 3 repeats: The worker crashed.",
    ),
    (
        nine(status="cancelled", repeats_tps=[95.1]),
        "The run is cancelled, its rate is that of 1 repeat.",
    ),
    (
        nine(status="interrupted", repeats_tps=[95.1, 95.1]),
        "The run is interrupted, its rate is that of 2 repeats.",
    ),
    (
        nine(inter_token_ms=tokens(10.0, 90.0), stalls=1),
        "The mean rate (95.1 tok/s) and the median token's (100.0) differ by 5.2 % (1 stall): some tokens"
        " took much longer than others.",
    ),
    (
        nine(inter_token_ms=tokens(10.0, 90.0), stalls=4),
        "The mean rate (95.1 tok/s) and the median token's (100.0) differ by 5.2 % (4 stalls): some"
        " tokens took much longer than others.",
    ),
    (
        nine(inter_token_ms=tokens(11.0, 20.0)),
        "The mean rate (95.1 tok/s) and the median token's (90.9) differ by 4.4 %: some tokens were much"
        " faster than the rest.",
    ),
    (
        nine(tps_mean=95.1, tps_median=99.0),
        "The repeats' mean (95.1 tok/s) and median (99.0) differ by 4.1 %: one repeat stands apart.",
    ),
    (
        nine(tps_first_quarter=100.0, tps_last_quarter=94.0),
        "The last quarter ran at 94.0 tok/s after 100.0 in the first (94.0 %): heat slowed the machine,"
        " or something else took the bus.",
    ),
    (
        nine(tps_first_quarter=94.0, tps_last_quarter=100.0),
        "The first quarter ran at 94.0 tok/s, the last at 100.0 (106.4 %): it was still warming up, or"
        " the machine itself became faster on the way.",
    ),
    (
        nine(warmup_passes=8, warmup_steady=False),
        "The warm-up's 8 passes never came to one rate: kernels may have gone on compiling, or the"
        " machine is not steady.",
    ),
    (
        office_record(SMALL),
        "Not checked: whether the 0.424 GB that a token reads fit the last-level cache, whose size is"
        " not known here. If they do, the memory bus is not the limit.",
    ),
    (
        nine(witness=Witness(status="differs", differs=["a.weight", "b.weight", "c.weight", "d.weight"])),
        "The count and the decode graph differ in a.weight, b.weight, c.weight and 1 more.",
    ),
    (
        nine(synthetic_weights=True),
        "The weights are synthetic: the rate says something of this machine, nothing of a model.",
    ),
    (
        nine(experiment="external", status="imported"),
        "Not measured here: the figures are as they were given.",
    ),
    (nine(warnings=[Warn("gap", "A shard has a gap.")]), "The count warns: A shard has a gap."),
]


@pytest.mark.parametrize(("record", "sentence"), SENTENCES, ids=[said[:60] for _, said in SENTENCES])
def test_a_verdict_says_it_of_such_a_record_and_not_of_a_plain_one(record, sentence):
    assert sentence in judge(record, spoiled=spoiled_by(record), probe=PROBE).reasons
    if not sentence.startswith("Plausible"):
        assert sentence not in judge(nine()).reasons


def test_every_function_that_makes_a_sentence_is_heard_here():
    # a new sentence's function must have its row above: this counts the makers, room by room
    makers = {
        observations: {"_ended_early", "_tokens", "_repeats", "_quarters", "_warm_up", "_cache"}
        | {"_witness", "_synthetic", "_not_here", "stood_still"},
        spoiled: {"_suspended", "_heat", "_throttled", "_swapping", "_pressure", "_busy", "_shared_gpu"},
        verdict: {"not_applicable_reason", "_nothing_measured"},
        low: {"low_reason", "_evidence"},
        counting_error: {"_headline"},
    }
    for room, expected in makers.items():
        own = [found for _, found in inspect.getmembers(room, inspect.isfunction)]
        own = [one for one in own if one.__module__ == room.__name__]
        said = {one.__name__ for one in own if inspect.signature(one).return_annotation in {str, str | None}}
        assert said - {"_names", "rule_words"} == expected
