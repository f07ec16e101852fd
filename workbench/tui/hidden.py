"""What stays hidden before a prediction is locked: earlier results of this checkpoint, and its kind's fits.

Every other screen that could give the number away asks here.
"""

import re
from dataclasses import dataclass

from msgspec.structs import replace

from workbench.checkpoint.model_config import view, view_gguf
from workbench.ledger.row import Row
from workbench.tui.desk import Desk


@dataclass(frozen=True, slots=True)
class Hidden:
    """The checkpoint that waits for its prediction: its name and kind; an empty one hides nothing."""

    model: str = ""
    kind: str = ""

    def __bool__(self) -> bool:
        return bool(self.model)

    def hides(self, model: str | None) -> bool:
        """Whether records of this model would give the number away; the publisher's name does not count."""
        return bool(self.model) and model is not None and _short(model) == _short(self.model)

    def hides_family(self, family: str) -> bool:
        """Whether a fit over this family would; mixtures and dense models of a kind hide each other."""
        kind = _plain(self.kind).removesuffix("text").removesuffix("moe")
        return bool(kind) and _plain(family).startswith(kind)

    def redacted(self, row: Row) -> Row:
        """The row as it may be shown and searched: without what was measured, if it is of this model."""
        if not self.hides(row.model):
            return row
        return replace(row, generation_tps=None, predicted_decode_tps=None, achieved_gbps=None, verdict=None)


def hidden_on(desk: Desk) -> Hidden:
    """What the desk hides: its checkpoint from the count on until a number is locked."""
    checkpoint = desk.checkpoint
    if checkpoint is None or desk.count is None or desk.locked:
        return Hidden()
    config = view(checkpoint.config) if checkpoint.gguf is None else view_gguf(checkpoint.gguf)
    return Hidden(desk.name, config.model_type or config.architecture)


def _short(model: str) -> str:
    return model.rsplit("/", 1)[-1].casefold()


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.casefold())
