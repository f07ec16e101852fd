"""What the screens' tests stand on: real headers, the real protocol, a scripted worker, a fixed clock."""

import asyncio
from contextlib import asynccontextmanager

from tests import checkpoints
from tests.protocol.stage import NO_POWER, Hang, Stage, repeat, story
from tests.tui.graphs import ScriptedGraph
from workbench.ledger import store
from workbench.power import choice
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.protocol import witnessing
from workbench.settings import Settings
from workbench.tui import words
from workbench.tui.app import WorkbenchApp
from workbench.tui.options import Options
from workbench.worker import messages as m

APPLE = BandwidthFigure(819.0, BandwidthKind.SPEC, "Apple's page")
DENSE, MIXTURE = "mlx-Qwen3.5-9B-4bit", "mlx-Qwen3.5-35B-A3B-4bit"


def whole_run(tps=95.1, tokens=11):
    """A run that ends well, at `tps` tok/s."""
    done = []
    for index in range(2):
        times = [7_000_000 + round(i * 1e9 / tps) for i in range(tokens)]
        done.append(
            repeat(index, tokens=tokens, token_times_ns=times, tps_mlx_lm=tps * tokens / (tokens - 1))
        )
    return story(*done)


def half_run(tps=95.1, points=40):
    """A run that stands still in its first repeat."""
    said = whole_run()[:4]
    for i in range(points):
        said.append(
            m.Progress(index=0, tokens=2 + 4 * i, elapsed_s=i * 4 / tps, tps_now=tps + i % 5, tps_mean=tps)
        )
    return [*said, Hang()]


class DeskStage:
    """Makes apps. `script` is what the next workers say."""

    def __init__(self, home, monkeypatch, published):
        self.home = home
        self.published = published
        self.models = home / "models"
        self.models.mkdir()
        self.stage = Stage(home)
        self.script = whole_run()
        monkeypatch.setenv("HOME", str(home))
        self.graph = ScriptedGraph()
        monkeypatch.setattr(choice, "look", lambda *_: NO_POWER)
        monkeypatch.setattr(witnessing, "witness", self.graph.witness)
        monkeypatch.setattr(words, "clock", lambda _: "14:03:22Z")

    @property
    def records(self):
        """What the ledger holds."""
        return store.read(self.stage.ledger).records if self.stage.ledger.exists() else []

    def add(self, *names):
        """Make published checkpoints lie in the models directory."""
        for name in names:
            kept = self.published / name
            if not kept.exists():
                kept.mkdir()
                checkpoints.materialize(name, kept)
            made = next(kept.iterdir())
            (self.models / made.name).symlink_to(made)
        return self

    def add_damaged(self, name):
        """Make one lie there whose only shard is gone."""
        root = checkpoints.materialize(name, self.models)
        next(root.glob("*.safetensors")).unlink()
        return self

    def make(self, plan, *, on_change, options, power):
        """A measurement over a scripted worker."""
        return self.stage.make(plan, self.script, on_change=on_change, power=power or NO_POWER)

    def app(self, **changes):
        """An app over this desk that paints fast."""
        given = {
            "models": (self.models,),
            "ledger": self.stage.ledger,
            "hz": 20.0,
            "settings": Settings(tokens=200, repeats=2),
        }
        return WorkbenchApp(Options(**(given | changes)), self.make)

    @asynccontextmanager
    async def open(self, size=(120, 40), **changes):
        """A running app and its pilot, the picker filled."""
        app = self.app(**changes)
        async with app.run_test(size=size) as pilot:
            models = app.main_screen.query_one("#models")
            await until(lambda: not (models.border_subtitle or "so far").endswith("so far"))
            yield app, pilot


async def until(condition, seconds=10.0):
    """Wait for a condition, not for a time."""
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"never came true: {condition}")


def screen_text(app) -> str:
    """All rows of the terminal as they are painted."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def pane_text(app, selector) -> str:
    """What is painted of one pane, line breaks, borders and scroll bars taken out."""
    region = app.screen.query_one(selector).scrollable_content_region
    rows = app.screen._compositor.render_strips()[region.y : region.bottom]
    return " ".join(" ".join(row.crop(region.x, region.right).text for row in rows).split())


async def sees(app, selector, text, seconds=10.0):
    """Wait until a pane shows a text: what changed is painted a moment later."""
    for _ in range(int(seconds / 0.02)):
        if text in pane_text(app, selector):
            return
        await asyncio.sleep(0.02)
    assert text in pane_text(app, selector)


def said(app) -> str:
    """All notifications so far."""
    return "\n".join(notification.message for notification in app._notifications)


async def pick(app, pilot, name=DENSE):
    """Choose a checkpoint and wait for its count."""
    table = app.main_screen.query_one("#entries")
    table.cursor = next(i for i in range(table.line_count) if table.row_at(i).name == name)
    await pilot.press("1", "enter")
    await until(lambda: app.main_screen.desk.count is not None or app.main_screen.desk.problem is not None)
    await pilot.pause()


async def type_in(pilot, text):
    """Put a text into the box that has the focus, then press enter."""
    await pilot.pause()
    pilot.app.focused.value = text
    await pilot.press("enter")
    await pilot.pause()


async def lock(app, pilot, number="143", figure="819 spec Apple"):
    """Say a bandwidth and lock a number."""
    if not app.main_screen.desk.figures:
        await pilot.press("b")
        await type_in(pilot, figure)
    await pilot.press("escape", "n")
    await type_in(pilot, number)
    await until(lambda: app.main_screen.desk.locked)


async def run_to_end(app, pilot):
    """Press the run key and wait for the record."""
    await pilot.press("r")
    await until(lambda: app.main_screen.desk.record is not None and not app.main_screen.desk.running)
    await pilot.pause()
