"""Bandwidth figures: offered by name, asked for where the chip is uncertain, probed by a key."""

import asyncio

import pytest

from tests.tui.desk_stage import (
    APPLE,
    DENSE,
    lock,
    pane_text,
    pick,
    run_to_end,
    said,
    screen_text,
    sees,
    until,
)
from workbench.errors import WorkerError
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.prediction.chips import figures_for
from workbench.protocol import bandwidths, prepare
from workbench.protocol.bandwidths import KnownFigures
from workbench.tui.offers import offers_of
from workbench.worker.messages import Probing

SPEC, THEORETICAL = figures_for("Apple M3 Ultra", 80, 512 * 2**30).figures
PROBED = BandwidthFigure(640.5, BandwidthKind.ACHIEVED, "workbench probe: sum float32, 2026-11-28")
UNCERTAIN = figures_for("Apple M3 Max")


@pytest.fixture
def known(monkeypatch):
    """What is known of this machine."""
    answer = [KnownFigures((SPEC, THEORETICAL, PROBED))]
    monkeypatch.setattr(bandwidths, "known_figures", lambda *_: answer[0])
    return answer


@pytest.fixture
def probe(monkeypatch):
    """A scripted probe."""

    class Probe:
        gate = None
        error = None
        cancelled = 0

        async def __call__(self, *, on_kernel, **_):
            on_kernel(Probing("sum, 2 streams", "uint32", 1, 2))
            try:
                if self.gate is not None:
                    await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            if self.error is not None:
                raise self.error
            return PROBED, None

    made = Probe()
    monkeypatch.setattr(prepare, "probe", made)
    return made


async def offered(app, pilot):
    """Open the box and wait for the list."""
    await pilot.press("b")
    await until(lambda: app.main_screen.query_one("#offers").display)
    await pilot.pause()


async def test_known_figures_are_offered_by_name_and_enter_takes_the_first(desk, known):
    async with desk.add(DENSE).open((160, 50)) as (app, pilot):
        await pick(app, pilot)
        await offered(app, pilot)
        shown = pane_text(app, "#prediction")
        for figure in (SPEC, THEORETICAL, PROBED):
            assert figure.name in shown
        assert f"enter takes {SPEC.name}" in shown
        assert "tok/s" not in shown.replace("tok/s (143)", "")
        await pilot.press("enter")
        await until(lambda: app.main_screen.desk.figures)
        assert app.main_screen.desk.figures == (SPEC, THEORETICAL, PROBED)
        assert not app.main_screen.query_one("#offers").display


async def test_a_figure_said_before_a_checkpoint_gives_the_keys_back(desk, known):
    known[0] = KnownFigures((), UNCERTAIN.question)
    async with desk.add(DENSE).open((80, 24)) as (app, pilot):
        await pilot.press("b", *"819", "enter")
        await until(lambda: app.main_screen.desk.figures)
        await pilot.press("1")
        await pick(app, pilot)
        assert [figure.gbps for figure in app.main_screen.desk.figures] == [819]
        assert app.main_screen.query_one("#figure").value == "819"


async def test_another_known_figure_becomes_the_principal_one(desk, known):
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await offered(app, pilot)
        await pilot.press("tab", "down", "down", "enter")
        await until(lambda: app.main_screen.desk.figures)
        assert app.main_screen.desk.figures == (PROBED, SPEC, THEORETICAL)
        await pilot.press("escape")
        await lock(app, pilot)
        await run_to_end(app, pilot)
    assert desk.records[0].bandwidth_kind == "achieved"
    assert [c.name.split(",")[0] for c in desk.records[0].ceilings][:3] == [
        PROBED.name,
        SPEC.name,
        THEORETICAL.name,
    ]


async def test_an_uncertain_chip_is_asked_about_with_its_candidates(desk, known):
    known[0] = KnownFigures((), UNCERTAIN.question, UNCERTAIN.candidates)
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await offered(app, pilot)
        await sees(app, "#prediction", "which one is this machine's?")
        offers = offers_of(known[0])
        assert len(offers) == len(UNCERTAIN.candidates) > 1
        await pilot.press("enter")
        assert app.main_screen.desk.figures == ()
        await pilot.press("tab", "down", "enter")
        await until(lambda: app.main_screen.desk.figures)
        assert app.main_screen.desk.figures == offers[1].figures


async def test_an_unknown_chip_asks_for_a_figure(desk, known):
    known[0] = KnownFigures((), figures_for("Apple M9", 10, 2**34).question)
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await pilot.press("b")
        await sees(app, "#prediction", "No figure of Apple's is known here")
        assert not app.main_screen.query_one("#offers").display


async def test_the_settings_figure_stands_and_the_others_wait_behind_the_box(desk, known):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await pilot.press("n")
        await until(lambda: app.main_screen.query_one("#offers").line_count == 3)
        assert not app.main_screen.query_one("#offers").display
        await pilot.press("escape", "b")
        await until(lambda: app.main_screen.query_one("#offers").display)
        assert app.main_screen.desk.figures == (APPLE,)


async def test_a_probe_says_how_far_it_is_and_its_figure_is_used(desk, probe):
    probe.gate = asyncio.Event()
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await until(lambda: not app.main_screen.desk.looking)
        await pilot.press("p")
        await sees(app, "#prediction", "bandwidth: 0 s of about 15 s")
        await sees(app, "#prediction", "1 s of about 15 s, sum, 2 streams uint32, 2 of 2")
        await pilot.press("r")
        assert "being probed" in said(app)
        await pilot.press("1", "enter")
        assert app.main_screen.desk.count is not None
        probe.gate.set()
        await until(lambda: app.main_screen.desk.figures == (PROBED,))
        await pilot.press("3")
        await pilot.pause()
        await sees(app, "#prediction", PROBED.name)


async def test_a_probe_can_be_stopped(desk, probe):
    probe.gate = asyncio.Event()
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await until(lambda: not app.main_screen.desk.looking)
        await pilot.press("p")
        await until(lambda: app.main_screen.desk.probing)
        await pilot.press("s")
        await until(lambda: not app.main_screen.desk.probing)
        assert probe.cancelled == 1
        assert app.main_screen.desk.figures == ()
        await pilot.pause()
        assert "probing" not in screen_text(app)


async def test_a_probe_that_fails_is_a_sentence(desk, probe):
    probe.error = WorkerError("The probe gave no figure.", "Try again.")
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await until(lambda: not app.main_screen.desk.looking)
        await pilot.press("p")
        await until(lambda: "The probe gave no figure." in said(app))
        assert not app.main_screen.desk.probing


async def test_no_probe_while_the_graph_is_being_read(desk, probe):
    desk.graph.gate = asyncio.Event()
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await pilot.press("p")
        assert "the decode graph is being read" in said(app)
        assert not app.main_screen.desk.probing


async def test_quitting_ends_a_probe(desk, probe):
    probe.gate = asyncio.Event()
    async with desk.open() as (app, pilot):
        await pilot.press("p", "q")
        await until(lambda: app._exit)
        assert probe.cancelled == 1


async def test_enter_takes_a_figure_and_locks_a_number(desk):
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        for key, text, words in (("b", "819", "(enter takes it)"), ("n", "143", "(enter locks)")):
            await pilot.press("escape", key)
            await pilot.press(*text)
            await sees(app, "#prediction", words)
            await pilot.press("enter")
