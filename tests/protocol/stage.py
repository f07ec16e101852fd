"""What the protocol's tests stand on: a small plan, a scripted worker, a still machine."""

import asyncio
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from workbench.accounting.count import Count, RoleTotals, Row, SeedCount
from workbench.accounting.roles import Role
from workbench.checkpoint.checkpoint import Checkpoint, Tensor, WeightFile
from workbench.errors import WorkerError
from workbench.machine.processes import ProcessorTimes
from workbench.machine.sample import Sample
from workbench.power.choice import Choice, LookedFor
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.protocol.plan import Plan, RunSettings
from workbench.protocol.steps import Measurement
from workbench.protocol.watch import Watch
from workbench.worker import messages as m

STAMP = m.Stamp(device="Test Chip", backend="cpu", mlx="0.32.4", mlx_lm="0.32.2", transformers="5.24.0")
SPEC = BandwidthFigure(8.0, BandwidthKind.SPEC, "the vendor's page")
NO_POWER = Choice((), (LookedFor("battery", "there is none"),))
MS = 1_000_000


def checkpoint(name="tiny", **changes):
    """A checkpoint of one 4 MB matrix and a 1 MB vision tower."""
    made = Checkpoint(
        path=Path("/nowhere") / name,
        name=name,
        format="safetensors",
        config={"model_type": "llama", "architectures": ["LlamaForCausalLM"]},
        files=(WeightFile("model.safetensors", 5_000_400),),
        tensors=(
            Tensor("w", "F32", (1000, 1000), 4_000_000, 0),
            Tensor("v", "F32", (500, 500), 1_000_000, 0),
        ),
    )
    return replace(made, **changes)


def count(**changes):
    """Its count: 4 MB per token."""
    made = Count(
        runtime="mlx-lm 0.32.2",
        rows=(
            Row(
                "w", "F32", (1000, 1000), 4_000_000, 4_000_000, 4_000_000, 0, Role.MLP, Fraction(1), "matrix"
            ),
            Row("v", "F32", (500, 500), 1_000_000, 0, 0, 0, Role.VISION, Fraction(0), "vision"),
        ),
        disk_bytes=5_000_000,
        resident_bytes=4_000_000,
        weight_bytes=4_000_000,
        lookup_bytes=0,
        by_role={
            Role.MLP: RoleTotals(4_000_000, 4_000_000, 4_000_000),
            Role.VISION: RoleTotals(1_000_000, 0, 0),
        },
        tied=True,
        experts=0,
        experts_per_token=0,
        seed=SeedCount(5_000_000, 1_000_000, 0, 0, True, 0, 0, 4_000_000),
        findings=(),
    )
    return replace(made, **changes)


def plan(name="tiny", **changes):
    """A plan of two repeats of 11 tokens; its spec ceiling is 2,000 tok/s."""
    settings = changes.pop(
        "settings", RunSettings(prompt_tokens=5, max_tokens=11, warmup_tokens=2, repeats=2)
    )
    made = Plan(checkpoint(name), count(), bandwidths=(SPEC,), settings=settings)
    return replace(made, **changes)


def repeat(index=0, *, step_ms=10, tokens=11, **changes):
    """One repeat at a steady pace: 10 ms a token are 100 tok/s."""
    made = m.Repeat(
        index=index,
        ttft_s=0.05,
        prompt_tps=100.0,
        token_times_ns=[7 * MS + i * step_ms * MS for i in range(tokens)],
        peak_memory_gb=0.5,
        tps_mlx_lm=110.0,
    )
    return m.RepeatDone(m.Repeat(**({f: getattr(made, f) for f in made.__struct_fields__} | changes)))


def story(*repeats):
    """What a decode worker says after its request, from load to finish."""
    said = [
        m.Loading(at_ns=2_000_000_000_000_000_000),
        m.Loaded(load_s=0.2, prompt_sha256="ab" * 32, prompt_tokens=5),
        m.Warmed(passes=1, tokens=2, tps=90.0),
    ]
    for done in repeats or (repeat(0), repeat(1)):
        index = done.repeat.index
        said += [
            m.RepeatStarted(index=index, of=2),
            m.Progress(index=index, tokens=1, elapsed_s=0.0, tps_now=120_000.0, tps_mean=120_000.0),
            m.Progress(index=index, tokens=6, elapsed_s=0.05, tps_now=100.0, tps_mean=100.0, text="ab"),
            done,
        ]
    return [*said, m.Finished()]


class Die:
    """In a script: the worker dies here."""


class Hang:
    """In a script: the worker says nothing more until it is stopped."""


class ScriptedWorker:
    """A worker that says its script. `events` is shared with spies: what happened, in order."""

    def __init__(self, script, events=None, ready=None, pid=4242):
        self.pid = pid
        self.script = script
        self.events = [] if events is None else events
        self.ready = ready or m.Ready(stamp=STAMP, pid=pid)
        self.request = None
        self.hanging = asyncio.Event()
        self.stopped = asyncio.Event()
        self._asked = asyncio.Event()

    @property
    def running(self):
        return not self.stopped.is_set()

    async def send(self, request):
        self.events.append(("send", type(request).__name__))
        self.request = request
        self._asked.set()

    async def reports(self):
        yield self.ready
        await self._wait(self._asked)
        for said in self.script:
            await asyncio.sleep(0)
            if self.stopped.is_set():
                return
            if isinstance(said, Die):
                raise WorkerError("The decode worker was killed (SIGKILL).", "Try again.", code="worker_died")
            if isinstance(said, Hang):
                self.hanging.set()
                await self.stopped.wait()
                return
            self.events.append(("said", type(said).__name__))
            yield said

    async def stop(self):
        if not self.stopped.is_set():
            self.events.append(("stop", ""))
        self.stopped.set()

    async def _wait(self, event):
        waits = {asyncio.ensure_future(e.wait()) for e in (event, self.stopped)}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()


class Stage:
    """Makes measurements over scripted workers, with a ledger and locks of their own."""

    def __init__(self, folder):
        self.ledger = folder / "ledger.jsonl"
        self.locks = folder / "locks"
        self.events = []
        self.workers = []
        self.scripts = []

    def make(self, a_plan=None, script=None, **changes):
        """A measurement whose worker says `script` (default: a whole run)."""
        self.scripts.append(story() if script is None else script)
        given = {
            "spawn": self.spawn,
            "watch": Watch(sample=still, processes=nobody),
            "power": NO_POWER,
            "ledger": self.ledger,
            "locks": self.locks,
        }
        return Measurement(a_plan or plan(), **(given | changes))

    async def spawn(self, job):
        self.events.append(("spawn", job))
        self.workers.append(ScriptedWorker(self.scripts[len(self.workers)], self.events))
        return self.workers[-1]

    def spawn_that_says(self, *first_words):
        """Spawns these workers' first words one after the other, then the usual one."""
        words = iter(first_words)

        async def spawn(job):
            worker = await self.spawn(job)
            worker.ready = next(words, worker.ready)
            return worker

        return spawn


async def still(*, gpu, brief):
    """A machine where nothing changes."""
    return Sample(wall_s=1000.0, monotonic_s=10.0, thermal="nominal", load1=0.1, swap_used_bytes=0)


def nobody():
    """A machine without other processes."""
    return ProcessorTimes(10.0)
