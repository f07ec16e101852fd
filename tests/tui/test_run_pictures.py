"""Pictures of what a run shows: seals, figures to choose from, verdicts with their company, ladder, power."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.tui.contrast import unreadable
from tests.tui.graphs import agreeing, differing, unwitnessed
from tests.tui.pictures import MIXTURE, SPEC, app_over, counted, ended, entries, locked, running, sizes
from tests.tui.powers import STATES, state
from workbench.accounting.engine import count
from workbench.accounting.overrides import Override
from workbench.analysis.reference import Beside, office_beside
from workbench.ledger.parts import PowerReading
from workbench.power.choice import Choice, LookedFor
from workbench.power.external import Typed
from workbench.prediction.ceiling import BandwidthFigure, BandwidthKind
from workbench.prediction.chips import figures_for
from workbench.protocol.bandwidths import KnownFigures
from workbench.tui.climb import Climb
from workbench.tui.desk import plan_of
from workbench.tui.energy_wish import EnergyWish
from workbench.tui.panes.figure_box import FigureBox
from workbench.tui.panes.power_pane import PowerPane
from workbench.tui.rungs import Rung
from workbench.tui.screens.energy import EnergyScreen
from workbench.tui.screens.ladder import LadderScreen
from workbench.tui.themes import THEMES

pytestmark = pytest.mark.usefixtures("at_home")

PROBED = BandwidthFigure(641.3, BandwidthKind.ACHIEVED, "workbench probe: sum float32, 2000 MB, 2026-11-28")
SEALS = {
    "looking": lambda _: None,
    "agrees": agreeing,
    "differs": lambda count: differing(count, "mlp.down_proj", "lm_head"),
    "not witnessed": unwitnessed,
}


def sealed(name, desk=None):
    """A desk with this seal; its plan takes the graph's word."""
    desk = desk or counted()
    desk = replace(desk, looked=SEALS[name](desk.count), plan=None)
    plan = plan_of(desk, options())
    return replace(desk, plan=plan, run=replace(desk.run, plan=plan))


def overridden():
    """A desk whose head a person reads by half."""
    given = Override("*lm_head.*", "the vendor's loader keeps half of it on the CPU", None, Fraction(1, 2))
    desk = counted()
    found = count(desk.checkpoint, (given,))
    plan = replace(desk.plan, count=found)
    return replace(desk, count=found, plan=plan, run=replace(desk.run, plan=plan))


def options():
    from workbench.tui.options import Options

    return Options()


async def settle(pilot):
    for _ in range(3):
        await pilot.pause()


@pytest.mark.parametrize("name", SEALS)
@sizes("80x24")
def test_seal(picture, size, name):
    picture(sealed(name), size)


@sizes("80x24", "160x50")
def test_the_graph_is_in_force(picture, size):
    picture(locked(sealed("differs")), size)


@sizes("80x24", "160x50")
def test_an_override_is_in_force(picture, size):
    picture(locked(overridden()), size)


@sizes("160x50")
def test_an_override_in_the_tree(picture, size):
    picture(overridden(), size, "bytes")


@sizes("80x24", "160x50")
def test_three_accounts_in_the_tree(picture, size):
    picture(sealed("differs", counted(MIXTURE)), size, "bytes")


@sizes("40x10", "80x24", "160x50")
def test_tensors_that_differ(picture, size):
    async def press(_, pilot):
        await pilot.press("w")
        await settle(pilot)

    picture(sealed("differs"), size, before=press)


@sizes("80x24")
def test_no_tensor_differs(picture, size):
    async def press(_, pilot):
        await pilot.press("w")
        await settle(pilot)

    picture(sealed("agrees", counted(MIXTURE)), size, before=press)


def offering(known):
    async def press(app, pilot):
        app.main_screen.query_one("#figure Input").focus()
        app.main_screen.query_one(FigureBox).offer(known)
        await settle(pilot)

    return press


@sizes("80x24", "160x50")
def test_known_figures(picture, size):
    known = KnownFigures((*figures_for("Apple M3 Ultra", 80, 512 * 2**30).figures, PROBED))
    desk = replace(counted(), figures=(), plan=None, run=None)
    picture(desk, size, before=offering(known))


@sizes("80x24")
def test_an_uncertain_chip(picture, size):
    answer = figures_for("Apple M3 Max")
    desk = replace(counted(), figures=(), plan=None, run=None)
    picture(desk, size, before=offering(KnownFigures((), answer.question, answer.candidates)))


@sizes("80x24")
def test_probing(picture, size):
    async def press(app, pilot):
        app.main_screen.set_timer = None
        app.main_screen.probe._task, app.main_screen.probe._began_s = Going(), 100.0
        app.main_screen.probe._monotonic_s = lambda: 104.0
        app.main_screen.tick()
        await settle(pilot)
        app.main_screen.probe.stop = nothing

    picture(replace(counted(), figures=(), plan=None, run=None), size, before=press)


class Going:
    """A task that goes on."""

    def done(self):
        return False


async def nothing():
    return None


def energetic(record):
    """The record with an energy pass."""
    valid = PowerReading(
        source="powermetrics",
        scope="SoC CPU+GPU+ANE, Apple estimate, no DRAM",
        window_s=44.0,
        window_tokens=4180,
        samples=176,
        mean_w=98.4,
        idle_w=11.2,
        mwh_per_token_gross=0.2877,
        mwh_per_token_net=0.255,
        j_per_token_gross=1.036,
        tps_in_window=95.0,
        claim="valid",
    )
    plug = PowerReading(
        source="external",
        scope="external meter, typed: Shelly plug, the Mac without its monitor",
        window_s=44.0,
        samples=1,
        mean_w=131.0,
        mwh_per_token_gross=0.383,
        j_per_token_gross=1.379,
        tps_in_window=95.0,
        claim="indicative",
        claim_reasons=["one typed figure"],
    )
    from msgspec.structs import replace as revised

    return revised(record, power=[valid, plug], energy_unavailable_reason=None)


def in_company(desk):
    """The verdict with the rows beside it, and energy."""
    desk = ended(locked(desk), 95.1)
    own = Beside("Qwen3-14B-MLX-4bit", "office", "2026-11-20", 7_800_000_000, 55.2, "spec 819 GB/s", 0.526)
    rows = (*office_beside(desk.plan.weight_bytes), own)
    return replace(desk, run=replace(desk.run, record=energetic(desk.record)), beside=rows)


@sizes("80x24", "120x40", "160x50")
def test_verdict_in_company(picture, size):
    picture(in_company(sealed("agrees")), size)


@sizes("80x24")
def test_verdict_in_company_further_down(picture, size):
    async def press(_, pilot):
        await pilot.press("end")
        await settle(pilot)

    picture(in_company(sealed("agrees")), size, before=press)


@sizes("80x24")
def test_energy_readings(picture, size):
    picture(in_company(sealed("agrees")), size, "power")


@pytest.mark.parametrize("name", STATES)
@sizes("80x24")
def test_power(picture, size, name):
    async def press(app, pilot):
        app.main_screen.query_one(PowerPane).show_live(state(name))
        await settle(pilot)

    picture(replace(locked(counted()), energy=EnergyWish(44.0)), size, "power", press)


@sizes("160x50")
def test_power_beside_the_plot(picture, size):
    async def press(app, pilot):
        app.main_screen.query_one(PowerPane).show_live(state("valid"))
        await settle(pilot)

    picture(running(locked(counted()), 95.1), size, "run", press)


@sizes("80x24")
def test_no_power_source(picture, size):
    picture(counted(), size, "power")


@sizes("80x24")
def test_energy_dialogue(picture, size):
    async def press(app, pilot):
        found = Choice((Typed(85.0, "Shelly plug"),), (LookedFor("powermetrics", "it needs root"),))
        app.push_screen(EnergyScreen(found, EnergyWish(44.0, 20.0)))
        await settle(pilot)

    picture(counted(), size, before=press)


def rung(desk, **changes):
    plan = replace(desk.plan, experiment="ladder") if desk.plan is not None else None
    made = Rung(desk.name, desk.path, False, desk.checkpoint, desk.count, desk.looked, plan, desk.run)
    return replace(made, **changes)


def climbs():
    """A ladder while numbers are said, while it is climbed, and at its end."""
    small, mixture = counted("mlx-Qwen3.5-0.8B-4bit"), counted(MIXTURE)
    dense = sealed("differs")
    broken = Rung("Llama-3.2-1B", None, problem="model.safetensors is cut off after 1.1 GB")
    return {
        "open": (rung(locked(small, ("you", 900.0))), rung(dense), rung(mixture), broken),
        "climbing": (
            rung(ended(locked(small, ("you", 900.0)), 338.0)),
            rung(running(locked(dense), 79.1)),
            rung(locked(mixture, ("you", 300.0))),
            broken,
        ),
        "ended": (
            rung(ended(locked(small, ("you", 900.0)), 338.0)),
            rung(ended(locked(dense), 79.1)),
            rung(ended(locked(mixture, ("you", 300.0)), 890.0)),
            broken,
        ),
    }


def ladder_screen(app, stage):
    """A ladder that stands still at this stage."""
    climb = Climb(entries()[:1], app.options, None, app.post_message, figures=(SPEC,))
    climb.rungs = climbs()[stage]
    climb.climbing, climb.ended = stage == "climbing", stage == "ended"
    climb.lay = climb.close = nothing
    return LadderScreen(climb, hz=4, blind=False)


@pytest.mark.parametrize("stage", ["open", "climbing", "ended"])
@sizes("80x24", "160x50")
def test_ladder(picture, size, stage):
    async def press(app, pilot):
        screen = ladder_screen(app, stage)
        app.push_screen(screen)
        await settle(pilot)
        screen.table.cursor = 2 if stage == "ended" else 1
        await settle(pilot)

    picture(None, size, before=press)


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
async def test_text_is_readable_on_every_screen_of_a_run(theme, monkeypatch):
    app, put = app_over(sealed("differs"), monkeypatch, "prediction", theme=theme)
    async with app.run_test(size=(160, 50)) as pilot:
        await put(pilot)
        for show in (stalled, witness, ladder):
            show(app)
            await settle(pilot)
            assert unreadable(app) == [], show.__name__
            if app.screen is not app.main_screen:
                app.pop_screen()
                await settle(pilot)


def stalled(app):
    app.main_screen.query_one(PowerPane).show_live(state("stalled"))


def witness(app):
    app.main_screen.action_open_door("witness")


def ladder(app):
    app.push_screen(ladder_screen(app, "ended"))
