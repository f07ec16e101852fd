"""Conditions watched around a run, and sleep held off while it lasts."""

import asyncio
import os
import sys

from tests.protocol.stage import nobody
from workbench.machine.processes import ProcessorTimes
from workbench.machine.sample import Sample
from workbench.protocol.awake import Awake
from workbench.protocol.watch import Watch


class Machine:
    """A machine with a script of thermal levels, one for each sample."""

    def __init__(self, *levels):
        self.levels = list(levels)
        self.asked = []
        self.enough = asyncio.Event()

    async def sample(self, *, gpu, brief):
        self.asked.append((gpu, brief))
        if len(self.asked) >= 4:
            self.enough.set()
        level = self.levels[min(len(self.asked), len(self.levels)) - 1]
        at = float(len(self.asked))
        return Sample(wall_s=100.0 + at, monotonic_s=at, thermal=level)


async def test_the_machine_is_sampled_before_during_and_after():
    machine = Machine("nominal", "nominal", "heavy", "heavy", "moderate")
    watch = Watch(machine.sample, nobody, every_s=0.001)
    await watch.look()
    await watch.begin(77, gpu=True)
    await machine.enough.wait()
    await watch.end()
    fields = watch.fields
    assert (fields["thermal_start"], fields["thermal_worst"], fields["thermal_end"]) == (
        "nominal",
        "heavy",
        "moderate",
    )
    assert fields["clock_drift"] == 0
    assert machine.asked[:3] == [(False, False), (True, False), (True, True)]
    assert machine.asked[-1] == (True, False)


async def test_a_stop_key_does_not_wait_for_a_last_sample():
    machine = Machine("nominal")
    watch = Watch(machine.sample, nobody)
    await watch.look()
    await watch.begin(77, gpu=False)
    await watch.end(sample=False)
    assert len(machine.asked) == 2
    assert watch.fields["thermal_end"] is None
    await watch.end()
    assert len(machine.asked) == 2


async def test_the_busiest_stranger_counts_and_the_run_itself_does_not():
    looks = iter(
        [
            ProcessorTimes(0.0, {(77, 0.0): 0.0, (5, 0.0): 0.0, (os.getpid(), 0.0): 0.0}),
            ProcessorTimes(10.0, {(77, 0.0): 10.0, (5, 0.0): 1.0, (os.getpid(), 0.0): 9.0}),
            ProcessorTimes(20.0, {(77, 0.0): 20.0, (5, 0.0): 7.0, (os.getpid(), 0.0): 18.0}),
        ]
    )
    watch = Watch(Machine("nominal").sample, lambda: next(looks))
    await watch.look()
    assert watch.fields["top_other_process_cpu_pct"] is None
    assert watch.fields["conditions_reasons"]["top_other_process_cpu_pct"]
    await watch.begin(77, gpu=False)
    assert watch.fields["top_other_process_cpu_pct"] == 10.0
    await watch.end()
    assert watch.fields["top_other_process_cpu_pct"] == 60.0


async def test_a_run_that_never_began_has_its_first_look():
    watch = Watch(Machine("moderate").sample, nobody)
    assert watch.fields["conditions_reasons"]
    await watch.look()
    assert watch.fields["thermal_start"] == "moderate"
    await watch.end()
    assert watch.fields["thermal_end"] is None


async def test_sleep_is_held_off_by_caffeinate_and_let_go_again(tmp_path, monkeypatch):
    told = tmp_path / "told"
    fake = tmp_path / "caffeinate"
    fake.write_text(f'#!/bin/sh\necho "$@" > {told}.part && mv {told}.part {told}\nexec sleep 60\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    awake = Awake(platform="darwin")
    assert await awake.hold(4242)
    while not told.exists():
        await asyncio.sleep(0.005)
    assert told.read_text().split() == ["-i", "-w", "4242"]
    process = awake._process
    await awake.release()
    assert process.returncode is not None
    await awake.release()


async def test_without_caffeinate_or_elsewhere_nothing_is_started(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not await Awake(platform="darwin").hold(4242)
    (tmp_path / "caffeinate").write_text("no program")
    (tmp_path / "caffeinate").chmod(0o755)
    assert not await Awake(platform="darwin").hold(4242)
    assert not await Awake(platform="linux").hold(4242)
    assert sys.platform in {"linux", "darwin"}
