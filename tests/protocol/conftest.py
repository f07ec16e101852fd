"""A stage for every test of the protocol."""

import pytest

from tests.protocol.stage import Stage


@pytest.fixture
def stage(tmp_path):
    """Measurements over scripted workers, with a ledger and locks below a temporary folder."""
    return Stage(tmp_path)
