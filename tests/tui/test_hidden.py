"""On the painted screen: nothing before the lock gives the ceiling or an older result away."""

import re

import pytest

from tests.tui.desk_stage import APPLE, DENSE, lock, pick, run_to_end, said, screen_text, until
from workbench.prediction.ceiling import ceiling_tps

CEILING = f"{ceiling_tps(819, 4_466_059_264):.0f}"


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_ceiling_is_nowhere_before_the_lock_and_there_after_it(desk, size):
    async with desk.add(DENSE).open(size, bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        seen = ""
        for key in "12345":
            await pilot.press("escape", key)
            await pilot.pause()
            seen += screen_text(app)
        assert "819" in seen
        assert "4.466 GB" in seen
        assert CEILING == "183"
        assert "183" not in seen
        assert not re.search(r"\d tok/s", seen)
        await lock(app, pilot)
        await pilot.press("3")
        await pilot.pause()
        assert "183.4 tok/s" in screen_text(app)


async def test_earlier_results_of_this_checkpoint_are_hidden_in_the_ledger_until_the_lock(desk):
    async with desk.add(DENSE).open(bandwidths=(APPLE,)) as (app, pilot):
        await pick(app, pilot)
        await lock(app, pilot)
        await run_to_end(app, pilot)
        await pilot.press("a", "escape", "L")
        await until(lambda: DENSE in screen_text(app))
        assert "95.1" not in screen_text(app)
        assert "hidden" in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "Lock your number first" in said(app)
        await pilot.press("escape")
        await lock(app, pilot)
        await pilot.press("L")
        await until(lambda: "95.1" in screen_text(app))
