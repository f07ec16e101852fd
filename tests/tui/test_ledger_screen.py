"""The ledger on the screen: find, show, set side by side, take back; whatever the file looks like."""

import errno
import json
import subprocess
import sys
import threading

import pytest
from msgspec.structs import replace

from tests.tui.desk_stage import APPLE, DENSE, pane_text, pick, said, screen_text, type_in, until
from tests.tui.office_ledger import MIXTURE, fill, office, record_id
from workbench.ledger import store
from workbench.ledger.table import load
from workbench.tui.ledger_rows import damage_words
from workbench.tui.screens import ledger as ledger_screen
from workbench.tui.screens.ledger import LedgerScreen


async def opened(app, pilot):
    """Open the ledger and wait for its rows."""
    await pilot.press("escape", "L")
    await until(lambda: isinstance(app.screen, LedgerScreen))
    await until(lambda: "record" in app.screen.query_one("#ledger").border_subtitle)
    await pilot.pause()
    return app.screen


def shown_ids(screen):
    return [screen.table.row_at(i).record_id[:8] for i in range(screen.table.line_count)]


async def test_the_newest_record_comes_first_and_damage_is_named_with_its_line(desk):
    fill(desk.stage.ledger)
    async with desk.open() as (app, pilot):
        ids = shown_ids(await opened(app, pilot))
        text = screen_text(app)
    assert ids[:2] == ["0000000a", "00000009"]
    assert len(ids) == 8  # the correction is shown at what it corrects
    assert "line 8 is damaged and left alone" in text
    assert "discarded" in text
    assert "8 records" in text


async def test_the_filter_narrows_while_typing_and_says_what_is_wrong(desk):
    fill(desk.stage.ledger)
    async with desk.open() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("slash", *"model:35b")
        await until(lambda: screen.table.line_count == 2)
        assert "2 of 8 records" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: screen.table.line_count == 8)
        await pilot.press("slash", *"colour:red")
        await until(lambda: "There is no filter colour" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: screen.table.line_count == 8)
        assert app.screen is screen  # escape left the filter, not the screen


async def test_enter_shows_the_card_and_r_the_report(desk):
    fill(desk.stage.ledger)
    async with desk.open((100, 50)) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("j", "enter")
        await pilot.pause()
        card = pane_text(app, "#card")
        await pilot.press("r")
        await pilot.pause()
        report = screen_text(app)
    assert "counting error" in card
    assert "! discarded" in card
    assert "the mixture reads 8 of 256 experts" in card
    assert "221.6 % of spec 819 GB/s, all-bytes" in card
    for item in ("device and source of its bandwidth", "runtime and commit", "peak memory", "interpretation"):
        assert item in report


async def test_the_order_of_lock_and_load_is_on_the_card(desk):
    fill(desk.stage.ledger)
    async with desk.open((100, 50)) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("j", "j", "enter")
        await pilot.pause()
        card = pane_text(app, "#card")
    assert "predicted at 2026-09-16T11:59:50.100+00:00; load began 2026-09-16T11:59:51.200+00:00" in card


async def test_two_marked_records_are_compared_field_by_field(desk):
    fill(desk.stage.ledger)
    async with desk.open() as (app, pilot):
        await opened(app, pilot)
        await pilot.press("equals_sign")
        await pilot.pause()
        assert "Mark two records first" in said(app)
        await pilot.press("j", "space", "j", "space", "equals_sign")
        await pilot.pause()
        text = " ".join(screen_text(app).split())
    assert "weight_bytes_per_token 20,391,405,152 1,659,035,776 0.081" in text
    assert "rule all-bytes count" in text


async def test_a_third_mark_takes_the_oldest_ones_place(desk):
    fill(desk.stage.ledger)
    async with desk.open() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("space", "j", "space", "j", "space")
        assert screen._marked == [record_id(9), record_id(6)]
        await pilot.press("space")
        assert screen._marked == [record_id(9)]


async def test_a_record_is_discarded_with_a_reason_and_nothing_is_rewritten(desk):
    ledger = fill(desk.stage.ledger)
    before = ledger.read_bytes()
    async with desk.open() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("j", "j", "d")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert "A record is discarded with a reason" in screen_text(app)
        await type_in(pilot, "  the fan\twas off ")
        await until(lambda: "Nothing was rewritten" in said(app))
        await until(lambda: record_id(6) in screen._table.discarded)
        await pilot.pause()
        assert screen.table.row_at(screen.table.cursor).record_id == record_id(6)  # the cursor stayed
    after = ledger.read_bytes()
    assert after.startswith(before)
    [appended] = [json.loads(line) for line in after[len(before) :].splitlines()]
    assert (appended["status"], appended["discards"]) == ("discarding", record_id(6))
    assert appended["reason"] == "the fan was off"


async def test_escape_discards_nothing(desk):
    ledger = fill(desk.stage.ledger)
    before = ledger.read_bytes()
    async with desk.open() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("d", *"no", "escape")
        await pilot.pause()
        assert app.screen is screen
    assert ledger.read_bytes() == before


async def test_a_full_disk_is_said_and_the_correction_is_kept_elsewhere(desk, monkeypatch):
    ledger = fill(desk.stage.ledger)

    def full(path, line, only_at):
        raise OSError(errno.ENOSPC, "No space left on device")

    async with desk.open() as (app, pilot):
        await opened(app, pilot)
        monkeypatch.setattr(store, "_append", full)
        await pilot.press("j", "j", "d")
        await pilot.pause()
        await type_in(pilot, "wrong model")
        await until(lambda: "the disk is full" in said(app))
        assert "is kept in" in said(app)
    kept = list(ledger.parent.glob("rescued-record-*.jsonl"))
    assert len(kept) == 1
    assert json.loads(kept[0].read_text())["reason"] == "wrong model"


async def test_a_read_only_ledger_refuses_in_words(desk):
    ledger = fill(desk.stage.ledger)
    async with desk.open() as (app, pilot):
        app.push_screen(LedgerScreen(app.options, read_only=True, note=" (replay)"))
        await until(lambda: "8 records" in screen_text(app))
        assert "ledger (replay)" in screen_text(app)
        await pilot.press("d")
        await pilot.pause()
        assert "nothing is appended" in said(app)
    assert len(store.read(ledger).records) == 9


async def test_what_another_program_appended_is_there_after_reading_again(desk):
    ledger = fill(desk.stage.ledger)
    async with desk.open() as (app, pilot):
        screen = await opened(app, pilot)
        code = (
            "import sys\nfrom pathlib import Path\nfrom tests.tui.office_ledger import DENSE, office\n"
            "from workbench.ledger.store import append\nappend(Path(sys.argv[1]), office(7, DENSE))"
        )
        subprocess.run([sys.executable, "-c", code, str(ledger)], check=True)
        await pilot.press("r")
        await until(lambda: screen.table.line_count == 9)
        assert shown_ids(screen)[0] == "00000007"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no records yet"),
        (b"\x00" * 4096 + b"\n", "zero bytes"),
        (b"\xff\xfe not text\n", "damaged"),
        (b'{"record_id": "x"}\n', "JSON but no record"),
        (b"[" * 2_000_000 + b"\n", "damaged"),
        (b'{"record_id": "' + b"x" * 10_000_000, "damaged"),
    ],
    ids=["empty", "zeros", "not utf-8", "no record", "nested", "10 MB torn line"],
)
async def test_no_file_breaks_the_screen(desk, content, words):
    desk.stage.ledger.write_bytes(content)
    async with desk.open() as (app, pilot):
        await opened(app, pilot)
        await until(lambda: words in screen_text(app))
        await pilot.press("j", "enter", "space", "d", "slash", "escape")
        await pilot.pause()
        assert isinstance(app.screen, LedgerScreen)


async def test_a_ten_megabyte_record_is_shown_and_opened(desk):
    long = office(3, MIXTURE, reason="r" * 10_000_000)
    store.append(desk.stage.ledger, long)
    async with desk.open((100, 50)) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert "89.1 tok/s" in screen_text(app)
        await pilot.press("y")
        await pilot.pause()
        assert "Not copied: the line has 10,00" in said(app)
        assert not app.clipboard


async def test_a_folder_in_the_ledgers_place_is_said_to_be_none(desk):
    desk.stage.ledger.mkdir()
    async with desk.open() as (app, pilot):
        await pilot.press("escape", "L")
        await until(lambda: "is not a regular file" in screen_text(app))


def test_many_damaged_lines_are_counted():
    assert damage_words([]) == []
    words = damage_words([(n, "the line is no JSON") for n in range(1, 1_001)])
    assert words[0] == "line 1 is damaged and left alone: the line is no JSON"
    assert words[-1] == "and 997 more damaged lines: `workbench ledger verify` lists them"


async def test_a_hundred_thousand_records_open_at_once_and_only_rows_in_sight_are_drawn(desk, monkeypatch):
    line = (
        b'{"record_id":"%036d","run_group_id":"g","experiment":"single","status":"measured","verdict":"ok",'
        b'"date":"2026-09-15T12:00:00Z","alias":"office","model":"Qwen3.5-9B-4bit","generation_tps":95.1}\n'
    )
    lines = [line % n for n in range(100_000)]
    lines[54_321] = lines[54_321].replace(b"Qwen3.5-9B-4bit", b"needle")
    desk.stage.ledger.write_bytes(b"".join(lines))
    go_on = threading.Event()
    monkeypatch.setattr(ledger_screen, "load", lambda path: go_on.wait(10) and load(path))
    async with desk.open() as (app, pilot):
        await pilot.press("escape", "L")
        await until(lambda: "reading" in screen_text(app))  # the screen is there before the file was read
        screen, drawn = app.screen, []
        go_on.set()
        original = screen._cells
        screen._cells = lambda row: drawn.append(row) or original(row)
        await until(lambda: "100,000 records" in screen_text(app))
        await pilot.press("G")
        await pilot.pause()
        assert screen.table.row_at(screen.table.cursor).record_id == "0" * 36
        assert 0 < len(drawn) < 500
        await pilot.press("slash", *"needle")
        await until(lambda: screen.table.line_count == 1)


async def test_before_the_lock_a_filter_finds_nothing_that_was_measured_of_this_checkpoint(desk):
    desk.add(DENSE)
    store.append(desk.stage.ledger, replace(office(4, "Qwen3.5-9B-4bit"), model=f"mlx-community/{DENSE}"))
    store.append(desk.stage.ledger, office(2, "Qwen3.5-2B-4bit"))
    async with desk.open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        screen = await opened(app, pilot)
        assert "hidden" in screen_text(app)
        await pilot.press("slash", *"verdict:ok")
        await until(lambda: screen.table.line_count == 1)
        assert "95.1" not in screen_text(app)
        await pilot.press("escape", "j", "space", "k", "space", "equals_sign")
        await pilot.pause()
        assert "Lock your number first" in said(app)
