"""The doors out of the main screen: which screen a key opens there, or why it stays shut.

Screens that open rarely are imported when they open: the first one owes them nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.shelf.entries import Entry
    from workbench.tui.screens.main import MainScreen

NO_CHECKPOINT = "choose a checkpoint first (1, then enter)"


def card(main: MainScreen) -> None:
    """The last record as a card."""
    if main.desk.record is not None:
        from workbench.tui.screens.card import CardScreen

        main.app.push_screen(CardScreen(main.desk.record, options=main.options, note=main.note))


def everybody(main: MainScreen) -> None:
    """Everybody's place, once the number is there."""
    record = main.desk.record
    if record is None or record.generation_tps is None or not record.predictions:
        main.refuse("a ranking needs predictions and a measured run")
        return
    from workbench.tui.screens.round import RoundScreen

    main.app.push_screen(RoundScreen(record, note=main.note))


def compare(main: MainScreen) -> None:
    """Set another checkpoint beside this one."""
    if main.desk.count is None:
        main.refuse(NO_CHECKPOINT)
        return
    from workbench.tui.screens.compare import CompareScreen

    main.app.push_screen(CompareScreen(main))


def witness(main: MainScreen) -> None:
    """Count against graph."""
    if main.desk.count is None:
        main.refuse(NO_CHECKPOINT)
        return
    from workbench.tui.screens.witness import WitnessScreen

    main.app.push_screen(WitnessScreen(main.desk.name, main.desk.count, main.desk.looked))


def energy(main: MainScreen) -> None:
    """Ask how long an energy pass shall be."""
    found = main.conductor.found
    if main.desk.running:
        main.refuse("a run is going: its energy pass was said before it")
        return
    if found is None:
        main.refuse("the power sources are still being looked for")
        return
    from workbench.tui.screens.energy import EnergyScreen

    main.app.push_screen(EnergyScreen(found, main.desk.energy), main.wish_energy)


def ladder(main: MainScreen) -> None:
    """The marked checkpoints, one prediction each; what is on the desk is laid aside."""
    from workbench.tui.panes.models_pane import ModelsPane

    marked = main.query_one(ModelsPane).marked
    if len(marked) < 2:
        main.refuse("mark two checkpoints at least for a ladder (1, then m on each)")
    else:
        open_ladder(main, marked)


def open_ladder(main: MainScreen, entries: list[Entry], said: Sequence[str] = ()) -> bool:
    """Open a ladder over these checkpoints, or say why not; `said` are numbers that were said already."""
    desk = main.desk
    if desk.running or desk.probing:
        main.refuse("a run or a probe is going: s stops it")
    elif desk.locked and desk.record is None:
        main.refuse(f"a number is locked for {desk.name}: run it (r), or start over (a)")
    elif desk.looking:
        main.refuse("the decode graph is being read: a moment, or s to do without it")
    else:
        opening = _laid_ladder(main, entries, said)
        main.run_worker(opening, group="ladder", exclusive=True, exit_on_error=False)
        return True
    return False


async def _laid_ladder(main: MainScreen, entries: list[Entry], said: Sequence[str]) -> None:
    from workbench.tui.climb import Climb
    from workbench.tui.screens.ladder import LadderScreen

    def left(_: None) -> None:
        for rung in climb.rungs:
            main.pair.note_record(rung.name, rung.record)
        if main.desk.plan is not None and main.desk.record is None:
            main.plan_again()

    if main.desk.record is None:
        await main.conductor.close()
    make = partial(main.make, options=main.options, power=main.conductor.found)
    climb = Climb(
        entries, main.options, make, main.post_message, figures=main.desk.figures, rule=main.desk.rule
    )
    for index, text in enumerate(said):
        if text:
            climb.say(index, text)
    screen = LadderScreen(climb, hz=main.options.paint_hz, blind=main.options.blind)
    main.app.push_screen(screen, left)


DOORS: Mapping[str, Callable[[MainScreen], None]] = {
    "card": card,
    "everybody": everybody,
    "compare": compare,
    "witness": witness,
    "energy": energy,
    "ladder": ladder,
}
"""By the action's id."""
