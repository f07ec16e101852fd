"""A record becomes a replay: the same bytes, ceilings and token times, in the protocol's order."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.analysis.office import BYTES, office_record
from tests.protocol.stage import Stage, plan
from workbench.accounting.roles import Role
from workbench.errors import UsageError
from workbench.ledger.example import OFFICE_RUN_1
from workbench.ledger.parts import RoleBytes, Witness
from workbench.ledger.store import read
from workbench.prediction.ceiling import BandwidthKind
from workbench.protocol.plan import Plan, require_runnable
from workbench.protocol.replaying import LONGEST_WAIT_S, replay_of, why_not
from workbench.protocol.run import Phase, Run, fold
from workbench.worker import messages as m

RUN_1, _, CORRECTED = read(OFFICE_RUN_1).records


def recorded(**fields):
    """A record with token times of its own: two repeats, the second one slower."""
    steps = [[10_000_000] * 15 + [40_000_000] * 5, [20_000_000 + n * 1_000 for n in range(20)]]
    return replace(office_record("Qwen3.5-9B-4bit"), token_times_ns=steps, load_s=60.0, ttft_s=9.0, **fields)


@pytest.mark.parametrize("model", BYTES)
def test_the_office_rows_come_back_with_their_bytes_by_role(model):
    total, vision, embedding, experts, tied, number, k, per_token = BYTES[model]
    replay = replay_of(office_record(model))
    count = replay.plan.count
    assert replay.plan.weight_bytes == per_token
    assert count.disk_bytes == total
    assert count.by_role[Role.VISION].on_disk == vision
    assert count.by_role[Role.EMBEDDING].per_token == (embedding if tied else 0)
    assert sum(row.weight_bytes for row in count.rows) == per_token
    if number:
        assert count.by_role[Role.EXPERT].per_token == experts * k // number
    require_runnable(replay.plan)


def test_run_1_is_played_by_the_rule_that_was_wrong():
    replay = replay_of(RUN_1)
    assert replay.plan.rule == "all-bytes"
    assert replay.plan.weight_bytes == 20_391_405_152
    assert replay.plan.count.weight_bytes == 1_659_035_776
    assert replay.is_even
    assert [(figure.kind, figure.gbps, figure.source) for figure in replay.plan.bandwidths] == [
        (BandwidthKind.SPEC, 819, "Apple, M3 Ultra")
    ]


def test_the_graph_stays_in_force_where_it_was():
    record = replace(
        recorded(),
        in_force="graph",
        weight_bytes_per_token=5_000_000_000,
        weight_bytes_per_token_without_overrides=4_465_912_320,
        witness=Witness(5_000_000_000, "differs", None, 209, "0.32.2"),
    )
    replay = replay_of(record)
    assert (replay.plan.in_force, replay.plan.weight_bytes) == ("graph", 5_000_000_000)
    assert replay.plan.count.weight_bytes == 4_465_912_320


def test_overrides_stay_named():
    record = replace(
        recorded(),
        in_force="override",
        overrides=[
            {"tensors": "lm_head.*", "role": "head", "share": "1", "reason": "read twice", "matched": 3}
        ],
        weight_bytes_per_token_without_overrides=4_000_000_000,
    )
    replay = replay_of(record)
    assert replay.plan.in_force == "override"
    assert replay.plan.count.overrides[0].reason == "read twice"


async def test_a_record_of_this_program_comes_back_as_its_plan(tmp_path):
    async with Stage(tmp_path).make() as measurement:
        await measurement.prepare()
        measurement.lock([("ana", 90.0)])
        record = await measurement.measure()
    replay = replay_of(record)
    assert replay.plan.weight_bytes == plan().weight_bytes
    assert replay.plan.count.by_role == plan().count.by_role
    assert replay.plan.settings.repeats == 2
    assert not replay.is_even  # eleven tokens cannot tell


def test_cues_come_in_the_protocols_order_and_end_with_every_repeat():
    replay = replay_of(recorded())
    kinds = [type(cue.report).__name__ for cue in replay.cues if not isinstance(cue.report, m.Progress)]
    assert kinds == [
        "Loading",
        "Loaded",
        "Warmed",
        *["RepeatStarted", "RepeatDone"] * 2,
        "Finished",
    ]
    times = [cue.at_s for cue in replay.cues]
    assert times == sorted(times)
    run = Run(Plan(replay.plan.checkpoint, replay.plan.count, replay.plan.bandwidths))
    for cue in replay.cues:
        run = fold(run, cue.report)
    assert run.finished
    assert [len(repeat.token_times_ns) for repeat in run.repeats] == [21, 21]


def test_tokens_keep_their_own_time_and_waiting_is_cut_short():
    replay = replay_of(recorded())
    load = next(cue.at_s for cue in replay.cues if isinstance(cue.report, m.Loaded))
    assert load == LONGEST_WAIT_S  # it took a minute
    started = next(cue.at_s for cue in replay.cues if isinstance(cue.report, m.RepeatStarted))
    done = next(cue.at_s for cue in replay.cues if isinstance(cue.report, m.RepeatDone))
    assert done - started == pytest.approx(LONGEST_WAIT_S + 15 * 0.01 + 5 * 0.04)


def test_live_rates_are_those_of_the_token_times():
    points = [cue.report for cue in replay_of(recorded()).cues if isinstance(cue.report, m.Progress)]
    first = [point for point in points if point.index == 0]
    assert first[0].tokens == 1
    assert first[0].tps_now is None  # no first-token spike
    assert first[-1].tps_mean < first[1].tps_mean == pytest.approx(100.0)


def test_rows_without_token_times_are_spaced_evenly_and_say_so():
    replay = replay_of(office_record("Qwen3.5-9B-4bit", generation_tokens=200))
    [repeat] = [cue.report.repeat for cue in replay.cues if isinstance(cue.report, m.RepeatDone)]
    assert replay.is_even
    assert len(repeat.token_times_ns) == 200
    elapsed_s = (repeat.token_times_ns[-1] - repeat.token_times_ns[0]) / 1e9
    assert 199 / elapsed_s == pytest.approx(95.1)
    assert not replay_of(recorded()).is_even


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"generation_tps": None}, "no rate"),
        ({"generation_tps": math.inf}, "no rate"),
        ({"generation_tps": 120_000.0}, "no rate"),
        ({"weight_bytes_per_token": None}, "no bytes per token"),
        ({"bandwidth_gbps": None, "ceilings": []}, "no bandwidth figure"),
        ({"status": "discarding"}, "no run"),
        ({"experiment": "bandwidth"}, "no run"),
    ],
)
def test_what_cannot_be_played_says_what_is_missing(fields, missing):
    record = replace(office_record("Qwen3.5-9B-4bit"), **fields)
    assert missing in why_not(record)
    with pytest.raises(UsageError, match=missing):
        replay_of(record)


@given(
    rule=st.sampled_from(["count", "seed", "whole-file", "all-bytes", None, "newer"]),
    in_force=st.sampled_from(["count", "graph", "override", None]),
    numbers=st.lists(st.integers(-5, 10**12), min_size=6, max_size=6),
    steps=st.none() | st.lists(st.lists(st.integers(-10, 10**9), max_size=30), max_size=3),
    roles=st.none()
    | st.dictionaries(st.sampled_from(["mlp", "expert", "new_role"]), st.integers(0, 10**10), max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_any_record_is_played_with_its_own_bytes_or_refused_in_words(rule, in_force, numbers, steps, roles):
    total, vision, embedding, per_token, untouched, tokens = numbers
    record = replace(
        office_record("Qwen3.5-9B-4bit"),
        rule=rule,
        in_force=in_force,
        weight_bytes_total=total,
        weight_bytes_vision=vision,
        weight_bytes_embed=embedding,
        weight_bytes_per_token=per_token,
        weight_bytes_per_token_without_overrides=untouched,
        generation_tokens=tokens,
        token_times_ns=steps,
        roles={name: RoleBytes(size, size, size // 2) for name, size in roles.items()} if roles else None,
    )
    try:
        replay = replay_of(record)
    except UsageError as error:
        assert error.hint
        return
    assert replay.plan.weight_bytes == per_token
    assert replay.seconds >= 0
    run = Run(replay.plan)
    for cue in replay.cues:
        run = fold(run, cue.report)
    assert run.phase is Phase.COOLING
