"""Power: which sources this machine has, or what was looked for and why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from widgets.fact_list import Fact, FactList

if TYPE_CHECKING:
    from workbench.power.choice import Choice


class PowerPane(VerticalScroll):
    """States sources with their scope; missing ones with the reason."""

    BORDER_TITLE = "5 power"

    def compose(self) -> ComposeResult:
        """One list."""
        yield FactList([Fact("", "", "looking for a power source ...")])

    def show(self, choice: Choice) -> None:
        """Show what was found."""
        from workbench.power.choice import METER_HELPS

        lines = [Fact(row.source, row.scope(), _cadence(row.cadence_s)) for row in choice.rows]
        if not choice.sources:
            lines.append(Fact("no source", "", METER_HELPS, mark=True))
        lines += [Fact(name, "", why) for name, why in choice.looked_for]
        self.query_one(FactList).show(lines)
        self.border_subtitle = f"{len(choice.rows)} rows" if choice.rows else "no source"


def _cadence(seconds: float) -> str:
    return f"every {seconds:g} s" if seconds else ""
