"""The doors out of the main screen: which screen a key opens there, or why it stays shut.

Screens that open rarely are imported when they open: the first one owes them nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


DOORS: Mapping[str, Callable[[MainScreen], None]] = {
    "card": card,
    "everybody": everybody,
    "compare": compare,
    "witness": witness,
    "energy": energy,
}
"""By the action's id."""
