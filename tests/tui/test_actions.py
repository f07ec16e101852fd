"""One list of actions feeds keys, hints, palette, help and README."""

import importlib
import inspect
import pkgutil
from typing import get_args

import pytest
from textual.app import App
from textual.screen import Screen

from tests.readme_tables import keys_table
from tests.tui.desk_stage import APPLE, DENSE, pick, until
from widgets.key_hints import KeyHints
from workbench import tui
from workbench.tui.actions import ACTIONS, MAX_HINTS, Where, action, key_name
from workbench.tui.bindings import bindings, hints
from workbench.tui.screens.fit import FitScreen
from workbench.tui.screens.help import HelpScreen, help_facts
from workbench.tui.screens.people import PeopleScreen

PLACES = get_args(Where)


def doors_and_screens():
    """Every app and screen class of the screens."""
    for module in pkgutil.walk_packages(tui.__path__, "workbench.tui."):
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(one, App | Screen):
                yield one


def test_every_action_has_its_method_somewhere():
    methods = {name for one in doors_and_screens() for name in dir(one) if name.startswith("action_")}
    missing = [one.id for one in ACTIONS if f"action_{one.call.split('(')[0]}" not in methods]
    assert missing == []


def test_ids_are_unique():
    assert len({one.id for one in ACTIONS}) == len(ACTIONS)


@pytest.mark.parametrize("place", [place for place in PLACES if place != "everywhere"])
def test_no_key_means_two_things_in_one_place(place):
    keys = [key for one in ACTIONS if one.where in (place, "everywhere") for key in one.keys]
    assert len(set(keys)) == len(keys)


def test_help_and_readme_name_every_action_but_going_back_and_its_command():
    facts = [(fact.label, fact.value, fact.note) for facts in help_facts().values() for fact in facts]
    table = keys_table()
    for one in ACTIONS:
        if one.keys == ("escape",):
            continue
        assert (one.shown_keys, one.help, f"(workbench {one.twin})" if one.twin else "") in facts
        assert one.help in table
        if one.twin:
            assert f"`workbench {one.twin}`" in table


def test_the_readme_names_the_screen_of_a_key_once_and_leaves_out_keys_that_only_go_back():
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in keys_table().splitlines()[2:]]
    screens = [row[0].strip("*") for row in rows if row[0]]
    assert screens == ["main", "ledger", "ladder", "card", "fit", "compare", "replay", "everywhere"]
    assert "esc" not in [row[1] for row in rows]


def test_a_hint_row_has_at_most_six_hints():
    assert len(hints(one.id for one in ACTIONS)) == MAX_HINTS == 6


def test_every_binding_has_the_actions_id_so_that_settings_can_move_it():
    ids = {binding.id for place in PLACES for binding in bindings(place) if not binding.priority}
    assert ids == {one.id for one in ACTIONS} - {"interrupt"}


def test_keys_are_written_as_people_write_them():
    assert [key_name(k) for k in ("slash", "question_mark", "ctrl+c", "f5", "escape", "r")] == [
        "/", "?", "^c", "F5", "esc", "r",
    ]  # fmt: skip
    assert action("run").shown_keys == "r, F5"


async def test_another_key_from_the_settings_runs_the_action(desk):
    from workbench.settings import Settings

    async with desk.open(settings=Settings(keys={"help": "h"})) as (app, pilot):
        await pilot.press("h")
        await pilot.pause()
        assert type(app.screen).__name__ == "HelpScreen"
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.main_screen


async def test_the_palette_lists_the_actions_of_the_screen(desk):
    async with desk.open() as (app, _):
        titles = {command.title for command in app.get_system_commands(app.screen)}
    assert {"run", "probe", "ledger", "theme", "quit"} <= titles


async def click_hint(app, pilot, row, label):
    """Click the hint with this label."""
    hints = app.screen.query(row).last(KeyHints)
    await pilot.click(hints, offset=(hints.render_line(0).text.index(f" {label} ") + 1, 0))
    await pilot.pause()


async def test_a_click_on_a_hint_does_what_its_key_does_on_every_screen(desk):
    async with desk.add(DENSE).open(size=(80, 24)) as (app, pilot):
        await click_hint(app, pilot, "#tabs", "power")
        assert app.screen.query_one("#power").has_class("-current")
        await click_hint(app, pilot, "#hints", "help")
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape")
        await pilot.press("F")
        await until(lambda: isinstance(app.screen, FitScreen))
        await click_hint(app, pilot, "KeyHints", "people")
        await until(lambda: isinstance(app.screen, PeopleScreen))
        await click_hint(app, pilot, "KeyHints", "back")
        assert isinstance(app.screen, FitScreen)
        await pilot.press("escape")
        await click_hint(app, pilot, "#hints", "quit")
        assert app._leaving


async def test_in_a_box_the_hints_are_those_of_the_box_and_a_click_on_them_works(desk):
    async with desk.add(DENSE).open(size=(80, 24), bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await pilot.press("n", *"143")
        row = app.screen.query_one("#hints")
        assert " ".join(row.render_line(0).text.split()) == "enter take it esc leave the box ^q quit"
        await click_hint(app, pilot, "#hints", "take it")
        await until(lambda: app.main_screen.desk.locked)
        await until(lambda: " run " in row.render_line(0).text)
        await pilot.press("n")
        await click_hint(app, pilot, "#hints", "leave the box")
        await until(lambda: app.screen.focused is None)
