"""What the screens' workers report. Workers touch no widget: they post these, and handlers own the state."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:  # names only: the rooms load when their work begins
    from workbench.accounting.count import Count
    from workbench.analysis.reference import Beside
    from workbench.checkpoint.checkpoint import Checkpoint
    from workbench.errors import WorkbenchError
    from workbench.ledger.record import Record
    from workbench.power.choice import Choice
    from workbench.prediction.ceiling import BandwidthFigure
    from workbench.protocol.bandwidths import KnownFigures
    from workbench.shelf.entries import Entry
    from workbench.tui.seal import Looked


class Found(Message):
    """More rows for the picker; `done` with the last ones."""

    def __init__(self, entries: Sequence[Entry], *, done: bool = False) -> None:
        super().__init__()
        self.entries, self.done = list(entries), done


class Counted(Message):
    """The checkpoint at `path` was opened and counted, or why not."""

    def __init__(
        self,
        path: Path,
        checkpoint: Checkpoint | None = None,
        count: Count | None = None,
        problem: WorkbenchError | None = None,
    ) -> None:
        super().__init__()
        self.path, self.checkpoint, self.count, self.problem = path, checkpoint, count, problem


class Seen(Message):
    """The decode graph of the checkpoint at `path` was looked at."""

    def __init__(self, path: Path, looked: Looked) -> None:
        super().__init__()
        self.path, self.looked = path, looked


class Busy(Message):
    """What is being waited for, in words."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class PowerFound(Message):
    """Which power sources there are."""

    def __init__(self, choice: Choice) -> None:
        super().__init__()
        self.choice = choice


class Probed(Message):
    """The achieved bandwidth, or why there is none."""

    def __init__(self, figure: BandwidthFigure | None, problem: WorkbenchError | None = None) -> None:
        super().__init__()
        self.figure, self.problem = figure, problem


class Offered(Message):
    """Bandwidth figures that are known of this machine, or the question which chip it has."""

    def __init__(self, known: KnownFigures) -> None:
        super().__init__()
        self.known = known


class RunEnded(Message):
    """The run is over: its record, or the error that kept it from the ledger."""

    def __init__(self, record: Record | None, problem: WorkbenchError | None = None) -> None:
        super().__init__()
        self.record, self.problem = record, problem


class Compared(Message):
    """Rows of other runs to set the record beside."""

    def __init__(self, record_id: str, rows: Sequence[Beside]) -> None:
        super().__init__()
        self.record_id, self.rows = record_id, tuple(rows)


class Notice(Message):
    """A sentence for the user; `problem`: something is wrong, or a key did nothing."""

    def __init__(self, text: str, *, problem: bool = False) -> None:
        super().__init__()
        self.text, self.problem = text, problem
