"""A person's overrides on the screens: applied, shown, never hiding what the rules say, stamped."""

from fractions import Fraction

from tests.tui.desk_stage import APPLE, DENSE, MIXTURE, lock, pane_text, pick, run_to_end, sees, until
from workbench.accounting.overrides import Override
from workbench.accounting.roles import Role
from workbench.cli import main
from workbench.ledger.words import rate

BY_RULES = 4_465_912_320
HEAD = Override("*lm_head.*", "the vendor keeps it on the CPU", Role.HEAD, Fraction(1, 2))
ELSEWHERE = Override("draft.*", "of another checkpoint", share=Fraction(0))


async def counted(app):
    """Wait until the bytes are counted and the graph has spoken."""
    await until(lambda: app.main_screen.desk.looked is not None)


async def test_an_override_is_shown_with_what_the_rules_say_and_stamped(desk):
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,), overrides=(HEAD, ELSEWHERE)) as (
        app,
        pilot,
    ):
        await pick(app, pilot)
        await counted(app)
        weight_bytes = app.main_screen.desk.weight_bytes
        assert weight_bytes < BY_RULES
        await sees(app, "#prediction", "by your override; the rules say 4.466 GB")
        await sees(app, "#prediction", "head, share 1/2 (3 tensors): the vendor keeps it on the CPU")
        await sees(app, "#prediction", "The override of draft.* names no tensor of this checkpoint.")
        await sees(app, "#prediction", "✓ count and graph agree: 4.466 GB")
        await sees(app, "#bytes", "H lm_head *")
        assert rate(819e9 / BY_RULES) not in pane_text(app, "#prediction")
        await lock(app, pilot)
        await sees(app, "#prediction", f"{rate(819e9 / BY_RULES)} tok/s without your override")
        await sees(app, "#prediction", f"{rate(819e9 / weight_bytes)} tok/s")
        await run_to_end(app, pilot)
    [record] = desk.records
    assert (record.in_force, record.weight_bytes_per_token) == ("override", weight_bytes)
    assert record.weight_bytes_per_token_without_overrides == BY_RULES
    assert record.witness.bytes_per_token == BY_RULES
    assert record.overrides[0]["reason"] == HEAD.reason
    assert "spec 819 GB/s, count without overrides" in [one.name for one in record.ceilings]


async def test_an_override_of_another_checkpoints_tensors_leaves_the_graph_in_force(desk):
    desk.graph.twice = ("mlp.down_proj",)
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,), overrides=(ELSEWHERE,)) as (app, pilot):
        await pick(app, pilot)
        await counted(app)
        await until(lambda: app.main_screen.desk.plan.in_force == "graph")
        await sees(app, "#prediction", "the ceiling uses the graph")


async def test_an_override_outranks_a_graph_that_differs(desk):
    desk.graph.twice = ("mlp.down_proj",)
    async with desk.add(DENSE).open((160, 50), bandwidths=(APPLE,), overrides=(HEAD,)) as (app, pilot):
        await pick(app, pilot)
        await counted(app)
        assert app.main_screen.desk.plan.in_force == "override"
        await sees(app, "#prediction", "✗ count and graph differ: 4.466 GB and")
        await sees(app, "#prediction", "the ceiling uses the override")
        await pilot.press("w")
        await pilot.pause()
        await sees(app, "#accounts", "head, share 1/2 (3 tensors)")
        await sees(app, "#accounts", "count 4.466 GB")


async def test_a_ladder_and_a_second_checkpoint_are_overridden_too(desk):
    async with desk.add(DENSE, MIXTURE).open((160, 50), bandwidths=(APPLE,), overrides=(HEAD,)) as (
        app,
        pilot,
    ):
        table = app.main_screen.query_one("#entries")
        for name in (DENSE, MIXTURE):
            table.cursor = next(i for i in range(table.line_count) if table.row_at(i).name == name)
            await pilot.press("1", "m")
        await pick(app, pilot, DENSE)
        await counted(app)
        await pilot.press("v")
        await until(lambda: type(app.screen).__name__ == "ChooseScreen")
        choices = app.screen.query_one("#choices")
        choices.cursor = next(i for i in range(choices.line_count) if choices.row_at(i).name == MIXTURE)
        await pilot.press("enter")
        await until(lambda: app.main_screen.pair.second is not None)
        await until(lambda: app.main_screen.pair.second.count is not None)
        assert app.main_screen.pair.second.count.is_overridden
        await pilot.press("escape", "M")
        await until(lambda: type(app.screen).__name__ == "LadderScreen")
        climb = app.screen.climb
        await until(lambda: climb.is_laid)
        assert [rung.plan.in_force for rung in climb.rungs] == ["override", "override"]
        await sees(app, "#rung-facts", "head, share 1/2 (3 tensors)")


def test_the_door_reads_the_file_before_any_screen_opens(tmp_path, monkeypatch, capsys):
    shown = []
    monkeypatch.setattr("workbench.cli.console.is_terminal", lambda _: True)
    monkeypatch.setattr("workbench.cli.screens.require_capable_terminal", lambda: None)
    monkeypatch.setattr("workbench.tui.app.run", lambda options: shown.append(options) or 0)
    file = tmp_path / "overrides.toml"
    assert main(["--overrides", str(file)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    file.write_text('[[override]]\ntensors = "lm_head.*"\nshare = "1/2"\nreason = "a test"\n')
    for words in (["--overrides", str(file)], ["demo", "--overrides", str(file)]):
        assert main(words) == 0
        assert shown.pop().overrides == (Override("lm_head.*", "a test", None, Fraction(1, 2)),)
