"""Nothing on the machine: a synthetic checkpoint is built when it is chosen, and says what it is."""

import asyncio
import shutil

from tests.tui.desk_stage import pane_text, said, until
from workbench.errors import WorkerError
from workbench.protocol import prepare
from workbench.shelf.synthetic import path_of

NAME = "dense-20mb"


async def choose(app, pilot):
    """Enter on the first synthetic row."""
    table = app.main_screen.query_one("#entries")
    table.cursor = next(i for i in range(table.line_count) if table.row_at(i).name == f"synthetic/{NAME}")
    await pilot.press("1", "enter")


async def test_it_is_built_on_selection_with_a_line_that_says_so(desk, monkeypatch, tiny):
    go_on = asyncio.Event()

    async def ensure_built(names):
        assert list(names) == [f"synthetic/{NAME}"]
        await go_on.wait()
        shutil.copytree(tiny["tiny-1"], path_of(NAME))

    monkeypatch.setattr(prepare, "ensure_built", ensure_built)
    async with desk.open() as (app, pilot):
        await choose(app, pilot)
        await until(lambda: app.main_screen.desk.busy.startswith("building"))
        await pilot.pause()
        assert "building synthetic/dense-20mb" in pane_text(app, "#bytes")
        go_on.set()
        await until(lambda: app.main_screen.desk.count is not None)
        await pilot.pause()
        assert "is built: synthetic weights" in said(app)
        assert "synthetic" in pane_text(app, "#prediction")


async def test_a_build_that_fails_is_a_sentence_and_the_picker_goes_on(desk, monkeypatch):
    async def ensure_built(names):
        raise WorkerError("No MLX backend here.", "Install decode-workbench[cpu].", code="no_backend")

    monkeypatch.setattr(prepare, "ensure_built", ensure_built)
    async with desk.open() as (app, pilot):
        await choose(app, pilot)
        await until(lambda: app.main_screen.desk.problem is not None)
        await pilot.pause()
        assert "No MLX backend here." in said(app)
        assert "No MLX backend here." in pane_text(app, "#bytes")
        await pilot.press("1")
        assert app.focused.id == "entries"
