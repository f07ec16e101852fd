"""Samples before, during and after a run, folded into the record's conditions."""

from types import SimpleNamespace

import pytest

from workbench.machine.conditions import clock_drift, condition_fields
from workbench.machine.sample import Sample, sampled, with_readings
from workbench.machine.spoiled import spoiled_by


def moment(second, **readings):
    return Sample(wall_s=1000.0 + second, monotonic_s=50.0 + second, **readings)


CALM = {
    "thermal": "nominal",
    "power_source": "ac",
    "low_power_mode": False,
    "swap_used_bytes": 0,
    "load1": 0.4,
}


def spoiled(**conditions):
    names = (
        "low_power_mode",
        "thermal_worst",
        "throttle_reasons",
        "top_other_process_cpu_pct",
        "swap_used_start_bytes",
        "swap_used_end_bytes",
        "memory_pressure_worst",
        "gpu_other_processes",
        "clock_drift",
    )
    return spoiled_by(SimpleNamespace(**(dict.fromkeys(names) | conditions)))


def test_the_worst_heat_of_the_run_is_kept_beside_start_and_end():
    found = condition_fields(
        [
            moment(0, **CALM),
            moment(5, thermal="heavy"),
            moment(10, thermal="moderate"),
            moment(15, **CALM),
        ]
    )
    assert (found["thermal_start"], found["thermal_worst"], found["thermal_end"]) == (
        "nominal",
        "heavy",
        "nominal",
    )
    assert found["power_source"] == "ac"
    assert "thermal_worst" not in found["conditions_reasons"]


def test_every_null_has_its_reason():
    found = condition_fields(
        [moment(0, missing={"thermal": "Linux has no thermal pressure level"}), moment(9)]
    )
    nulls = {name for name, value in found.items() if value is None}
    assert nulls == set(found["conditions_reasons"])
    assert found["conditions_reasons"]["thermal_worst"] == "Linux has no thermal pressure level"


def test_a_run_that_died_early_has_its_start_and_says_what_it_lacks():
    found = condition_fields([moment(0, **CALM)])
    assert found["thermal_start"] == "nominal"
    assert found["thermal_end"] is None
    assert found["conditions_reasons"]["thermal_end"] == "the run ended before a second sample"
    assert condition_fields([])["conditions_reasons"]


def test_clocks_that_agree_do_not_drift_and_a_sleep_shows():
    assert clock_drift(moment(0), moment(60)) == 0
    slept = Sample(wall_s=1000.0 + 90, monotonic_s=50.0 + 60)
    assert clock_drift(moment(0), slept) == pytest.approx(0.5)
    assert clock_drift(moment(0), moment(0)) is None


def test_a_gpu_clock_is_that_of_the_run_and_not_of_its_idle_ends():
    clocks = [210.0, 1980.0, 1950.0, 1200.0, 210.0]
    found = condition_fields([moment(i, gpu_clock_mhz=clock) for i, clock in enumerate(clocks)])
    assert found["gpu_clock_mhz"] == {"median": 1950.0, "min": 1200.0}


def test_idle_is_no_throttle_reason_and_a_counter_that_moved_is_one():
    found = condition_fields(
        [
            moment(0, throttle_reasons=("gpu idle",), cpu_throttles=4),
            moment(5, throttle_reasons=("hw thermal slowdown",), cpu_throttles=6),
        ]
    )
    assert found["throttle_reasons"] == ["cpu thermal throttle", "hw thermal slowdown"]


def test_only_strangers_count_as_others_on_the_gpu():
    samples = [moment(0, gpu_pids=()), moment(1, gpu_pids=(7, 99)), moment(2, gpu_pids=(7,))]
    assert condition_fields(samples, own_pids=(7,))["gpu_other_processes"] == 1


def test_readings_without_a_value_leave_only_their_reason():
    sample = with_readings(moment(0), {"thermal": None, "missing.thermal": "why", "load1": 0.5, "unheard": 1})
    assert (sample.thermal, sample.load1, sample.missing) == (None, 0.5, {"thermal": "why"})


async def test_the_machine_that_runs_the_tests_can_be_sampled():
    sample = await sampled()
    assert sample.wall_s > 1e9
    assert sample.load1 is not None
    assert sample.power_source in {"ac", "battery", None}


def test_a_clean_run_is_not_spoiled_and_an_unread_condition_says_nothing():
    assert spoiled() == []
    assert (
        spoiled(
            low_power_mode=False,
            thermal_worst="nominal",
            throttle_reasons=["applications clocks setting", "sw power cap"],
            top_other_process_cpu_pct=12.0,
            swap_used_start_bytes=3_000_000_000,
            swap_used_end_bytes=3_100_000_000,
            memory_pressure_worst="normal",
            gpu_other_processes=0,
            clock_drift=0.0004,
        )
        == []
    )


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({"low_power_mode": True}, "Low power mode"),
        ({"thermal_worst": "heavy"}, "thermal pressure reached heavy"),
        ({"throttle_reasons": ["hw thermal slowdown"]}, "held down: hw thermal slowdown"),
        ({"throttle_reasons": ["cpu thermal throttle"]}, "cpu thermal throttle"),
        ({"swap_used_start_bytes": 0, "swap_used_end_bytes": 900_000_000}, "swapped 0.9 GB"),
        ({"memory_pressure_worst": "critical"}, "Memory pressure reached critical"),
        ({"top_other_process_cpu_pct": 97.3}, "97 % of a core"),
        ({"gpu_other_processes": 1}, "1 other process computed"),
        ({"gpu_other_processes": 3}, "3 other processes computed"),
        ({"clock_drift": 0.12}, "12.00%"),
        ({"clock_drift": -0.02}, "the machine slept, or its clock was set"),
    ],
)
def test_each_condition_that_spoils_a_run_is_one_sentence(conditions, words):
    (sentence,) = spoiled(**conditions)
    assert words in sentence
