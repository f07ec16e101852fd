"""Where the screens' pictures lie: `snapshots/<test file>/`, at the top of the repository.

`tests/conftest.py` takes `pytest_configure` from here. Without the guard a run of one test with
`--snapshot-update` would delete the pictures of the others.
"""

from pathlib import Path

import pytest_textual_snapshot
from syrupy.data import SnapshotCollections

FOLDER = Path(__file__).resolve().parent.parent / "snapshots"


class RepoSnapshots(pytest_textual_snapshot.SVGImageExtension):
    """SVG pictures below FOLDER, one folder for each test file."""

    partial_run = False

    @classmethod
    def dirname(cls, *, test_location):
        return str(FOLDER / test_location.basename)

    def discover_snapshots(self, *, test_location):
        if self.partial_run:
            return SnapshotCollections()
        return super().discover_snapshots(test_location=test_location)


def pytest_configure(config):
    """Use RepoSnapshots; a run of some tests only must not judge the others' pictures."""
    chosen = config.option
    RepoSnapshots.partial_run = bool(
        any("::" in argument for argument in config.args)
        or chosen.keyword
        or chosen.markexpr
        or getattr(chosen, "lf", False)
    )
    pytest_textual_snapshot.SVGImageExtension = RepoSnapshots


def orphan_folders():
    """Folders of pictures whose test file is gone: syrupy does not notice those."""
    stems = {path.stem for path in Path(__file__).parent.rglob("test_*.py")}
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and path.name not in stems)
