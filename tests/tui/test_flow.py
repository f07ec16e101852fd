"""The protocol driven through the screens: pick, count, predict, lock, run, verdict."""

import pytest

from tests.protocol.stage import Die
from tests.tui.desk_stage import (
    APPLE,
    DENSE,
    MIXTURE,
    half_run,
    lock,
    pane_text,
    pick,
    run_to_end,
    said,
    screen_text,
    sees,
    type_in,
    until,
    whole_run,
)
from widgets.byte_tree import ByteTree
from workbench.errors import WorkerError
from workbench.worker import messages as m


async def test_from_the_picker_to_a_record(desk):
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        assert "4.466 GB" in screen_text(app)
        await lock(app, pilot)
        assert desk.stage.events.count(("send", "DecodeRequest")) == 0
        await run_to_end(app, pilot)
        shown = screen_text(app)
    [record] = desk.records
    assert record.status == "measured"
    assert record.predicted_tps_human == 143
    assert record.predicted_at < record.loaded_at
    assert record.bandwidth_gbps == 819
    assert record.bandwidth_source == "Apple"
    assert round(record.generation_tps, 1) == 95.1
    assert "52 %" in shown
    assert "33.5 % below it" in shown


async def test_the_run_key_does_nothing_before_a_lock_and_says_why(desk):
    async with desk.add(DENSE).open() as (app, pilot):
        await pilot.press("r")
        assert "choose a checkpoint first" in said(app)
        await pick(app, pilot)
        await pilot.press("r")
        assert "no bandwidth figure" in said(app)
        await pilot.press("b")
        await type_in(pilot, "819 spec Apple")
        await pilot.press("escape", "r")
        assert "no prediction is locked" in said(app)
        assert "run is off: no prediction is locked" in pane_text(app, "#prediction")
        assert app.main_screen.desk.run.load_begun is False
    assert desk.records == []


async def test_a_lock_may_be_corrected_until_the_model_loads(desk):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot, "100")
        await pilot.press("n")
        await type_in(pilot, "120")
        await until(lambda: len(app.main_screen.desk.run.locks) == 2)
        assert "correction 1" in screen_text(app)
        await run_to_end(app, pilot)
    assert [one.tps for one in desk.records[0].locks] == [100, 120]


async def test_a_class_locks_several_named_numbers(desk):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot, "ana=120 bo=300")
        assert "locked ana 120.0, bo 300.0 tok/s" in pane_text(app, "#prediction")
        await run_to_end(app, pilot)
    assert [(p.name, p.tps) for p in desk.records[0].predictions] == [("ana", 120), ("bo", 300)]


async def test_the_stop_key_leaves_a_cancelled_record(desk):
    desk.script = half_run()
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await pilot.press("r")
        await until(lambda: app.main_screen.desk.run.now is not None)
        await pilot.press("s")
        await until(lambda: app.main_screen.desk.record is not None and not app.main_screen.desk.running)
        assert "cancelled" in screen_text(app)
    assert [record.status for record in desk.records] == ["cancelled"]


async def test_ctrl_c_stops_a_run_and_a_second_one_quits(desk):
    desk.script = half_run()
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await pilot.press("r")
        await until(lambda: app.main_screen.desk.run.now is not None)
        await pilot.press("ctrl+c")
        await until(lambda: app.main_screen.desk.record is not None)
        await pilot.press("ctrl+c")
        await until(lambda: app._exit)
    assert [record.status for record in desk.records] == ["cancelled"]


async def test_quitting_during_a_run_keeps_its_record(desk):
    desk.script = half_run()
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await pilot.press("r")
        await until(lambda: app.main_screen.desk.run.now is not None)
        await pilot.press("q")
        await until(lambda: app._exit)
    assert [record.status for record in desk.records] == ["cancelled"]
    assert desk.stage.workers[0].stopped.is_set()


async def test_a_dying_worker_is_said_and_another_run_can_start(desk):
    desk.script = [*half_run()[:-1], Die()]
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await run_to_end(app, pilot)
        assert "killed" in screen_text(app)
        desk.script = whole_run()
        await pilot.press("a")
        await lock(app, pilot, "95")
        await run_to_end(app, pilot)
    assert [record.status for record in desk.records] == ["failed", "measured"]


async def test_a_model_that_does_not_load_is_a_sentence_and_the_app_lives_on(desk):
    desk.script = [
        m.Loading(at_ns=2_000_000_000_000_000_000),
        m.Failed("not_loadable", "mlx-lm cannot load it.", "Update."),
    ]
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await run_to_end(app, pilot)
        assert pane_text(app, "#prediction").count("mlx-lm cannot load it") == 1
        assert app.main_screen.query_one("#steps").states[3] == "failed"


async def test_a_worker_without_libraries_is_a_notification_and_a_new_start_is_possible(desk):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)

        async def none(job):
            raise WorkerError("No MLX backend here.", "Install decode-workbench[cpu].", code="no_backend")

        desk.make = lambda plan, **given: desk.stage.make(plan, [], on_change=given["on_change"], spawn=none)
        app.main_screen.conductor._make = desk.make
        await app.main_screen.conductor.close()
        app.main_screen._plan()
        await pilot.press("n")
        await until(lambda: "No MLX backend here." in said(app))
        assert app.main_screen.desk.plan is not None


@pytest.mark.parametrize(
    ("name", "reason"), [("gguf-Qwen3-8B-F16", "GGUF"), ("mlx-Qwen3.5-9B-4bit", "incomplete")]
)
async def test_what_cannot_run_is_counted_and_the_run_key_says_why(desk, name, reason):
    desk.add_damaged(name) if reason == "incomplete" else desk.add(name)
    async with desk.open(bandwidths=(APPLE,)) as (app, pilot):
        table = app.main_screen.query_one("#entries")
        assert table.row_at(0).state != "complete"
        await pilot.press("1", "enter")
        await until(lambda: not app.main_screen.desk.busy)
        await pilot.press("r")
        assert reason in said(app)
        await pilot.press("n")
        await type_in(pilot, "100")
        assert not app.main_screen.desk.locked
    assert desk.records == []


async def test_a_checkpoint_without_weights_says_why_in_the_place_of_its_tree(desk):
    async with desk.add_damaged("mlx-Llama-3.2-1B-Instruct-4bit").open() as (app, pilot):
        await pilot.press("1", "enter")
        await sees(app, "#bytes", "model.safetensors")
        assert "esc clears the filter" not in pane_text(app, "#bytes")


async def test_another_checkpoint_gives_up_the_lock_and_keeps_its_record(desk):
    async with desk.add(DENSE, MIXTURE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await pick(app, pilot, MIXTURE)
        assert not app.main_screen.desk.locked
        assert "1.659 GB" in screen_text(app)
    assert [(r.model, r.status) for r in desk.records] == [(DENSE, "cancelled")]


async def test_no_other_checkpoint_is_taken_during_a_run(desk):
    desk.script = half_run()
    async with desk.add(DENSE, MIXTURE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await pilot.press("r")
        await until(lambda: app.main_screen.desk.run.now is not None)
        app.main_screen.query_one("#entries").cursor = 1
        await pilot.press("1", "enter")
        assert "a run is going" in said(app)
        assert app.main_screen.desk.name == DENSE


async def test_a_checkpoint_named_at_the_start_is_picked_and_its_number_waits(desk):
    desk.add(DENSE)
    async with desk.open(checkpoint=DENSE, prediction="143", bandwidths=(APPLE,)) as (app, pilot):
        await until(lambda: app.main_screen.desk.count is not None)
        await pilot.press("n")
        assert not app.main_screen.desk.locked
        await pilot.press("enter")
        await until(lambda: app.main_screen.desk.locked)
        assert app.main_screen.desk.run.predictions[0].tps == 143


async def test_blind_paints_nothing_of_a_run(desk):
    desk.script = half_run()
    async with desk.add(DENSE).open(bandwidths=(APPLE,), blind=True) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await pilot.press("r")
        await until(lambda: app.main_screen.desk.run.now is not None)
        await pilot.pause(0.1)
        shown = screen_text(app)
    assert "blind" in shown
    assert "95.1" not in shown


async def test_the_first_token_spike_is_never_painted(desk):
    desk.script = [*whole_run()[:5], *half_run()[-1:]]
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await pilot.press("r")
        await until(lambda: app.main_screen.desk.run.now is not None)
        await pilot.pause(0.1)
        shown = screen_text(app)
    assert "token 1/200" in shown
    assert "120,000" not in shown


async def test_the_tree_folds_filters_and_changes_its_order(desk):
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        tree = app.main_screen.query_one(ByteTree)
        await pilot.press("2")
        first = [tree.node_at(i).name for i in range(tree.line_count)]
        await pilot.press("o")
        await pilot.pause()
        assert [tree.node_at(i).name for i in range(tree.line_count)] != first
        await pilot.press("slash", *"vision")
        await pilot.pause()
        assert "vision_tower" in screen_text(app)
        assert " of 1,260 tensors" in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "1,260 tensors" in screen_text(app)


async def test_the_tensor_under_the_cursor_is_explained_by_its_rule(desk):
    async with desk.add(DENSE).open() as (app, pilot):
        await pick(app, pilot)
        await pilot.press("2", "slash", *"lm_head", "enter", "G")
        await pilot.pause()
        shown = " ".join(screen_text(app).split())
    assert "head H" in shown
    assert "share 1" in shown


async def test_the_picker_filters(desk):
    async with desk.add(DENSE, MIXTURE).open() as (app, pilot):
        await pilot.press("slash", *"35b")
        await pilot.pause()
        table = app.main_screen.query_one("#entries")
        assert [table.row_at(i).name for i in range(table.line_count)] == [MIXTURE]
        await pilot.press("escape")
        await pilot.pause()
        assert table.line_count > 2


async def test_nothing_on_the_machine_offers_the_synthetic_ones(desk):
    async with desk.open() as (app, _):
        shown = screen_text(app)
    assert "synthetic/" in shown


async def test_the_card_and_the_ledger_show_the_record(desk):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await run_to_end(app, pilot)
        await pilot.press("c")
        await pilot.pause()
        assert "load began" in screen_text(app)
        await pilot.press("escape", "L")
        await until(lambda: "1 record" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "measurement" in screen_text(app))
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main_screen)


async def test_a_models_folder_that_is_not_there_is_said(desk):
    async with desk.add(DENSE).open(models=(desk.models, desk.home / "mistyped")) as (app, _):
        await until(lambda: "mistyped cannot be looked through" in said(app))
        assert app.main_screen.query_one("#entries").row_at(0).name == DENSE
