"""Each condition that spoils a run, from what the system says of it to the record and the verdict's sentence.

The systems are recorded or made: programs on PATH that print what a Mac prints, a tree of /sys and /proc, an
NVIDIA driver's module, two clocks. The run itself is the scripted one, at 5 % of its ceiling.
"""

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.machine.test_linux_readings import CPU, write
from tests.machine.test_macos_readings import PMSET_DESKTOP, PMSET_OLD
from tests.machine.test_nvidia_readings import Driver
from tests.protocol.stage import nobody, repeat, still, story
from tests.protocol.test_steps import ledger_of, run_of
from workbench.machine import linux, nvidia, sample
from workbench.machine.processes import ProcessorTimes
from workbench.machine.sample import Sample, with_readings
from workbench.protocol.watch import Watch

THERMAL = "com.apple.system.thermalpressurelevel"
MEMORY = "vm.swapusage: total = 8192.00M  used = {}M  free = 1.00M\nkern.memorystatus_vm_pressure_level: {}"
CALM = {
    "notifyutil": [f"{THERMAL} 0"],
    "sysctl": [MEMORY.format("100.00", 1)],
    "pmset": [PMSET_DESKTOP + "Now drawing from 'AC Power'\n"],
}

PRINT = 'while IFS= read -r line; do echo "$line"; done < "$0.$n"\n'
ONE = f"#!/bin/sh\nn=0\n{PRINT}"
SEVERAL = (
    '#!/bin/sh\nn=0; [ -f "$0.calls" ] && read n < "$0.calls"\necho $((n + 1)) > "$0.calls"\n'
    f'[ "$n" -gt {{last}} ] && n={{last}}\n{PRINT}'
)


@pytest.fixture
def mac(tmp_path, monkeypatch):
    """`mac(pmset=[...])`: a Mac whose programs print these texts, one a call, the last one ever after."""

    def made(**said):
        for name, texts in (CALM | said).items():
            for number, text in enumerate(texts):
                (tmp_path / f"{name}.{number}").write_text(text + "\n")
            program = tmp_path / name
            program.write_text(ONE if len(texts) == 1 else SEVERAL.format(last=len(texts) - 1))
            program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(sample, "sys", SimpleNamespace(platform="darwin"))
        return sample.sampled

    return made


async def judged(stage, sampler, processes=nobody, script=None):
    """The run's record as the ledger has it."""
    await run_of(stage.make(script=script, watch=Watch(sample=sampler, processes=processes)))
    (record,) = ledger_of(stage)
    assert record.status == "measured"
    assert record.generation_tps is not None
    return record


def spoiled(record, words):
    assert record.verdict == "spoiled"
    assert record.verdict_reasons[0].startswith(words), record.verdict_reasons
    return True


async def test_a_calm_mac_spoils_nothing(stage, mac):
    record = await judged(stage, mac())
    assert record.verdict == "ok"
    assert (record.thermal_worst, record.power_source) == ("nominal", "ac")
    assert record.conditions_reasons["gpu_other_processes"] == (
        "macOS does not tell who else computes on the GPU"
    )


@pytest.mark.parametrize(
    ("said", "field", "value", "words"),
    [
        ({"pmset": [PMSET_OLD]}, "low_power_mode", True, "Low power mode was on."),
        (
            *({"notifyutil": [f"{THERMAL} 0", f"{THERMAL} 0", f"{THERMAL} 2"]}, "thermal_worst", "heavy"),
            "The machine ran hot: thermal pressure reached heavy.",
        ),
        (
            *({"sysctl": [*[MEMORY.format("100.00", 1)] * 2, MEMORY.format("1500.00", 1)]},),
            *("swap_used_end_bytes", 1500 * 2**20, "The system swapped 1.5 GB out during the run."),
        ),
        (
            *({"sysctl": [MEMORY.format("100.00", 2)]}, "memory_pressure_worst", "warning"),
            "Memory pressure reached warning.",
        ),
    ],
)
async def test_what_a_mac_says_of_itself_spoils_its_run(stage, mac, said, field, value, words):
    record = await judged(stage, mac(**said))
    assert getattr(record, field) == value
    assert spoiled(record, words)


async def test_a_processor_that_throttled_on_the_way_spoils_the_run(stage, tmp_path):
    count = iter("44444")

    async def linux_machine(*, gpu, brief):
        root = write(tmp_path, {f"{CPU}/cpu0/thermal_throttle/package_throttle_count": next(count, "9")})
        return with_readings(Sample(wall_s=1.0, monotonic_s=1.0), linux.readings(root))

    record = await judged(stage, linux_machine)
    assert record.verdict == "ok"
    record = await run_of(stage.make(watch=Watch(sample=linux_machine, processes=nobody)))
    assert record.throttle_reasons == ["cpu thermal throttle"]
    assert spoiled(record, "The clocks were held down: cpu thermal throttle.")


async def test_a_hot_and_shared_gpu_spoils_the_run(stage):
    async def gpu_machine(*, gpu, brief):
        return with_readings(
            await still(gpu=gpu, brief=brief), nvidia.readings(Driver(absent=False, shy=False))
        )

    record = await judged(stage, gpu_machine)
    assert (record.throttle_reasons, record.gpu_other_processes) == (["hw thermal slowdown"], 2)
    assert spoiled(record, "The clocks were held down: hw thermal slowdown.")
    assert "2 other processes computed on the same GPU." in record.verdict_reasons


async def test_a_machine_that_slept_spoils_the_run(stage):
    walls = iter([1000.0, 1000.0, 4600.0])
    ticks = iter([10.0, 10.0, 20.0])

    async def asleep(*, gpu, brief):
        return replace(
            await still(gpu=gpu, brief=brief), wall_s=next(walls, 4600.0), monotonic_s=next(ticks, 20.0)
        )

    record = await judged(stage, asleep)
    assert record.clock_drift == pytest.approx(359.0)
    assert spoiled(
        record, "Wall clock and monotonic clock differ by 35900.00% over the run: the machine slept"
    )


async def test_a_process_that_was_stopped_at_a_token_spoils_the_run(stage):
    paused = repeat(0, token_times_ns=[10_000_000 * i + (10**10 if i > 5 else 0) for i in range(11)])
    record = await judged(stage, still, script=story(paused, repeat(1)))
    assert record.inter_token_ms.max == pytest.approx(10_010)
    assert spoiled(record, "One token took 10.0 s, the median one 10 ms: the run was suspended")


async def test_a_busy_stranger_spoils_the_run(stage):
    looks = iter(
        ProcessorTimes(at_s, {(5, 0.0): used}) for at_s, used in ((0, 0.0), (10, 0.1), (20, 9.8), (30, 9.9))
    )
    record = await judged(stage, still, processes=lambda: next(looks, ProcessorTimes(30.0)))
    assert record.top_other_process_cpu_pct == 97.0
    assert spoiled(record, "Another process used 97 % of a core.")
