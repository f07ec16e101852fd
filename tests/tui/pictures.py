"""Desks to be pictured: the source documents' 9B and mixture, in every state of a run, without a worker."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests import checkpoints
from tests.protocol.stage import NO_POWER, repeat
from tests.tui.graphs import agreeing
from workbench.accounting.engine import count
from workbench.analysis.verdict import judged
from workbench.checkpoint.checkpoint import State
from workbench.ledger.parts import LockedPrediction, NamedCeiling, NamedPrediction
from workbench.ledger.record import Record
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind, ceiling_tps
from workbench.protocol.plan import Plan, RunSettings
from workbench.protocol.run import Phase, Run, fold
from workbench.shelf.entries import Entry
from workbench.tui.app import WorkbenchApp
from workbench.tui.desk import Desk
from workbench.tui.options import Options
from workbench.worker import messages as m

SIZES = {"40x10": (40, 10), "80x24": (80, 24), "120x40": (120, 40), "160x50": (160, 50)}
SPEC = BandwidthFigure(819.0, BandwidthKind.SPEC, "Apple, M3 Ultra")
DENSE, MIXTURE = "mlx-Qwen3.5-9B-4bit", "mlx-Qwen3.5-35B-A3B-4bit"
STAMP = m.Stamp(device="Apple M3 Ultra", backend="metal", mlx="0.32.2", mlx_lm="0.32.2")


def sizes(*names):
    """A test for each of these sizes, without names for all."""
    return pytest.mark.parametrize("size", names or list(SIZES))


def entry(short, size, architecture, quantization="4-bit", experts=None, k=None, **changes):
    made = Entry(
        f"mlx-community/{short}",
        Path.home() / "models" / short,
        size,
        architecture,
        quantization,
        experts,
        k,
        State.COMPLETE,
    )
    return replace(made, **changes)


def entries():
    """A shelf with every state on it."""
    return [
        entry("Qwen3.5-0.8B-4bit", 625_000_000, "qwen3_5"),
        entry("Qwen3.5-9B-4bit", 5_950_000_000, "qwen3_5"),
        entry("Qwen3.5-35B-A3B-4bit", 20_392_000_000, "qwen3_5_moe", experts=256, k=8),
        entry(
            "DeepSeek-R1-4bit",
            301_000_000_000,
            "deepseek_v3",
            experts=256,
            k=8,
            state=State.INCOMPLETE,
            reason="model-00041-of-00088.safetensors is missing",
        ),
        entry(
            "Qwen3-8B-F16.gguf",
            16_388_000_000,
            "qwen3",
            "F16",
            state=State.NOT_LOADABLE,
            reason="mlx-lm does not decode GGUF: the count holds for llama.cpp",
        ),
        entry(
            "[red]\x1b[31mevil\u202e", 0, None, None, state=State.UNREADABLE, reason="config.json is no JSON"
        ),
        entry("dense-20mb", 19_805_000, "llama", "f32", name="synthetic/dense-20mb", synthetic=True),
        entry(
            "mixture-338mb",
            337_885_000,
            "qwen3_5_moe",
            "f32",
            128,
            2,
            name="synthetic/mixture-338mb",
            synthetic=True,
        ),
    ]


def counted(name=DENSE, rule="count"):
    """The desk after the count."""
    checkpoint = checkpoints.in_memory(name)
    made = count(checkpoint)
    plan = Plan(checkpoint, made, (SPEC,), rule=rule, settings=RunSettings(max_tokens=200, repeats=3))
    ready = fold(Run(plan), m.Ready(stamp=STAMP, pid=1))
    return Desk(
        name=name,
        checkpoint=checkpoint,
        count=made,
        looked=agreeing(made),
        figures=(SPEC,),
        rule=rule,
        plan=plan,
        run=ready,
    )


def locked(desk, *said):
    """The desk after a lock: (name, tok/s) pairs."""
    said = said or (("you", 143.0),)
    named = tuple(NamedPrediction(name, tps) for name, tps in said)
    locks = (LockedPrediction("2026-11-29T14:03:22.481+00:00", said[0][1]),)
    return replace(desk, run=replace(desk.run, phase=Phase.LOCKED, predictions=named, locks=locks))


def running(desk, tps, tokens=134):
    """The desk in the middle of the second repeat."""
    run = desk.run
    said = [
        m.Loading(at_ns=1),
        m.Loaded(load_s=1.0, prompt_sha256="", prompt_tokens=209),
        m.RepeatStarted(index=1, of=3),
    ]
    for n in range(2, tokens, 6):
        now = tps + (n * 7 % 11 - 5) * tps / 150
        said.append(
            m.Progress(index=1, tokens=n, elapsed_s=n / tps, tps_now=now, tps_mean=tps * (1 + 0.2 / n))
        )
    for report in said:
        run = fold(run, report)
    return replace(desk, run=run, measuring=True)


def ended(desk, tps):
    """The desk with its record, judged as every record is."""
    plan, run = desk.plan, running(desk, tps, 200).run
    ceiling = ceiling_tps(SPEC.gbps, plan.weight_bytes)
    error = tps / run.predictions[0].tps - 1
    record = Record(
        record_id="64bfa08c-0000-4000-8000-000000000000",
        run_group_id="g",
        experiment="single",
        status="measured",
        alias="office",
        device=STAMP.device,
        date="2026-11-29T14:03:40+00:00",
        macos="27.1",
        mlx=STAMP.mlx,
        mlx_lm=STAMP.mlx_lm,
        model=desk.name,
        rule=desk.rule,
        weight_bytes_total=desk.count.disk_bytes,
        weight_bytes_per_token=plan.weight_bytes,
        weight_bytes_experts=desk.count.seed.expert_bytes,
        weight_bytes_vision=desk.count.seed.vision_bytes,
        weight_bytes_embed=desk.count.seed.embedding_bytes,
        experts=desk.count.experts,
        experts_per_token=desk.count.experts_per_token,
        bandwidth_gbps=SPEC.gbps,
        bandwidth_kind="spec",
        bandwidth_source=SPEC.source,
        ceilings=[NamedCeiling(f"{SPEC.name}, {desk.rule}", SPEC.gbps, ceiling)],
        predicted_tps_human=run.predictions[0].tps,
        predicted_at="2026-11-29T14:03:22.481+00:00",
        loaded_at="2026-11-29T14:03:23.902+00:00",
        predictions=[NamedPrediction(p.name, p.tps, tps / p.tps - 1) for p in run.predictions],
        prediction_error=error,
        generation_tps=tps,
        repeats_tps=[tps * 1.002, tps, tps * 0.998],
        ttft_s=0.412,
        peak_memory_gb=5.21,
        generation_tokens=200,
        energy_unavailable_reason="No energy pass was asked for. Power sources here: powermetrics.",
    )
    repeats = tuple(repeat(i).repeat for i in range(3))
    run = replace(run, phase=Phase.ENDED, record=judged(record), repeats=repeats)
    return replace(desk, run=run, measuring=False)


def app_over(desk, monkeypatch, pane, **options):
    """An app that shows this desk, and what brings it there."""
    monkeypatch.setattr("workbench.shelf.entries.scan", lambda *_: iter(entries()))
    monkeypatch.setattr("workbench.power.choice.look", lambda *_: NO_POWER)
    monkeypatch.setattr("workbench.tui.app.LOOK_AFTER_S", 0.01)
    app = WorkbenchApp(Options(ledger=Path.home() / "ledger.jsonl", **options))

    async def put(pilot):
        while not app.main_screen.query("#entries"):
            await pilot.pause(0.01)
        table = app.main_screen.query_one("#entries")
        while table.line_count < len(entries()):
            await pilot.pause(0.01)
        while app.main_screen.conductor.found is None:  # a late answer would change the picture
            await pilot.pause(0.01)
        if desk is not None:
            app.main_screen.desk = desk
            app.main_screen.conductor.run = desk.run
            app.main_screen.paint()
            app.main_screen.show_pane(pane)
        await pilot.pause()
        await pilot.pause()

    return app, put
