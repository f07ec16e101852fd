"""What the screens are started with. Plain data, no Textual: the command line fills it in."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from workbench.accounting.overrides import Override
from workbench.prediction.ceiling import BandwidthFigure
from workbench.settings import Settings

LOCAL_HZ = 4.0
SSH_HZ = 2.0


@dataclass(frozen=True, slots=True)
class Options:
    """One start of the screens. What is None here comes from the user's settings, then from the defaults.

    `models` are directories looked through besides the caches; `ledger` None is the user's own. `checkpoint`
    is picked at once, by name or path; `prediction` stands in its box already, not locked. `hz` is how often
    a run is painted; `blind` paints nothing during a run. `bandwidths` makes ceilings, the principal first;
    `overrides` go over the rules of every checkpoint that has the tensors they name.
    """

    models: tuple[Path, ...] = ()
    ledger: Path | None = None
    checkpoint: str | None = None
    prediction: str | None = None
    bandwidths: tuple[BandwidthFigure, ...] = ()
    rule: str = "count"
    overrides: tuple[Override, ...] = ()
    demo: bool = False
    blind: bool = False
    hz: float | None = None
    theme: str | None = None
    mouse: bool = True
    command: tuple[str, ...] = ("workbench",)
    settings: Settings = field(default_factory=Settings)

    @property
    def paint_hz(self) -> float:
        """How often a run is painted: as wished, else 4 a second, over SSH 2."""
        default = SSH_HZ if os.environ.get("SSH_CONNECTION") else LOCAL_HZ
        return self.hz or self.settings.hz or default

    @property
    def figures(self) -> tuple[BandwidthFigure, ...]:
        """The bandwidth figures to start with."""
        return self.bandwidths or self.settings.bandwidth
